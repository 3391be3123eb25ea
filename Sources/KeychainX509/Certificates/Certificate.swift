// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    import Glibc
    public import KeychainAPI

    /// An X.509 certificate (RFC 5280).
    ///
    /// ```swift
    /// let certificate = try Certificate(pemRepresentation: text)
    /// try keychain.store(certificate, query: .certificate(for: "server"))
    /// print(certificate.subjectSummary ?? "", certificate.notValidAfter)
    /// ```
    public struct Certificate: Sendable {
        let handle: CertificateHandle
        /// The certificate in DER.
        public let derRepresentation: Data
        /// The name of whom it is about.
        public let subject: DistinguishedName
        /// The name of who signed it.
        public let issuer: DistinguishedName
        /// From when it is valid.
        public let notValidBefore: Date
        /// Until when it is valid.
        public let notValidAfter: Date

        /// Takes over one of OpenSSL's certificates.
        ///
        /// - Throws: `decode` for one whose names or dates cannot be read.
        init(_ handle: CertificateHandle) throws(KeychainError) {
            self.handle = handle
            derRepresentation = try OpenSSL.der { openssl.i2d_X509(handle.pointer, $0) }
            guard let subject = openssl.X509_get_subject_name(handle.pointer),
                let issuer = openssl.X509_get_issuer_name(handle.pointer)
            else {
                throw OpenSSL.error(.decode, "The certificate has no names.")
            }
            self.subject = try DistinguishedName(subject)
            self.issuer = try DistinguishedName(issuer)
            notValidBefore = try Self.date(openssl.X509_get0_notBefore(handle.pointer))
            notValidAfter = try Self.date(openssl.X509_get0_notAfter(handle.pointer))
        }

        /// Reads a certificate in DER.
        ///
        /// - Parameter derRepresentation: The bytes, all of them the certificate.
        /// - Throws: `decode` for bytes that are none.
        public init(derRepresentation: some ContiguousBytes) throws(KeychainError) {
            let bytes = SecureBytes(derRepresentation)
            self = try OpenSSL.run { () throws(KeychainError) in
                let pointer = try bytes.withBytes { (bytes) throws(KeychainError) -> OpaquePointer in
                    let (pointer, isWhole) = OpenSSL.decode(bytes) { openssl.d2i_X509(nil, $0, $1) }
                    guard let pointer else {
                        throw OpenSSL.error(.decode, "The bytes are no X.509 certificate in DER.")
                    }
                    guard isWhole else {
                        openssl.X509_free(pointer)
                        throw KeychainError(.decode, "More follows after the certificate.")
                    }
                    return pointer
                }
                let certificate = try Certificate(CertificateHandle(pointer))
                // OpenSSL reads more than DER. What it makes of that is another certificate, with other fingerprints.
                guard bytes.withBytes({ $0.elementsEqual(certificate.derRepresentation) }) else {
                    throw KeychainError(
                        .decode,
                        "The certificate is not encoded in DER. Ask its issuer for one that is."
                    )
                }
                return certificate
            }
        }

        /// Reads the first certificate of a PEM text.
        ///
        /// - Parameter pemRepresentation: The text, in UTF-8; other blocks, as of keys, are passed over.
        /// - Throws: `decode` if there is none in it, or it is damaged.
        public init(pemRepresentation: some ContiguousBytes) throws(KeychainError) {
            guard let first = try Self.bundle(pemRepresentation: pemRepresentation).first else {
                throw KeychainError(.decode, "There is no certificate in the text: no PEM block “CERTIFICATE”.")
            }
            self = first
        }

        /// Reads every certificate of a PEM text, in order.
        ///
        /// - Parameter pemRepresentation: The text, in UTF-8; other blocks are passed over.
        /// - Throws: `decode` if one of them is damaged.
        public static func bundle(pemRepresentation: some ContiguousBytes) throws(KeychainError) -> [Certificate] {
            let text = SecureBytes(pemRepresentation)
            return try text.withBytes { (bytes) throws(KeychainError) in try PEM.blocks(bytes) }
                .filter { ["CERTIFICATE", "X509 CERTIFICATE"].contains($0.label) }
                .map { (block) throws(KeychainError) in try Certificate(derRepresentation: block.bytes) }
        }

        /// The certificate as PEM (RFC 7468).
        public var pemRepresentation: String {
            get throws(KeychainError) {
                try PEM.text("CERTIFICATE", SecureBytes(derRepresentation)).withBytes {
                    String(decoding: $0, as: UTF8.self)
                }
            }
        }

        private static func date(_ time: UnsafePointer<ASN1_TIME>?) throws(KeychainError) -> Date {
            var parts = tm()
            guard let time, openssl.ASN1_TIME_to_tm(time, &parts) == 1 else {
                throw OpenSSL.error(.decode, "The certificate has a date that cannot be read.")
            }
            return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
        }

        // MARK: What it says

        /// The X.509 version, 1 to 3.
        public var version: Int { openssl.X509_get_version(handle.pointer) + 1 }

        /// The serial number: a big-endian two's complement, as in DER.
        public var serialNumber: Data {
            let der =
                (try? OpenSSL.der { openssl.i2d_ASN1_INTEGER(openssl.X509_get0_serialNumber(handle.pointer), $0) })
                ?? Data()
            return DER.content(of: der)
        }

        /// The public key.
        ///
        /// - Throws: `unsupported` for an algorithm that ``CryptoKey`` does not know.
        public var publicKey: CryptoKey {
            get throws(KeychainError) {
                try OpenSSL.run { () throws(KeychainError) in
                    guard let pointer = openssl.X509_get_pubkey(handle.pointer) else {
                        throw OpenSSL.error(
                            .unsupported,
                            "The certificate's public key is of no type that OpenSSL knows."
                        )
                    }
                    return try CryptoKey(KeyHandle(pointer))
                }
            }
        }

        /// The SHA-1 of the public key: the application label of the private key that belongs to it.
        public var publicKeyHash: Data {
            // The hash of the bits as they stand there is another one for a point in short form.
            if let key = try? publicKey, case .ec = key.algorithm { return key.applicationLabel }
            return handle.digest(openssl.EVP_sha1(), of: openssl.X509_pubkey_digest)
        }

        /// The SHA-256 of the certificate.
        public var fingerprint: Data { handle.digest(openssl.EVP_sha256(), of: openssl.X509_digest) }

        /// The identifier of its key (RFC 5280, 4.2.1.2), nil if it has none.
        public var subjectKeyID: Data? { openssl.X509_get0_subject_key_id(handle.pointer).map { Data($0) } }

        /// The identifier of its signer's key (RFC 5280, 4.2.1.1), nil if it has none.
        public var authorityKeyID: Data? { openssl.X509_get0_authority_key_id(handle.pointer).map { Data($0) } }

        /// What a person would call it: the common name, else the unit, the organization, an e-mail address or a host.
        ///
        /// Nil if it has none of them.
        public var subjectSummary: String? {
            commonName ?? subject.last("OU") ?? subject.last("O") ?? emailAddresses.first ?? dnsNames.first
                ?? subject.values.last?.value
        }

        /// The most specific common name, nil if it has none.
        public var commonName: String? { subject.last("CN") }

        /// The e-mail addresses of the subject and of its alternative names.
        public var emailAddresses: [String] {
            guard let texts = openssl.X509_get1_email(handle.pointer) else { return [] }
            defer { openssl.X509_email_free(texts) }
            return (0..<openssl_string_count(texts)).compactMap { index in
                openssl_string(texts, index).map { String(cString: $0) }
            }
        }

        /// The hosts among the subject's alternative names (RFC 5280, 4.2.1.6).
        public var dnsNames: [String] {
            guard let names = openssl_subject_alternative_names(handle.pointer) else { return [] }
            defer { openssl.GENERAL_NAMES_free(names) }
            return (0..<openssl_general_name_count(names)).compactMap { index in
                var count: Int32 = 0
                guard let bytes = openssl_dns_name(names, index, &count) else { return nil }
                return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
            }
        }

        /// Whether a moment is within the dates of the certificate, which says nothing of who signed it.
        ///
        /// - Parameter date: The moment.
        public func isValid(at date: Date = Date()) -> Bool { notValidBefore <= date && date <= notValidAfter }
    }

    extension Certificate: Hashable {
        /// Two certificates are equal if their bytes are.
        public static func == (left: Certificate, right: Certificate) -> Bool {
            left.derRepresentation == right.derRepresentation
        }

        /// Hashes the bytes.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(derRepresentation)
        }
    }

    extension Certificate: CustomStringConvertible {
        /// The summary, and until when it is valid.
        public var description: String {
            "\(subjectSummary ?? subject.description), valid until \(notValidAfter.formatted(.iso8601))"
        }
    }

    extension Certificate: SecCertificateConvertible {
        /// Reads a certificate in DER.
        ///
        /// - Parameter derRepresentation: The bytes.
        /// - Throws: `decode` for bytes that are none.
        public init(derRepresentation: Data) throws {
            try self.init(derRepresentation: SecureBytes(derRepresentation))
        }
    }
#endif
