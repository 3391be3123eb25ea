// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    public import KeychainAPI

    /// Files that carry keys and certificates under a passphrase (PKCS#12, RFC 7292): `.p12`, `.pfx`.
    public enum PKCS12 {
        /// Reads everything that is in such a file; no store is changed.
        ///
        /// Files of old programs are encrypted with RC2 or 3DES; those with RC2 need OpenSSL's legacy provider, which is
        /// then loaded for the process.
        ///
        /// - Parameters:
        ///   - data: The file.
        ///   - passphrase: Its passphrase; nil for none. An empty one and none are tried for each other, since programs
        ///     differ in what they make of it.
        /// - Returns: A part for each private key with what belongs to it, then one for each certificate that belongs to
        ///   none. A part may be without an identity.
        /// - Throws: `decode` for what is no such file or is damaged, `authenticationFailed` for a wrong passphrase,
        ///   `unsupported` for an algorithm that OpenSSL does not have here, or passphrases that are hashed more
        ///   than ten million times in all.
        public static func `import`(
            _ data: some ContiguousBytes,
            passphrase: SecureBytes?
        ) throws(KeychainError) -> [PKCS12Part] {
            let bytes = SecureBytes(data)
            return try OpenSSL.run { () throws(KeychainError) in
                let pointer = try bytes.withBytes { (bytes) throws(KeychainError) -> OpaquePointer in
                    let (pointer, isWhole) = OpenSSL.decode(bytes) { openssl.d2i_PKCS12(nil, $0, $1) }
                    guard let pointer else { throw OpenSSL.error(.decode, "The bytes are no PKCS#12 file.") }
                    guard isWhole else {
                        openssl.PKCS12_free(pointer)
                        throw KeychainError(.decode, "More follows after the end of the PKCS#12 file.")
                    }
                    return pointer
                }
                defer { openssl.PKCS12_free(pointer) }
                return try PKCS12Reader(pointer, passphrase).parts()
            }
        }

        /// Writes an identity and the certificates above it into such a file: AES-256 in CBC mode, keys from the passphrase
        /// by PBKDF2 with HMAC-SHA-256, and a HMAC-SHA-256 over it all.
        ///
        /// - Parameters:
        ///   - identity: The identity.
        ///   - passphrase: The passphrase, not empty: it is all that protects the private key.
        ///   - chain: Further certificates.
        ///   - label: What the identity is called in it, nil for the summary of the certificate.
        /// - Throws: `invalidParameter` for an empty passphrase.
        public static func export(
            _ identity: DigitalIdentity,
            passphrase: SecureBytes,
            chain: [Certificate] = [],
            label: String? = nil
        ) throws(KeychainError) -> SecureBytes {
            guard !passphrase.isEmpty, passphrase.withBytes({ !$0.contains(0) }) else {
                throw KeychainError(.invalidParameter, "A PKCS#12 file takes a passphrase, without NUL in it.")
            }
            let terminated = passphrase.withBytes { bytes in
                SecureBytes(count: bytes.count + 1) { $0.copyBytes(from: bytes) }
            }
            return try OpenSSL.run { () throws(KeychainError) in
                try CertificateHandle.withStack(chain) { (stack) throws(KeychainError) in
                    let file = terminated.withBytes { bytes in
                        openssl.PKCS12_create(
                            bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                            label ?? identity.certificate.subjectSummary ?? "",
                            identity.privateKey.handle.pointer,
                            identity.certificate.handle.pointer,
                            stack,
                            NID_aes_256_cbc,
                            NID_aes_256_cbc,
                            CryptoKey.iterations,
                            CryptoKey.iterations,
                            0
                        )
                    }
                    guard let file else { throw OpenSSL.error(.internal, "The file is not made. Please report it.") }
                    defer { openssl.PKCS12_free(file) }
                    return try OpenSSL.secureDER { openssl.i2d_PKCS12(file, $0) }
                }
            }
        }
    }
#endif
