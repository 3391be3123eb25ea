// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    public import KeychainAPI

    /// A private or a public key: P-256, P-384, P-521, RSA of 1024 to 8192 bits, Ed25519 or X25519.
    ///
    /// ```swift
    /// let key = try CryptoKey.generate(.p256)
    /// try keychain.store(key, query: .key(for: "com.example.signing"))
    /// let signature = try key.signature(for: message)
    /// ```
    ///
    /// The private half lies in memory of OpenSSL's, which is erased with the last copy; what is exported is in
    /// `SecureBytes`. Nothing prints it.
    public struct CryptoKey: Sendable {
        let handle: KeyHandle
        /// The algorithm, with the size.
        public let algorithm: KeyAlgorithm
        /// Whether it is a private key, which has its public one in it.
        public let isPrivate: Bool

        /// Takes over one of OpenSSL's keys.
        ///
        /// - Throws: `unsupported` for another algorithm or size, `decode` for numbers that are no key.
        init(_ handle: KeyHandle) throws(KeychainError) {
            let isPrivate: Bool
            if handle.isA("RSA") {
                let bits = Int(openssl.EVP_PKEY_get_bits(handle.pointer))
                guard (1024...8192).contains(bits) else {
                    throw KeychainError(.unsupported, "An RSA key has 1024 to 8192 bits here; this one has \(bits).")
                }
                algorithm = .rsa(bits: bits)
                isPrivate = handle.hasNumber("d")
            } else if handle.isA("EC") {
                let name = handle.curveName
                guard let curve = EllipticCurve.allCases.first(where: { $0.groupName == name }) else {
                    throw KeychainError(
                        .unsupported,
                        "The curve \(name ?? "of the key") is none of P-256, P-384 and P-521."
                    )
                }
                algorithm = .ec(curve)
                isPrivate = handle.hasNumber("priv")
            } else if handle.isA("ED25519") {
                algorithm = .ed25519
                isPrivate = handle.hasRawPrivateKey
            } else if handle.isA("X25519") {
                algorithm = .x25519
                isPrivate = handle.hasRawPrivateKey
            } else {
                throw KeychainError(.unsupported, "The key is of none of the types EC, RSA, Ed25519 and X25519.")
            }
            self.handle = handle
            self.isPrivate = isPrivate
            guard handle.isConsistent(isPrivate: isPrivate) else {
                throw OpenSSL.error(.decode, "The numbers of the key are no key, or its halves do not belong together.")
            }
        }

        /// What items of the key are told apart by, size and label aside.
        public var descriptor: SecKeyDescriptor {
            SecKeyDescriptor(keyType: algorithm.keyType, keyClass: isPrivate ? .private : .public)
        }

        /// The public half; the key itself if it is public.
        public var publicKey: CryptoKey {
            guard isPrivate else { return self }
            do throws(KeychainError) {
                let bytes = try OpenSSL.run { () throws(KeychainError) in try subjectPublicKeyInfo }
                let pointer = bytes.withBytes { bytes in
                    OpenSSL.decode(bytes) { openssl.d2i_PUBKEY(nil, $0, $1) }.object
                }
                guard let pointer else { throw OpenSSL.outOfMemory("A public key") }
                return CryptoKey(publicHalf: KeyHandle(pointer), of: self)
            } catch {
                preconditionFailure("OpenSSL does not read its own public key: \(error.code)")
            }
        }

        /// Not looked at again: what belongs to a private key that was accepted is accepted.
        private init(publicHalf handle: KeyHandle, of key: CryptoKey) {
            self.handle = handle
            algorithm = key.algorithm
            isPrivate = false
        }

        /// The SHA-1 of the public key, which is what Apple calls the application label, and a certificate's public key
        /// hash.
        ///
        /// Of an elliptic-curve key that is the point in X9.63, of an RSA key the `RSAPublicKey` of PKCS#1 (RFC 5280,
        /// 4.2.1.2, first method).
        public var applicationLabel: Data {
            var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            let bytes = publicKeyBytes
            bytes.withBytes { bytes in
                guard openssl.EVP_Digest(bytes.baseAddress, bytes.count, &hash, &count, openssl.EVP_sha1(), nil) == 1
                else {
                    preconditionFailure("OpenSSL has no SHA-1")
                }
            }
            return Data(hash.prefix(Int(count)))
        }

        // MARK: Generating

        /// Makes a new private key with OpenSSL's generator.
        ///
        /// - Parameter algorithm: The algorithm; an RSA key takes from a tenth of a second to a minute.
        /// - Throws: `invalidParameter` for an RSA key of another size than 1024 to 8192 bits.
        public static func generate(_ algorithm: KeyAlgorithm) throws(KeychainError) -> CryptoKey {
            try OpenSSL.run { () throws(KeychainError) in
                let pointer: OpaquePointer?
                switch algorithm {
                case .ec(let curve): pointer = openssl_generate_ec(curve.groupName)
                case .rsa(let bits):
                    guard (1024...8192).contains(bits) else {
                        throw KeychainError(.invalidParameter, "An RSA key has 1024 to 8192 bits; choose 3072.")
                    }
                    pointer = openssl_generate_rsa(bits)
                case .ed25519: pointer = openssl_generate("ED25519")
                case .x25519: pointer = openssl_generate("X25519")
                }
                guard let pointer else { throw OpenSSL.error(.internal, "No key was generated. Please report it.") }
                return try CryptoKey(KeyHandle(pointer))
            }
        }
    }

    extension CryptoKey: Equatable {
        /// Two keys are equal if both are private or both public, and their public keys are the same.
        public static func == (left: CryptoKey, right: CryptoKey) -> Bool {
            left.isPrivate == right.isPrivate && openssl.EVP_PKEY_eq(left.handle.pointer, right.handle.pointer) == 1
        }
    }

    extension CryptoKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// Algorithm and class; never the key.
        public var description: String { "\(algorithm) \(isPrivate ? "private" : "public") key" }
        /// The same as the description.
        public var debugDescription: String { description }
        /// A mirror without children.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif
