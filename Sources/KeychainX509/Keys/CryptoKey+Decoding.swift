// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    public import KeychainAPI

    extension CryptoKey {
        /// The most times that the passphrase of an encrypted key may be hashed: some seconds of work.
        static let mostIterations = 5_000_000

        /// Reads a key in DER: PKCS#8 (RFC 5958), encrypted PKCS#8, SEC1 (RFC 5915), PKCS#1 (RFC 8017), or a public key as
        /// `SubjectPublicKeyInfo` (RFC 5280) or PKCS#1.
        ///
        /// - Parameters:
        ///   - derRepresentation: The bytes, all of them the key.
        ///   - passphrase: For an encrypted key.
        /// - Throws: `decode` for bytes that are no key, `authenticationFailed` for a passphrase that is wrong or missing,
        ///   `unsupported` for another algorithm, and for a passphrase that is hashed more than five million times.
        public init(
            derRepresentation: some ContiguousBytes,
            passphrase: SecureBytes? = nil
        ) throws(KeychainError) {
            let bytes = SecureBytes(derRepresentation)
            self = try OpenSSL.run { () throws(KeychainError) in try CryptoKey(decoding: bytes, passphrase: passphrase)
            }
        }

        /// Reads the first key of a PEM text.
        ///
        /// - Parameters:
        ///   - pemRepresentation: The text, in UTF-8; other blocks, as of certificates, are passed over.
        ///   - passphrase: For an encrypted key.
        /// - Throws: As for DER; `decode` if there is no key in it.
        public init(
            pemRepresentation: some ContiguousBytes,
            passphrase: SecureBytes? = nil
        ) throws(KeychainError) {
            let text = SecureBytes(pemRepresentation)
            let keys = try text.withBytes { (bytes) throws(KeychainError) in try PEM.blocks(bytes) }
                .filter { $0.label.hasSuffix("PRIVATE KEY") || $0.label.hasSuffix("PUBLIC KEY") }
            guard let block = keys.first else {
                throw KeychainError(.decode, "There is no key in the text: no PEM block that ends in “KEY”.")
            }
            self = try CryptoKey(block, passphrase)
        }

        /// Reads a key of a block of PEM.
        init(_ block: PEM.Block, _ passphrase: SecureBytes?) throws(KeychainError) {
            if block.label == "OPENSSH PRIVATE KEY" {
                throw KeychainError(
                    .unsupported,
                    "OpenSSL does not read OpenSSH's own form. Convert a copy of it: ssh-keygen -p -m PKCS8 -f COPY"
                )
            }
            if block.header.contains("ENCRYPTED") {
                throw KeychainError(
                    .unsupported,
                    "The key is encrypted in the old way of OpenSSL, which protects it badly. Convert it: openssl pkcs8 "
                        + "-topk8 -in KEY -out NEW"
                )
            }
            self = try OpenSSL.run { () throws(KeychainError) in
                try CryptoKey(decoding: block.bytes, passphrase: passphrase)
            }
        }

        /// Reads an elliptic-curve key in X9.63: `04 X Y` for a public one, and the private number after it for a private.
        ///
        /// The length of a public key on one curve can be that of a private key on another, so the curve is given.
        ///
        /// - Parameters:
        ///   - x963Representation: The bytes.
        ///   - curve: The curve.
        /// - Throws: `decode` for bytes that are none.
        public init(x963Representation: some ContiguousBytes, curve: EllipticCurve) throws(KeychainError) {
            let bytes = SecureBytes(x963Representation)
            let size = curve.byteCount
            let der: SecureBytes
            switch bytes.count {
            case 1 + 2 * size: der = DER.subjectPublicKeyInfo(curve, bytes)
            case 1 + 3 * size: der = DER.ecPrivateKey(curve, bytes)
            default:
                throw KeychainError(
                    .decode,
                    "A key on \(curve.rawValue) has \(1 + 2 * size) bytes in X9.63, or \(1 + 3 * size) if it is private; "
                        + "these are \(bytes.count)."
                )
            }
            guard bytes.withBytes({ $0.first }) == 4 else {
                throw KeychainError(.decode, "The key is not in the uncompressed form of X9.63, which begins with 04.")
            }
            self = try OpenSSL.run { () throws(KeychainError) in try CryptoKey(decoding: der, passphrase: nil) }
        }

        /// Reads a key as it lies in a store: elliptic-curve keys in X9.63, RSA keys in PKCS#1, the others as they are.
        ///
        /// - Parameters:
        ///   - externalRepresentation: The bytes.
        ///   - descriptor: The algorithm, and which half.
        ///   - sizeInBits: The size, for an elliptic-curve key.
        /// - Throws: `decode` for bytes that are no such key.
        public init(
            externalRepresentation: SecureBytes,
            descriptor: SecKeyDescriptor,
            sizeInBits: Int
        ) throws(KeychainError) {
            let isPrivate = descriptor.keyClass == .private
            switch descriptor.keyType {
            case .ecsecPrimeRandom:
                guard let curve = EllipticCurve.allCases.first(where: { $0.sizeInBits == sizeInBits }) else {
                    throw KeychainError(.decode, "There is no curve of \(sizeInBits) bits.")
                }
                self = try CryptoKey(x963Representation: externalRepresentation, curve: curve)
            case .rsa:
                self = try CryptoKey(derRepresentation: externalRepresentation)
            case .ed25519, .x25519:
                let type = descriptor.keyType == .ed25519 ? EVP_PKEY_ED25519 : EVP_PKEY_X25519
                self = try OpenSSL.run { () throws(KeychainError) in
                    let pointer = externalRepresentation.withBytes { bytes in
                        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                        return isPrivate
                            ? openssl.EVP_PKEY_new_raw_private_key(type, nil, start, bytes.count)
                            : openssl.EVP_PKEY_new_raw_public_key(type, nil, start, bytes.count)
                    }
                    guard let pointer else {
                        throw OpenSSL.error(.decode, "The bytes are no \(descriptor.keyType) key.")
                    }
                    return try CryptoKey(KeyHandle(pointer))
                }
            default:
                throw KeychainError(.unsupported, "Keys of the type \(descriptor.keyType) are bytes here, and no more.")
            }
            guard self.descriptor == descriptor else {
                throw KeychainError(.decode, "The bytes are a \(self), which is not what the item says.")
            }
        }

        // MARK: Forms

        init(decoding bytes: SecureBytes, passphrase: SecureBytes?) throws(KeychainError) {
            let pointer = try bytes.withBytes { (bytes) throws(KeychainError) -> OpaquePointer in
                if let pointer = Self.plain(bytes) { return pointer }
                openssl.ERR_clear_error()
                let (encrypted, isWhole) = OpenSSL.decode(bytes) { openssl.d2i_X509_SIG(nil, $0, $1) }
                guard let encrypted else {
                    throw OpenSSL.error(
                        .decode,
                        "The bytes are no key in DER: neither PKCS#8, SEC1 or PKCS#1 nor a public key."
                    )
                }
                defer { openssl.X509_SIG_free(encrypted) }
                guard isWhole else { throw KeychainError(.decode, "More follows after the key.") }
                return try Self.decrypted(encrypted, passphrase)
            }
            try self.init(KeyHandle(pointer))
        }

        /// A key that is not encrypted, in whichever form.
        private static func plain(_ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
            func whole(
                _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
            ) -> OpaquePointer? {
                let (key, isWhole) = OpenSSL.decode(bytes, decode)
                if let key, isWhole { return key }
                openssl.EVP_PKEY_free(key)
                return nil
            }
            return whole { openssl.d2i_AutoPrivateKey(nil, $0, $1) } ?? whole { openssl.d2i_PUBKEY(nil, $0, $1) }
                ?? whole { openssl.d2i_PublicKey(EVP_PKEY_RSA, nil, $0, $1) }
        }

        /// Decrypts a PKCS#8 (RFC 5958, 3).
        static func decrypted(
            _ encrypted: OpaquePointer,
            _ passphrase: SecureBytes?
        ) throws(KeychainError) -> OpaquePointer {
            var algorithm: UnsafePointer<X509_ALGOR>?
            openssl.X509_SIG_get0(encrypted, &algorithm, nil)
            _ = try checkedIterations(algorithm)
            guard let passphrase else {
                throw KeychainError(.authenticationFailed, "The key is encrypted. Give its passphrase.")
            }
            let info = passphrase.withBytes { bytes in
                openssl.PKCS8_decrypt(
                    encrypted,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(bytes.count)
                )
            }
            guard let info else { throw Self.notDecrypted("key") }
            defer { openssl.PKCS8_PRIV_KEY_INFO_free(info) }
            guard let key = openssl.EVP_PKCS82PKEY(info) else {
                throw OpenSSL.error(.decode, "What is encrypted is no key that OpenSSL knows.")
            }
            return key
        }

        /// Refuses an algorithm that is meant to keep the reader busy.
        ///
        /// - Returns: How many times the passphrase is hashed.
        static func checkedIterations(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(KeychainError) -> Int {
            guard let algorithm else { return 0 }
            let iterations = openssl_iterations(algorithm)
            guard iterations <= mostIterations else { throw tooManyIterations }
            return max(0, iterations)
        }

        static var tooManyIterations: KeychainError {
            KeychainError(
                .unsupported,
                "The passphrase would be hashed so often that it takes too long; at most \(mostIterations) times are done."
            )
        }

        /// The error for what did not decrypt.
        static func notDecrypted(_ what: String) -> KeychainError {
            let reason = Int32(truncatingIfNeeded: openssl.ERR_peek_error() & 0x7F_FFFF)
            if reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == ERR_R_UNSUPPORTED
                || reason == EVP_R_UNKNOWN_PBE_ALGORITHM
            {
                return OpenSSL.error(
                    .unsupported,
                    "The \(what) is encrypted with an algorithm that OpenSSL does not have here; the old ones are in its "
                        + "legacy provider."
                )
            }
            return OpenSSL.error(.authenticationFailed, "The passphrase is wrong, or the \(what) is damaged.")
        }
    }
#endif
