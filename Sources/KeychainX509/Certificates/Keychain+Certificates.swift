// SPDX-License-Identifier: MIT
#if X509
    public import FoundationEssentials
    public import KeychainAPI

    extension Keychain {
        /// Stores a certificate.
        ///
        /// Issuer, serial number, version, subject, key identifiers and encoding are taken from it, as Apple takes them, and
        /// the label if the query has none; what the query sets stays. With `IfExists.replaceValue`, what follows from the
        /// certificate is that of the new one, and label and access policy are kept.
        ///
        /// - Parameters:
        ///   - certificate: The certificate, also one of another library.
        ///   - query: The label, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if the certificate is there already: one of the same issuer and number.
        /// - Throws: `decode` for another library's certificate that OpenSSL does not read, and as for any value.
        public func store(
            _ certificate: some SecCertificateConvertible,
            query: SecItemQuery<SecCertificate> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) {
            _ = try store(
                certificate,
                returning: [],
                query: query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Stores a certificate.
        ///
        /// - Parameters:
        ///   - certificate: The certificate, also one of another library.
        ///   - query: The label, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if the certificate is there already.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ certificate: some SecCertificateConvertible,
            query: SecItemQuery<SecCertificate> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) {
            _ = try await store(
                certificate,
                returning: [],
                query: query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Stores a certificate and returns what the store then knows of it.
        ///
        /// - Parameters:
        ///   - certificate: The certificate.
        ///   - returning: What is returned; the data is its DER.
        ///   - query: The label, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very certificate is there already.
        /// - Returns: nil if nothing was asked for.
        /// - Throws: As the form that returns nothing.
        public func store(
            _ certificate: some SecCertificateConvertible,
            returning: SecReturnType,
            query: SecItemQuery<SecCertificate> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) -> SecValue<SecCertificate>? {
            var item = try prepared(certificate, query)
            var (accessPolicy, ifExists) = (accessPolicy, ifExists)
            if ifExists == .replaceValue {
                let existing = try retrieve(.info, query: item.query.identity)
                item.query.keep(existing, &accessPolicy, label: query.label)
                ifExists = .replace
            }
            return try store(
                item.value,
                returning: returning,
                query: item.query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Stores a certificate and returns what the store then knows of it.
        ///
        /// - Parameters:
        ///   - certificate: The certificate.
        ///   - returning: What is returned; the data is its DER.
        ///   - query: The label, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very certificate is there already.
        /// - Returns: nil if nothing was asked for.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ certificate: some SecCertificateConvertible,
            returning: SecReturnType,
            query: SecItemQuery<SecCertificate> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) -> SecValue<SecCertificate>? {
            var item = try prepared(certificate, query)
            var (accessPolicy, ifExists) = (accessPolicy, ifExists)
            if ifExists == .replaceValue {
                let existing = try await retrieve(.info, query: item.query.identity)
                item.query.keep(existing, &accessPolicy, label: query.label)
                ifExists = .replace
            }
            return try await store(
                item.value,
                returning: returning,
                query: item.query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Retrieves the first certificate that a query matches, the oldest item.
        ///
        /// - Parameter query: The certificate.
        /// - Returns: Nil if there is none.
        /// - Throws: `decode` for an item that is none, and as for any value.
        public func retrieve<Value: SecCertificateConvertible>(
            _ query: SecItemQuery<SecCertificate>
        ) throws(KeychainError) -> Value? {
            try item(query).map { (item) throws(KeychainError) in try converted(item.value) }
        }

        /// Retrieves the first certificate that a query matches, the oldest item.
        ///
        /// - Parameter query: The certificate.
        /// - Returns: Nil if there is none.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func retrieve<Value: SecCertificateConvertible>(
            _ query: SecItemQuery<SecCertificate>
        ) async throws(KeychainError) -> Value? {
            try await item(query).map { (item) throws(KeychainError) in try converted(item.value) }
        }

        /// Looks for a chain of signatures from a certificate to an anchor, through the certificates of this store.
        ///
        /// - Parameters:
        ///   - certificate: The certificate; it need not be in the store.
        ///   - anchors: Certificates that are trusted. Being in the store makes none trusted.
        ///   - host: The host name that the certificate must be for, nil for any.
        ///   - date: The moment at which the dates must be right.
        /// - Throws: Why the store could not be read. An item that is no certificate is passed over.
        public func verification(
            of certificate: Certificate,
            anchors: [Certificate],
            host: String? = nil,
            at date: Date = Date()
        ) throws(KeychainError) -> CertificateVerification {
            let stored = Self.certificates(try items(SecItemQuery<SecCertificate>()))
            return try certificate.verification(anchors: anchors, intermediates: stored, host: host, at: date)
        }

        /// Looks for a chain of signatures from a certificate to an anchor, through the certificates of this store.
        ///
        /// - Parameters:
        ///   - certificate: The certificate; it need not be in the store.
        ///   - anchors: Certificates that are trusted. Being in the store makes none trusted.
        ///   - host: The host name that the certificate must be for, nil for any.
        ///   - date: The moment at which the dates must be right.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func verification(
            of certificate: Certificate,
            anchors: [Certificate],
            host: String? = nil,
            at date: Date = Date()
        ) async throws(KeychainError) -> CertificateVerification {
            let stored = try await certificates()
            return try certificate.verification(anchors: anchors, intermediates: stored, host: host, at: date)
        }

        /// The certificates of this store; an item that is none is passed over.
        package func certificates() async throws(KeychainError) -> [Certificate] {
            Self.certificates(try await items(SecItemQuery<SecCertificate>()))
        }

        private static func certificates(
            _ items: [(info: SecItemInfo<SecCertificate>, value: SecureBytes)]
        ) -> [Certificate] {
            items.compactMap { try? Certificate(derRepresentation: $0.value) }
        }

        // MARK: Between items and certificates

        func prepared(
            _ certificate: some SecCertificateConvertible,
            _ query: SecItemQuery<SecCertificate>
        ) throws(KeychainError) -> (query: SecItemQuery<SecCertificate>, value: SecureBytes) {
            let der: SecureBytes
            do {
                der = SecureBytes(try certificate.derRepresentation)
            } catch {
                throw located(KeychainError(.decode, "The certificate gives out no DER."), .store)
            }
            do throws(KeychainError) {
                return (try Certificate(derRepresentation: der).completing(query), der)
            } catch {
                throw located(error, .store)
            }
        }

        private func converted<Value: SecCertificateConvertible>(_ bytes: SecureBytes) throws(KeychainError) -> Value {
            do {
                return try Value(derRepresentation: bytes.withBytes { Data($0) })
            } catch {
                throw located(
                    KeychainError(.decode, "The item exists, but it is no certificate. Retrieve it as Data."),
                    .retrieve
                )
            }
        }
    }

    extension SecItemQuery<SecCertificate> {
        /// What tells the certificate from others.
        fileprivate var identity: SecItemQuery {
            var identity = SecItemQuery()
            identity.certificateType = self.certificateType
            identity.issuer = self.issuer
            identity.serialNumber = self.serialNumber
            identity.synchronizable = synchronizable
            identity.accessGroup = accessGroup
            return identity
        }

        /// Takes over what stays when the value of an item is replaced, and does not follow from it.
        fileprivate mutating func keep(
            _ existing: SecValue<SecCertificate>?,
            _ accessPolicy: inout AccessPolicy?,
            label given: String?
        ) {
            guard case .dictionary(let existing)? = existing else { return }
            self.label = given ?? existing.label
            accessPolicy = existing.accessPolicy
        }
    }

    extension Certificate {
        /// What tells the certificate from others.
        package var identity: SecItemQuery<SecCertificate> { completing(SecItemQuery()).identity }

        /// A query with what the certificate says; what is set in it already stays.
        func completing(_ query: SecItemQuery<SecCertificate>) -> SecItemQuery<SecCertificate> {
            var query = query
            query.certificateType = query.certificateType ?? version
            query.certificateEncoding = query.certificateEncoding ?? 3
            query.issuer = query.issuer ?? issuer.normalizedContent
            query.serialNumber = query.serialNumber ?? serialNumber
            query.subject = query.subject ?? subject.normalizedContent
            query.subjectKeyID = query.subjectKeyID ?? subjectKeyID
            query.publicKeyHash = query.publicKeyHash ?? publicKeyHash
            // No attribute has a NUL in it, and a name may.
            query.label = query.label ?? subjectSummary.map { String($0.map { $0 == "\0" ? "\u{FFFD}" : $0 }) }
            return query
        }
    }
#endif
