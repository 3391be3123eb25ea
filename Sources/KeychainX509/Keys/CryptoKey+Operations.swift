// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    public import KeychainAPI

    /// How a message is hashed and signed.
    public enum SignatureAlgorithm: Sendable, Hashable {
        /// ECDSA over a hash, in DER (FIPS 186-4).
        case ecdsa(HashFunction)
        /// RSASSA-PSS, with a salt as long as the hash (RFC 8017, 8.1).
        case rsaPSS(HashFunction)
        /// RSASSA-PKCS1-v1_5, for what cannot do better (RFC 8017, 8.2).
        case rsaPKCS1(HashFunction)
        /// Ed25519, which hashes by itself (RFC 8032).
        case ed25519

        /// A hash function of the SHA-2 family.
        public enum HashFunction: String, Sendable, Hashable, CaseIterable {
            /// SHA-256.
            case sha256 = "SHA256"
            /// SHA-384.
            case sha384 = "SHA384"
            /// SHA-512.
            case sha512 = "SHA512"
        }

        var hash: HashFunction? {
            switch self {
            case .ecdsa(let hash), .rsaPSS(let hash), .rsaPKCS1(let hash): hash
            case .ed25519: nil
            }
        }
    }

    extension CryptoKey {
        /// The algorithm that a key signs with unless another one is named: that of its curve, or PSS with SHA-256.
        ///
        /// Nil for a key that does not sign.
        public var defaultSignatureAlgorithm: SignatureAlgorithm? {
            switch algorithm {
            case .ec(.p256): .ecdsa(.sha256)
            case .ec(.p384): .ecdsa(.sha384)
            case .ec(.p521): .ecdsa(.sha512)
            case .rsa: .rsaPSS(.sha256)
            case .ed25519: .ed25519
            case .x25519: nil
            }
        }

        /// Signs a message.
        ///
        /// - Parameters:
        ///   - message: The message, which is hashed here.
        ///   - algorithm: Nil for ``defaultSignatureAlgorithm``.
        /// - Throws: `invalidParameter` for a public key, and for an algorithm that is not one of the key's.
        public func signature(
            for message: some ContiguousBytes,
            using algorithm: SignatureAlgorithm? = nil
        ) throws(KeychainError) -> Data {
            guard isPrivate else { throw KeychainError(.invalidParameter, "Only a private key signs.") }
            let message = SecureBytes(message)
            return try withContext(algorithm, openssl.EVP_DigestSignInit_ex) { (context) throws(KeychainError) in
                try message.withBytes { (message) throws(KeychainError) in
                    let start = message.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    var count = 0
                    guard openssl.EVP_DigestSign(context, nil, &count, start, message.count) == 1 else {
                        throw Self.failed
                    }
                    var signature = [UInt8](repeating: 0, count: count)
                    guard openssl.EVP_DigestSign(context, &signature, &count, start, message.count) == 1 else {
                        throw Self.failed
                    }
                    return Data(signature.prefix(count))
                }
            }
        }

        /// Whether a signature is one of this key's over a message.
        ///
        /// - Parameters:
        ///   - signature: The signature.
        ///   - message: The message.
        ///   - algorithm: Nil for ``defaultSignatureAlgorithm``.
        /// - Throws: `invalidParameter` for an algorithm that is not one of the key's.
        public func isValidSignature(
            _ signature: some ContiguousBytes,
            for message: some ContiguousBytes,
            using algorithm: SignatureAlgorithm? = nil
        ) throws(KeychainError) -> Bool {
            let signature = SecureBytes(signature)
            let message = SecureBytes(message)
            return try withContext(algorithm, openssl.EVP_DigestVerifyInit_ex) { (context) throws(KeychainError) in
                signature.withBytes { signature in
                    message.withBytes { message in
                        openssl.EVP_DigestVerify(
                            context,
                            signature.baseAddress?.assumingMemoryBound(to: UInt8.self),
                            signature.count,
                            message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                            message.count
                        ) == 1
                    }
                }
            }
        }

        /// The secret that this private key and another one's public half agree on (ECDH, X25519).
        ///
        /// Derive keys from it (HKDF); it is no key itself.
        ///
        /// - Parameter other: A public key of the same algorithm.
        /// - Throws: `invalidParameter` for keys that cannot agree.
        public func sharedSecret(with other: CryptoKey) throws(KeychainError) -> SecureBytes {
            try OpenSSL.run { () throws(KeychainError) in
                let canAgree: Bool
                switch algorithm {
                case .ec, .x25519: canAgree = isPrivate && algorithm == other.algorithm
                case .rsa, .ed25519: canAgree = false
                }
                guard canAgree else {
                    throw KeychainError(
                        .invalidParameter,
                        "A \(self) and a \(other) agree on nothing. It takes a private and a public key of one algorithm, EC "
                            + "or X25519."
                    )
                }
                guard let context = openssl.EVP_PKEY_CTX_new_from_pkey(nil, handle.pointer, nil) else {
                    throw Self.failed
                }
                defer { openssl.EVP_PKEY_CTX_free(context) }
                var count = 0
                guard openssl.EVP_PKEY_derive_init(context) == 1,
                    openssl.EVP_PKEY_derive_set_peer(context, other.handle.pointer) == 1,
                    openssl.EVP_PKEY_derive(context, nil, &count) == 1
                else { throw Self.failed }
                return try SecureBytes(count: count) { (target) throws(KeychainError) in
                    let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    guard openssl.EVP_PKEY_derive(context, start, &count) == 1, count == target.count else {
                        throw Self.failed
                    }
                }
            }
        }

        private typealias Start = (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, UnsafePointer<CChar>?, OpaquePointer?,
            UnsafePointer<CChar>?, OpaquePointer?, UnsafePointer<OSSL_PARAM>?
        ) -> Int32

        private func withContext<Result>(
            _ algorithm: SignatureAlgorithm?,
            _ start: Start,
            _ body: (OpaquePointer) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            guard let algorithm = algorithm ?? defaultSignatureAlgorithm, fits(algorithm) else {
                throw KeychainError(.invalidParameter, "A \(self) does not sign in this way.")
            }
            return try OpenSSL.run { () throws(KeychainError) in
                guard let context = openssl.EVP_MD_CTX_new() else { throw OpenSSL.outOfMemory("Signing") }
                defer { openssl.EVP_MD_CTX_free(context) }
                var details: OpaquePointer?
                guard start(context, &details, algorithm.hash?.rawValue, nil, nil, handle.pointer, nil) == 1 else {
                    throw Self.failed
                }
                if case .rsaPSS = algorithm {
                    guard openssl_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) == 1,
                        openssl.EVP_PKEY_CTX_set_rsa_pss_saltlen(details, RSA_PSS_SALTLEN_DIGEST) == 1
                    else { throw Self.failed }
                }
                return try body(context)
            }
        }

        private func fits(_ signature: SignatureAlgorithm) -> Bool {
            switch (algorithm, signature) {
            case (.ec, .ecdsa), (.rsa, .rsaPSS), (.rsa, .rsaPKCS1), (.ed25519, .ed25519): true
            default: false
            }
        }

        private static var failed: KeychainError {
            OpenSSL.error(.invalidParameter, "OpenSSL does not do this with the key. Use another algorithm or key.")
        }
    }
#endif
