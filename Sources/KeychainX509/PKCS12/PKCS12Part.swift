// SPDX-License-Identifier: MIT
#if X509
    public import FoundationEssentials

    /// What belongs together in a PKCS#12 file.
    public struct PKCS12Part: Sendable {
        /// What the file calls it, nil if it does not.
        public let label: String?
        /// The identifier that the file gives to a key and its certificate, nil if it gives none.
        public let keyID: Data?
        /// The private key, nil for a certificate by itself.
        public let privateKey: CryptoKey?
        /// The certificate of the key, and those that signed each other after it, as far as the file has them.
        public let certificateChain: [Certificate]

        /// The key with its certificate, nil if either is missing.
        public var identity: DigitalIdentity? {
            guard let privateKey, let certificate = certificateChain.first else { return nil }
            return try? DigitalIdentity(certificate: certificate, privateKey: privateKey)
        }
    }
#endif
