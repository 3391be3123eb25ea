// SPDX-License-Identifier: MIT

public import KeychainAPI

/// A property that stands for the value of a key.
///
/// ```swift
/// struct Session {
///     @KeychainStorage(.accessToken) var token
///
///     func signIn(_ new: String) async throws { try await $token.store(new) }
/// }
/// ```
///
/// Each reading of the property reads the store, and blocks while it does. It is nil if there is no value, and also if the
/// store could not be read: who has to tell the two apart asks `$token.fetch()`, or looks at `$token.fetchError`.
@propertyWrapper
public struct KeychainStorage<Value: Sendable>: Sendable {
    /// The key.
    public let key: KeychainKey<Value>
    private let given: Keychain?

    /// Makes the property.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - keychain: Where its item is, nil for `Keychain.default` at the time of each call.
    public init(_ key: KeychainKey<Value>, keychain: Keychain? = nil) {
        self.key = key
        given = keychain
    }

    private var keychain: Keychain { given ?? .default }

    /// The value; nil if there is none, or it could not be read.
    public var wrappedValue: Value? { try? keychain.get(key) }

    /// The wrapper itself, with the calls that can fail.
    public var projectedValue: KeychainStorage { self }

    /// Why the value cannot be read at the moment; nil if it can, or there is none.
    public var fetchError: KeychainError? {
        if case .failure(let error) = keychain[key] { error } else { nil }
    }

    /// The value; nil if there is none.
    ///
    /// - Throws: As `Keychain.get(_:)`.
    public func fetch() throws(KeychainError) -> Value? { try keychain.get(key) }

    /// The value; nil if there is none.
    ///
    /// - Throws: As the synchronous form, and `cancelled`.
    public func fetch() async throws(KeychainError) -> Value? { try await keychain.get(key) }

    /// Stores a value in the place of what is there; nil removes it.
    ///
    /// - Parameter value: The value.
    /// - Throws: As `Keychain.set(_:for:)` and `Keychain.remove(_:)`.
    public func store(_ value: Value?) throws(KeychainError) {
        if let value { try keychain.set(value, for: key) } else { try keychain.remove(key) }
    }

    /// Stores a value in the place of what is there; nil removes it.
    ///
    /// - Parameter value: The value.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func store(_ value: Value?) async throws(KeychainError) {
        if let value { try await keychain.set(value, for: key) } else { try await keychain.remove(key) }
    }

    /// Removes the value.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: As `Keychain.remove(_:)`.
    @discardableResult
    public func remove() throws(KeychainError) -> Bool { try keychain.remove(key) }

    /// Removes the value.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func remove() async throws(KeychainError) -> Bool { try await keychain.remove(key) }

    /// The value as it is now, and then whenever it changes, whoever changes it.
    ///
    /// - Throws: As `Keychain.values(of:)`.
    public func values() async throws(KeychainError) -> KeychainValues<Value> { try await keychain.values(of: key) }
}

extension KeychainStorage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The account of the key; never the value.
    public var description: String { "KeychainStorage(\(key.account))" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
