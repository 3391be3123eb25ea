// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A type whose values can be stored as an item's value and made from it again.
///
/// The first two requirements have the shape that swift-crypto's types have, so that those conform with an empty
/// extension in your code:
///
/// ```swift
/// extension Curve25519.Signing.PrivateKey: SecDataConvertible {}
/// ```
public protocol SecDataConvertible: Sendable {
    /// Makes a value from its bytes.
    ///
    /// - Parameter rawRepresentation: The bytes.
    /// - Throws: Any error for bytes that are not a value of the type; the keychain then throws `decode`.
    init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws

    /// The bytes that are stored.
    var rawRepresentation: Data { get }

    /// The bytes that are stored, in guarded memory; has a default that copies ``rawRepresentation``.
    var secureRepresentation: SecureBytes { get }
}

extension SecDataConvertible {
    /// A copy of ``rawRepresentation``.
    public var secureRepresentation: SecureBytes { SecureBytes(rawRepresentation) }
}

extension SecureBytes {
    /// Makes a value of a type from these bytes.
    ///
    /// - Parameter type: The type.
    /// - Throws: `decode` if the bytes are not one.
    func decoded<Value: SecDataConvertible>(as type: Value.Type) throws(KeychainError) -> Value {
        do {
            return try Value(rawRepresentation: self)
        } catch {
            // The conversion's own error is not passed on: its text may quote what it could not read.
            throw KeychainError(
                .decode,
                "The item exists, but its value is not a \(type). Retrieve it as the type it was stored as, or as Data."
            )
        }
    }
}
