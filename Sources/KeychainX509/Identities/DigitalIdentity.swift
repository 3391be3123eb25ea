// SPDX-License-Identifier: MIT
#if X509
    public import KeychainAPI

    /// A certificate with the private key that belongs to it.
    public struct DigitalIdentity: Sendable, Equatable, CustomStringConvertible {
        /// The certificate.
        public let certificate: Certificate
        /// The private key of the certificate's public one.
        public let privateKey: CryptoKey

        /// Joins a certificate and a key.
        ///
        /// - Parameters:
        ///   - certificate: The certificate.
        ///   - privateKey: Its private key.
        /// - Throws: `invalidParameter` if they do not belong together.
        public init(certificate: Certificate, privateKey: CryptoKey) throws(KeychainError) {
            guard privateKey.isPrivate, privateKey.applicationLabel == certificate.publicKeyHash else {
                throw KeychainError(
                    .invalidParameter,
                    "The key is not the private key of the certificate. Give it the one that it was requested with."
                )
            }
            self.certificate = certificate
            self.privateKey = privateKey
        }

        /// What the certificate is called.
        public var description: String { "identity of \(certificate)" }
    }
#endif
