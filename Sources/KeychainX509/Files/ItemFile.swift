// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    package import KeychainAPI

    /// What a file of keys and certificates holds, whichever form it has.
    package struct ItemFile: Sendable {
        /// The form of a file.
        package enum Format: Sendable {
            /// Armoured texts, any number of them (RFC 7468).
            case pem
            /// One key or one certificate.
            case der
            /// Keys and certificates under a passphrase (RFC 7292).
            case pkcs12
        }

        /// The keys, and what the file calls them.
        package private(set) var keys: [(key: CryptoKey, label: String?)] = []
        /// The certificates, and what the file calls them.
        package private(set) var certificates: [(certificate: Certificate, label: String?)] = []

        /// The names of PEM blocks that are neither.
        package private(set) var passedOver: [String] = []

        /// Whether a certificate is that of one of the keys, or the only one.
        package func isOwn(_ certificate: Certificate) -> Bool {
            certificates.count == 1
                || keys.contains { $0.key.isPrivate && $0.key.applicationLabel == certificate.publicKeyHash }
        }

        /// Reads a file.
        ///
        /// - Parameters:
        ///   - bytes: All of it.
        ///   - format: Its form, nil to find out.
        ///   - passphrase: Is asked for the passphrase if there is one, once.
        /// - Throws: `decode` for what is none of the forms, is damaged, or holds neither key nor certificate;
        ///   `authenticationFailed` for a wrong passphrase; `unsupported` for an algorithm that is not read.
        package init(
            _ bytes: SecureBytes,
            format: Format?,
            passphrase: () throws(KeychainError) -> SecureBytes
        ) throws(KeychainError) {
            switch format ?? bytes.withBytes(Self.format) {
            case .pem: try readPEM(bytes, passphrase)
            case .der: try readDER(bytes, passphrase)
            case .pkcs12: try readPKCS12(bytes, passphrase)
            }
        }

        /// The form of a file, by how it begins.
        private static func format(_ bytes: UnsafeRawBufferPointer) -> Format {
            // A PFX is a sequence whose first element is the number 3, which no key and no certificate begins with.
            if let start = derStart(bytes) { return bytes[start...].starts(with: [0x02, 0x01, 0x03]) ? .pkcs12 : .der }
            return count("-----BEGIN ", in: bytes) > 0 ? .pem : .der
        }

        /// Where the content of a sequence begins that is all of the bytes (X.690, 8.1.3); nil if they are none.
        private static func derStart(_ bytes: UnsafeRawBufferPointer) -> Int? {
            guard bytes.count > 2, bytes[0] == 0x30 else { return nil }
            guard bytes[1] >= 0x80 else { return 2 + Int(bytes[1]) == bytes.count ? 2 : nil }
            let start = 2 + Int(bytes[1] & 0x7F)
            guard (3...6).contains(start), bytes.count > start else { return nil }
            let length = bytes[2..<start].reduce(0) { $0 << 8 | Int($1) }
            return start + length == bytes.count ? start : nil
        }

        /// How often a text occurs.
        private static func count(_ text: String, in bytes: UnsafeRawBufferPointer) -> Int {
            let mark = Array(text.utf8)
            return bytes.indices.count { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
        }

        private mutating func readPEM(
            _ bytes: SecureBytes,
            _ passphrase: () throws(KeychainError) -> SecureBytes
        ) throws(KeychainError) {
            var known: SecureBytes?
            let blocks = try bytes.withBytes { (bytes) throws(KeychainError) in try PEM.blocks(bytes) }
            // OpenSSL passes over a block whose first line is damaged; its key would be missing, and nobody would know.
            let marks = bytes.withBytes { max(Self.count("-----BEGIN ", in: $0), Self.count("-----END ", in: $0)) }
            guard blocks.count == marks else {
                throw KeychainError(
                    .decode,
                    "A PEM block is damaged. Each one has a “BEGIN” line and an “END” line, from the first column on."
                )
            }
            for block in blocks {
                if ["CERTIFICATE", "X509 CERTIFICATE"].contains(block.label) {
                    certificates.append((try Certificate(derRepresentation: block.bytes), nil))
                } else if block.label.hasSuffix(" KEY") || block.label.hasSuffix("PRIVATE KEY") {
                    let key = try Self.trying(&known, passphrase) { (known) throws(KeychainError) in
                        try CryptoKey(block, known)
                    }
                    keys.append((key, nil))
                } else if block.label != "EC PARAMETERS" {
                    passedOver.append(block.label)
                }
            }
            guard !keys.isEmpty || !certificates.isEmpty else {
                throw KeychainError(.decode, "The text holds neither a key nor a certificate in PEM.")
            }
        }

        private mutating func readDER(
            _ bytes: SecureBytes,
            _ passphrase: () throws(KeychainError) -> SecureBytes
        ) throws(KeychainError) {
            if let certificate = try? Certificate(derRepresentation: bytes) {
                certificates.append((certificate, nil))
                return
            }
            var known: SecureBytes?
            do throws(KeychainError) {
                let key = try Self.trying(&known, passphrase) { (known) throws(KeychainError) in
                    try CryptoKey(derRepresentation: bytes, passphrase: known)
                }
                keys.append((key, nil))
            } catch {
                guard error.code == .decode else { throw error }
                throw KeychainError(
                    .decode,
                    "The file is neither a certificate nor a key nor a PKCS#12 file, or it is damaged.",
                    underlying: error.underlying
                )
            }
        }

        private mutating func readPKCS12(
            _ bytes: SecureBytes,
            _ passphrase: () throws(KeychainError) -> SecureBytes
        ) throws(KeychainError) {
            var known: SecureBytes?
            let parts = try Self.trying(&known, passphrase) { (known) throws(KeychainError) in
                try PKCS12.import(bytes, passphrase: known)
            }
            for part in parts {
                if let key = part.privateKey { keys.append((key, part.label)) }
                for (index, certificate) in part.certificateChain.enumerated()
                where !certificates.contains(where: { $0.certificate == certificate }) {
                    certificates.append((certificate, index == 0 ? part.label : nil))
                }
            }
            guard !keys.isEmpty || !certificates.isEmpty else {
                throw KeychainError(.decode, "The PKCS#12 file holds neither a key nor a certificate.")
            }
        }

        /// Reads without a passphrase, and with one if that is what it takes.
        private static func trying<Result>(
            _ known: inout SecureBytes?,
            _ passphrase: () throws(KeychainError) -> SecureBytes,
            _ body: (SecureBytes?) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            do throws(KeychainError) {
                return try body(known)
            } catch {
                guard error.code == .authenticationFailed, known == nil else { throw error }
            }
            let given = try passphrase()
            known = given
            return try body(given)
        }
    }
#endif
