// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// Encrypts the values of items whose policy has ``AccessPolicy/Options/applicationPassword``.
///
/// The layer lies between the verbs and the driver, so that it is the same on every store: what the store keeps, and
/// what other programs see of it, is the sealed value. `Argon2Password` of the product KeychainAuthentication is the one
/// to use; it is a protocol because this module has no cryptography.
///
/// ```swift
/// let password = try Argon2Password("correct horse battery staple")
/// let keychain = Keychain.default.with { $0.applicationPassword = password }
/// try keychain.store(seed, query: query, accessPolicy: AccessPolicy(.whenUnlocked, options: .applicationPassword))
/// ```
public protocol ApplicationPassword: AnyObject, Sendable {
    /// Does what takes long in sealing, so that no store is held meanwhile.
    ///
    /// - Parameter call: Deadline, cancellation and interaction of the call that needs it.
    /// - Throws: Why there is no password, as `userCanceled`, or no key can be made of it.
    func prepare(_ call: CallContext) throws(KeychainError)

    /// Seals a value, for one item alone.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - item: The reference of the item, with which alone it can be opened.
    ///   - call: Deadline, cancellation and interaction of the call that needs it.
    /// - Throws: As ``prepare(_:)``.
    func seal(_ value: SecureBytes, for item: UUID, _ call: CallContext) throws(KeychainError) -> SecureBytes

    /// Opens what was sealed.
    ///
    /// - Parameters:
    ///   - sealed: The sealed value.
    ///   - item: The reference of the item.
    ///   - call: Deadline, cancellation and interaction of the call that needs it.
    /// - Throws: `authenticationFailed` for another password, `corrupt` for what is no sealed value of the item; and as
    ///   ``prepare(_:)``.
    func open(_ sealed: SecureBytes, for item: UUID, _ call: CallContext) throws(KeychainError) -> SecureBytes
}
