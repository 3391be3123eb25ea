// SPDX-License-Identifier: MIT

/// A type whose values are a certificate and the private key that belongs to it.
///
/// ```swift
/// struct ServerIdentity: SecIdentityConvertible {
///     var certificate: X509.Certificate
///     var privateKey: P256.Signing.PrivateKey
/// }
/// ```
///
/// The module `KeychainX509` stores and retrieves them.
public protocol SecIdentityConvertible: Sendable {
    /// The type of its certificate.
    associatedtype Certificate: SecCertificateConvertible
    /// The type of its private key.
    associatedtype PrivateKey: SecKeyConvertible

    /// Joins a certificate and its key.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - privateKey: Its private key.
    /// - Throws: Any error for two that the type does not join; the keychain then throws `decode`.
    init(certificate: Certificate, privateKey: PrivateKey) throws

    /// The certificate.
    var certificate: Certificate { get }

    /// The private key.
    var privateKey: PrivateKey { get }
}
