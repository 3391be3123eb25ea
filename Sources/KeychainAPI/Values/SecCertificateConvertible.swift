// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A type whose values are X.509 certificates.
///
/// ```swift
/// extension X509.Certificate: SecCertificateConvertible {
///     public init(derRepresentation: Data) throws { try self.init(derEncoded: Array(derRepresentation)) }
///     public var derRepresentation: Data {
///         get throws {
///             var serializer = DER.Serializer()
///             try serializer.serialize(self)
///             return Data(serializer.serializedBytes)
///         }
///     }
/// }
/// ```
///
/// The module `KeychainX509` stores and retrieves them.
public protocol SecCertificateConvertible: Sendable {
    /// Makes a certificate from DER.
    ///
    /// - Parameter derRepresentation: The bytes.
    /// - Throws: Any error for bytes that are no certificate; the keychain then throws `decode`.
    init(derRepresentation: Data) throws

    /// The certificate in DER.
    var derRepresentation: Data { get throws }
}
