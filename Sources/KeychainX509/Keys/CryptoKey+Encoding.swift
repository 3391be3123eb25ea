// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import KeychainAPI

    extension CryptoKey {
        /// How often the passphrase of an exported key is hashed (PBKDF2 with HMAC-SHA-256): what OWASP recommends.
        static let iterations: Int32 = 600_000

        /// The key in DER: PKCS#8 (RFC 5958) if it is private, `SubjectPublicKeyInfo` (RFC 5280) if it is public.
        public var derRepresentation: SecureBytes {
            get throws(KeychainError) {
                try OpenSSL.run { () throws(KeychainError) in
                    guard isPrivate else { return try subjectPublicKeyInfo }
                    let info = try privateKeyInfo()
                    defer { openssl.PKCS8_PRIV_KEY_INFO_free(info) }
                    return try OpenSSL.secureDER { openssl.i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
                }
            }
        }

        /// The key as PEM (RFC 7468): `PRIVATE KEY` or `PUBLIC KEY`.
        public var pemRepresentation: SecureBytes {
            get throws(KeychainError) { try PEM.text(isPrivate ? "PRIVATE KEY" : "PUBLIC KEY", derRepresentation) }
        }

        /// A private key in DER, encrypted: PKCS#8 with PBES2, PBKDF2 and AES-256 in CBC mode (RFC 8018).
        ///
        /// - Parameter passphrase: The passphrase, not empty. It is hashed 600,000 times, which takes a quarter of a second.
        /// - Throws: `invalidParameter` for a public key and for an empty passphrase.
        public func encryptedDERRepresentation(passphrase: SecureBytes) throws(KeychainError) -> SecureBytes {
            guard !passphrase.isEmpty else {
                throw KeychainError(.invalidParameter, "An empty passphrase protects nothing. Choose another one.")
            }
            return try OpenSSL.run { () throws(KeychainError) in
                let info = try privateKeyInfo()
                defer { openssl.PKCS8_PRIV_KEY_INFO_free(info) }
                let encrypted = passphrase.withBytes { bytes in
                    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    return openssl.PKCS8_encrypt(
                        -1,
                        openssl.EVP_aes_256_cbc(),
                        start,
                        Int32(bytes.count),
                        nil,
                        0,
                        Self.iterations,
                        info
                    )
                }
                guard let encrypted else {
                    throw OpenSSL.error(.internal, "The key is not encrypted. Please report it.")
                }
                defer { openssl.X509_SIG_free(encrypted) }
                return try OpenSSL.secureDER { openssl.i2d_X509_SIG(encrypted, $0) }
            }
        }

        /// A private key as PEM, encrypted: `ENCRYPTED PRIVATE KEY`.
        ///
        /// - Parameter passphrase: The passphrase, not empty.
        /// - Throws: `invalidParameter` for a public key and for an empty passphrase.
        public func encryptedPEMRepresentation(passphrase: SecureBytes) throws(KeychainError) -> SecureBytes {
            try PEM.text("ENCRYPTED PRIVATE KEY", encryptedDERRepresentation(passphrase: passphrase))
        }

        /// The key as Apple's `SecKeyCopyExternalRepresentation` gives it, which is how it lies in a store.
        ///
        /// Elliptic-curve keys are in X9.63 (`04 X Y`, and the private number), RSA keys in PKCS#1 (RFC 8017, A.1), Ed25519
        /// and X25519 keys are their 32 bytes.
        public var externalRepresentation: SecureBytes {
            get throws(KeychainError) {
                guard isPrivate else { return publicKeyBytes }
                return try OpenSSL.run { () throws(KeychainError) in
                    switch algorithm {
                    case .ec(let curve):
                        let point = publicKeyBytes
                        return try SecureBytes(count: point.count + curve.byteCount) { (target) throws(KeychainError) in
                            point.withBytes { target.copyBytes(from: $0) }
                            let rest = UnsafeMutableRawBufferPointer(rebasing: target[point.count...])
                            guard handle.writeNumber("priv", rest) else { throw Self.notExported }
                        }
                    case .rsa:
                        return try OpenSSL.secureDER { openssl.i2d_PrivateKey(handle.pointer, $0) }
                    case .ed25519, .x25519:
                        return try rawBytes(openssl.EVP_PKEY_get_raw_private_key)
                    }
                }
            }
        }

        /// The public key by itself: the point in X9.63, PKCS#1, or 32 bytes.
        var publicKeyBytes: SecureBytes {
            do {
                return try OpenSSL.run { () throws(KeychainError) in
                    switch algorithm {
                    case .ec(let curve):
                        let size = curve.byteCount
                        return try SecureBytes(count: 1 + 2 * size) { (target) throws(KeychainError) in
                            target[0] = 4
                            let x = UnsafeMutableRawBufferPointer(rebasing: target[1..<(1 + size)])
                            let y = UnsafeMutableRawBufferPointer(rebasing: target[(1 + size)...])
                            guard handle.writeNumber("qx", x), handle.writeNumber("qy", y) else {
                                throw Self.notExported
                            }
                        }
                    case .rsa:
                        return try OpenSSL.secureDER { openssl.i2d_PublicKey(handle.pointer, $0) }
                    case .ed25519, .x25519:
                        return try rawBytes(openssl.EVP_PKEY_get_raw_public_key)
                    }
                }
            } catch {
                preconditionFailure("OpenSSL does not give out a public key that it has read: \(error.code)")
            }
        }

        /// The 32 bytes that one of OpenSSL's functions gives out.
        private func rawBytes(
            _ read: (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?) -> Int32
        ) throws(KeychainError) -> SecureBytes {
            try SecureBytes(count: 32) { (target) throws(KeychainError) in
                var count = target.count
                let start = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard read(handle.pointer, start, &count) == 1, count == 32 else { throw Self.notExported }
            }
        }

        var subjectPublicKeyInfo: SecureBytes {
            get throws(KeychainError) { try OpenSSL.secureDER { openssl.i2d_PUBKEY(handle.pointer, $0) } }
        }

        private func privateKeyInfo() throws(KeychainError) -> OpaquePointer {
            guard isPrivate else {
                throw KeychainError(.invalidParameter, "A public key has nothing to encrypt. Export it as it is.")
            }
            guard let info = openssl.EVP_PKEY2PKCS8(handle.pointer) else { throw Self.notExported }
            return info
        }

        private static var notExported: KeychainError {
            OpenSSL.error(.internal, "OpenSSL does not give out a key that it has read. Please report it.")
        }
    }
#endif
