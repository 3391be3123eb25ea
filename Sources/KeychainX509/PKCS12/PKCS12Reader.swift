// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import FoundationEssentials
    import KeychainAPI

    /// Takes a PKCS#12 file apart.
    struct PKCS12Reader {
        private let file: OpaquePointer
        private let passphrase: SecureBytes?

        private static let deepest = 8

        private struct Contents {
            /// How many times passphrases were hashed for it.
            var iterations = 0
            var keys: [(key: CryptoKey, label: String?, keyID: Data?)] = []
            var certificates: [(certificate: Certificate, label: String?, keyID: Data?)] = []
        }

        /// - Throws: `authenticationFailed` for a wrong passphrase.
        init(_ file: OpaquePointer, _ passphrase: SecureBytes?) throws(KeychainError) {
            self.file = file
            self.passphrase = try Self.verified(passphrase, file)
        }

        /// The passphrase in the form that the file's signature confirms; with a NUL at its end.
        private static func verified(_ passphrase: SecureBytes?, _ file: OpaquePointer) throws(KeychainError)
            -> SecureBytes?
        {
            if let passphrase, passphrase.withBytes({ $0.contains(0) }) {
                throw KeychainError(.authenticationFailed, "The passphrase of a PKCS#12 file has no NUL in it.")
            }
            guard openssl.PKCS12_mac_present(file) == 1 else { return terminated(passphrase) }
            var number: UnsafePointer<ASN1_INTEGER>?
            openssl.PKCS12_get0_mac(nil, nil, nil, &number, file)
            let iterations = number.map { openssl.ASN1_INTEGER_get($0) } ?? 1
            guard (0...CryptoKey.mostIterations).contains(iterations) else { throw CryptoKey.tooManyIterations }
            let isNone = passphrase?.isEmpty ?? true
            for candidate in isNone ? [nil, SecureBytes(Data())] : [passphrase] {
                let candidate = terminated(candidate)
                let isRight = withText(candidate) { openssl.PKCS12_verify_mac(file, $0, $1) == 1 }
                if isRight { return candidate }
            }
            if Int32(truncatingIfNeeded: openssl.ERR_peek_error() & 0x7F_FFFF) == PKCS12_R_UNKNOWN_DIGEST_ALGORITHM {
                throw OpenSSL.error(
                    .unsupported,
                    "The file is signed with an algorithm that OpenSSL does not have here. Export it anew with another one."
                )
            }
            let reason = Int32(truncatingIfNeeded: openssl.ERR_peek_last_error() & 0x7F_FFFF)
            if reason != 0, reason != PKCS12_R_MAC_VERIFY_FAILURE, reason != PKCS12_R_MAC_GENERATION_ERROR {
                throw OpenSSL.error(.decode, "The signature of the file cannot be read.")
            }
            throw KeychainError(
                .authenticationFailed,
                isNone ? "The file has a passphrase. Give it." : "The passphrase is wrong, or the file is damaged."
            )
        }

        private static func terminated(_ passphrase: SecureBytes?) -> SecureBytes? {
            passphrase?.withBytes { bytes in SecureBytes(count: bytes.count + 1) { $0.copyBytes(from: bytes) } }
        }

        /// Calls a closure with a passphrase as OpenSSL takes it, and its length.
        private static func withText<Result, Failure: Error>(
            _ passphrase: SecureBytes?,
            _ body: (UnsafePointer<CChar>?, Int32) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            guard let passphrase else { return try body(nil, 0) }
            return try passphrase.withBytes { (bytes) throws(Failure) in
                try body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count - 1))
            }
        }

        // MARK: Contents

        /// Everything in the file, joined to what belongs together.
        func parts() throws(KeychainError) -> [PKCS12Part] {
            guard let contents = openssl.PKCS12_unpack_authsafes(file) else {
                throw OpenSSL.error(.decode, "The file is damaged: its parts cannot be read.")
            }
            defer { openssl_contents_free(contents) }
            var found = Contents()
            for index in 0..<openssl_content_count(contents) {
                guard let content = openssl_content(contents, index) else { continue }
                let bags: OpaquePointer?
                if openssl_content_is_data(content) != 0 {
                    bags = openssl.PKCS12_unpack_p7data(content)
                    if bags == nil { throw OpenSSL.error(.decode, "The file is damaged: a part cannot be read.") }
                } else {
                    bags = try decrypted(content, &found)
                }
                defer { openssl_bags_free(bags) }
                try read(bags, &found, depth: 0)
            }
            return Self.joined(found)
        }

        /// Refuses a file whose parts are meant to keep the reader busy together.
        private func checkIterations(
            _ algorithm: UnsafePointer<X509_ALGOR>?,
            _ contents: inout Contents
        ) throws(KeychainError) {
            contents.iterations += try CryptoKey.checkedIterations(algorithm)
            // A file has a key or two, and the certificates in one part.
            guard contents.iterations <= 2 * CryptoKey.mostIterations else { throw CryptoKey.tooManyIterations }
        }

        private func decrypted(
            _ content: UnsafeMutablePointer<PKCS7>,
            _ contents: inout Contents
        ) throws(KeychainError) -> OpaquePointer {
            guard let algorithm = openssl_content_algorithm(content) else {
                throw KeychainError(
                    .unsupported,
                    "A part of the file is encrypted for a certificate and not by a passphrase."
                )
            }
            try checkIterations(algorithm, &contents)
            return try withLegacy("file") {
                Self.withText(passphrase) { openssl.PKCS12_unpack_p7encdata(content, $0, $1) }
            }
        }

        /// Decrypts, with the old algorithms as well if it takes them.
        private func withLegacy(_ what: String, _ body: () -> OpaquePointer?) throws(KeychainError) -> OpaquePointer {
            if let result = body() { return result }
            let error = CryptoKey.notDecrypted(what)
            guard error.code == .unsupported else { throw error }
            // It stays loaded: other threads may use it by now.
            guard openssl.OSSL_PROVIDER_try_load(nil, "legacy", 1) != nil else {
                throw KeychainError(
                    .unsupported,
                    "The file is encrypted with an algorithm of old (RC2 or DES), for which OpenSSL's legacy provider is "
                        + "needed, and that is not installed. Export it anew with a current program.",
                    underlying: error.underlying
                )
            }
            openssl.ERR_clear_error()
            guard let result = body() else { throw CryptoKey.notDecrypted(what) }
            return result
        }

        private func read(_ bags: OpaquePointer?, _ contents: inout Contents, depth: Int) throws(KeychainError) {
            guard depth < Self.deepest else {
                throw KeychainError(.decode, "The parts of the file lie too deep in each other.")
            }
            guard let bags else { return }
            for index in 0..<openssl_bag_count(bags) {
                guard let bag = openssl_bag(bags, index) else { continue }
                switch openssl.PKCS12_SAFEBAG_get_nid(bag) {
                case NID_keyBag:
                    guard let key = openssl.EVP_PKCS82PKEY(openssl.PKCS12_SAFEBAG_get0_p8inf(bag)) else {
                        throw OpenSSL.error(.decode, "A key of the file cannot be read.")
                    }
                    contents.keys.append((try CryptoKey(KeyHandle(key)), label(bag), keyID(bag)))
                case NID_pkcs8ShroudedKeyBag:
                    var algorithm: UnsafePointer<X509_ALGOR>?
                    openssl.X509_SIG_get0(openssl.PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
                    try checkIterations(algorithm, &contents)
                    let info = try withLegacy("key") {
                        Self.withText(passphrase) { openssl.PKCS12_decrypt_skey(bag, $0, $1) }
                    }
                    defer { openssl.PKCS8_PRIV_KEY_INFO_free(info) }
                    guard let key = openssl.EVP_PKCS82PKEY(info) else {
                        throw OpenSSL.error(.decode, "A key of the file cannot be read.")
                    }
                    contents.keys.append((try CryptoKey(KeyHandle(key)), label(bag), keyID(bag)))
                case NID_certBag:
                    // What is no X.509 certificate is none of ours.
                    guard openssl.PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { continue }
                    guard let certificate = openssl.PKCS12_SAFEBAG_get1_cert(bag) else {
                        throw OpenSSL.error(.decode, "A certificate of the file cannot be read.")
                    }
                    contents.certificates.append(
                        (try Certificate(CertificateHandle(certificate)), label(bag), keyID(bag))
                    )
                case NID_safeContentsBag:
                    try read(openssl.PKCS12_SAFEBAG_get0_safes(bag), &contents, depth: depth + 1)
                default: continue
                }
            }
        }

        private func label(_ bag: OpaquePointer) -> String? {
            guard let text = openssl.PKCS12_get_friendlyname(bag) else { return nil }
            defer { openssl_free(text) }
            let label = String(cString: text)
            return label.isEmpty ? nil : label
        }

        private func keyID(_ bag: OpaquePointer) -> Data? {
            guard let type = openssl.PKCS12_SAFEBAG_get0_attr(bag, NID_localKeyID),
                type.pointee.type == V_ASN1_OCTET_STRING
            else {
                return nil
            }
            return Data(UnsafePointer(type.pointee.value.octet_string))
        }

        // MARK: Joining

        private static func joined(_ contents: Contents) -> [PKCS12Part] {
            let chains = CertificateChains(contents.certificates.map(\.certificate))
            let places = Dictionary(contents.certificates.enumerated().map { ($1.certificate.publicKeyHash, $0) }) {
                first,
                _ in first
            }
            var used: Set<Certificate> = []
            var parts: [PKCS12Part] = []
            for key in contents.keys {
                let own = places[key.key.applicationLabel].map { contents.certificates[$0] }
                // The certificates above one may serve several.
                let chain = own.map { [$0.certificate] + chains.above($0.certificate) } ?? []
                used.formUnion(chain)
                parts.append(
                    PKCS12Part(
                        label: key.label ?? own?.label,
                        keyID: key.keyID ?? own?.keyID,
                        privateKey: key.key,
                        certificateChain: chain
                    )
                )
            }
            return parts
                + contents.certificates.filter { !used.contains($0.certificate) }.map {
                    PKCS12Part(label: $0.label, keyID: $0.keyID, privateKey: nil, certificateChain: [$0.certificate])
                }
        }
    }
#endif
