// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A type whose values are elliptic-curve keys, private or public.
///
/// The requirements have the shape that swift-crypto's types have, so that those conform with an empty extension in
/// your code:
///
/// ```swift
/// extension P256.Signing.PrivateKey: SecKeyConvertible {}
/// extension P256.Signing.PublicKey: SecKeyConvertible {}
/// ```
///
/// The module `KeychainX509` stores and retrieves them.
public protocol SecKeyConvertible: Sendable {
    /// Makes a key from X9.63: `04 X Y`, and for a private key the private number after it.
    ///
    /// - Parameter x963Representation: The bytes.
    /// - Throws: Any error for bytes that are not a key of the type; the keychain then throws `decode`.
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws

    /// Makes a key from DER: PKCS#8, SEC1 or `SubjectPublicKeyInfo`.
    ///
    /// - Parameter derRepresentation: The bytes.
    /// - Throws: Any error for bytes that are not a key of the type.
    init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8

    /// The key in X9.63.
    var x963Representation: Data { get }

    /// The key in DER: PKCS#8, SEC1 or `SubjectPublicKeyInfo`.
    var derRepresentation: Data { get }
}
