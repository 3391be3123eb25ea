// SPDX-License-Identifier: MIT
#if X509
    public import KeychainAPI

    extension Keychain {
        /// Stores an identity: its certificate, and then its key.
        ///
        /// - Parameters:
        ///   - identity: The identity.
        ///   - query: The label and the tag, and what else is known of both parts.
        ///   - accessPolicy: When the items may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens with a part that is there already. With `IfExists.fail` a part that is there stays
        ///     as it is.
        /// - Throws: `duplicateItem` if both parts are there and the policy is `IfExists.fail`, and as for a certificate
        ///   and a key. If the key cannot be stored, a certificate that was added is removed again.
        public func store(
            _ identity: DigitalIdentity,
            query: SecItemQuery<SecIdentity> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) {
            let parts = query.parts
            let isCertificateAdded = try unlessDuplicate { () throws(KeychainError) in
                try store(
                    identity.certificate,
                    query: parts.certificate,
                    accessPolicy: accessPolicy,
                    ifExists: ifExists
                )
            }
            let isKeyAdded: Bool
            do throws(KeychainError) {
                isKeyAdded = try unlessDuplicate { () throws(KeychainError) in
                    try store(identity.privateKey, query: parts.key, accessPolicy: accessPolicy, ifExists: ifExists)
                }
            } catch {
                if isCertificateAdded, ifExists == .fail {
                    takeBack(identity.certificate.completing(parts.certificate))
                }
                throw error
            }
            guard isCertificateAdded || isKeyAdded else { throw located(.duplicateItem, .store) }
        }

        /// Stores an identity: its certificate, and then its key.
        ///
        /// - Parameters:
        ///   - identity: The identity.
        ///   - query: The label and the tag, and what else is known of both parts.
        ///   - accessPolicy: When the items may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens with a part that is there already.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ identity: DigitalIdentity,
            query: SecItemQuery<SecIdentity> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) {
            let parts = query.parts
            let certificate = identity.certificate
            let isCertificateAdded = try await unlessDuplicate { () async throws(KeychainError) in
                try await store(certificate, query: parts.certificate, accessPolicy: accessPolicy, ifExists: ifExists)
            }
            let isKeyAdded: Bool
            do throws(KeychainError) {
                isKeyAdded = try await unlessDuplicate { () async throws(KeychainError) in
                    try await store(
                        identity.privateKey,
                        query: parts.key,
                        accessPolicy: accessPolicy,
                        ifExists: ifExists
                    )
                }
            } catch {
                // Not asynchronously: the task may be the reason, cancelled.
                if isCertificateAdded, ifExists == .fail { takeBack(certificate.completing(parts.certificate)) }
                throw error
            }
            guard isCertificateAdded || isKeyAdded else { throw located(.duplicateItem, .store) }
        }

        /// Retrieves the first identity that a query matches: the one with the oldest certificate.
        ///
        /// - Parameter query: Attributes of either part.
        /// - Returns: Nil if there is none; a certificate without its key is none.
        /// - Throws: `decode` if a part is not what its item says, and as for any value.
        public func retrieve(_ query: SecItemQuery<SecIdentity>) throws(KeychainError) -> DigitalIdentity? {
            guard let found = try item(query), let key = try item(Self.key(of: found.info)) else { return nil }
            return try identity(found.value, key)
        }

        /// Retrieves the first identity that a query matches: the one with the oldest certificate.
        ///
        /// - Parameter query: Attributes of either part.
        /// - Returns: Nil if there is none; a certificate without its key is none.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func retrieve(_ query: SecItemQuery<SecIdentity>) async throws(KeychainError) -> DigitalIdentity? {
            guard let found = try await item(query), let key = try await item(Self.key(of: found.info)) else {
                return nil
            }
            return try identity(found.value, key)
        }

        // MARK: Types of other libraries

        /// Stores an identity of another library's types.
        ///
        /// - Parameters:
        ///   - identity: The identity.
        ///   - query: The label and the tag, and what else is known of both parts.
        ///   - accessPolicy: When the items may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens with a part that is there already.
        /// - Throws: As for a ``DigitalIdentity``, and `invalidParameter` if the two do not belong together.
        public func store(
            _ identity: some SecIdentityConvertible,
            query: SecItemQuery<SecIdentity> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) {
            let identity = try converted(identity)
            try store(identity, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Stores an identity of another library's types.
        ///
        /// - Parameters:
        ///   - identity: The identity.
        ///   - query: The label and the tag, and what else is known of both parts.
        ///   - accessPolicy: When the items may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens with a part that is there already.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ identity: some SecIdentityConvertible,
            query: SecItemQuery<SecIdentity> = SecItemQuery(),
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) {
            let identity = try converted(identity)
            try await store(identity, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Retrieves the first identity that a query matches, as another library's types.
        ///
        /// - Parameter query: Attributes of either part.
        /// - Returns: Nil if there is none; a certificate without its key is none.
        /// - Throws: `decode` if a part is not of its type, and as for a ``DigitalIdentity``.
        public func retrieve<Identity: SecIdentityConvertible>(
            _ query: SecItemQuery<SecIdentity>
        ) throws(KeychainError) -> Identity? {
            let identity: DigitalIdentity? = try retrieve(query)
            return try identity.map { (identity) throws(KeychainError) in try converted(identity) }
        }

        /// Retrieves the first identity that a query matches, as another library's types.
        ///
        /// - Parameter query: Attributes of either part.
        /// - Returns: Nil if there is none; a certificate without its key is none.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func retrieve<Identity: SecIdentityConvertible>(
            _ query: SecItemQuery<SecIdentity>
        ) async throws(KeychainError) -> Identity? {
            let identity: DigitalIdentity? = try await retrieve(query)
            return try identity.map { (identity) throws(KeychainError) in try converted(identity) }
        }

        private func converted(_ identity: some SecIdentityConvertible) throws(KeychainError) -> DigitalIdentity {
            do throws(KeychainError) {
                let certificate = try Certificate(
                    derRepresentation: prepared(identity.certificate, SecItemQuery()).value
                )
                let key = try CryptoKey(derRepresentation: identity.privateKey.derRepresentation)
                return try DigitalIdentity(certificate: certificate, privateKey: key)
            } catch {
                throw located(error, .store)
            }
        }

        private func converted<Identity: SecIdentityConvertible>(
            _ identity: DigitalIdentity
        ) throws(KeychainError) -> Identity {
            do {
                return try Identity(
                    certificate: Identity.Certificate(derRepresentation: identity.certificate.derRepresentation),
                    privateKey: Identity.PrivateKey(
                        x963Representation: identity.privateKey.externalRepresentation
                    )
                )
            } catch {
                // The conversion's own error is not passed on: its text may quote what it could not read.
                let error = KeychainError(
                    .decode,
                    "The identity exists, but it is not a \(Identity.self). Retrieve it as a DigitalIdentity."
                )
                throw located(error, .retrieve)
            }
        }

        // MARK: Parts

        private func takeBack(_ certificate: SecItemQuery<SecCertificate>) {
            _ = try? remove(certificate)
        }

        private func unlessDuplicate(_ body: () throws(KeychainError) -> Void) throws(KeychainError) -> Bool {
            do throws(KeychainError) {
                try body()
                return true
            } catch {
                guard error.code == .duplicateItem else { throw error }
                return false
            }
        }

        private func unlessDuplicate(_ body: () async throws(KeychainError) -> Void) async throws(KeychainError) -> Bool
        {
            do throws(KeychainError) {
                try await body()
                return true
            } catch {
                guard error.code == .duplicateItem else { throw error }
                return false
            }
        }

        /// The private key whose attributes an identity shows.
        private static func key(of info: SecItemInfo<SecIdentity>) -> SecItemQuery<SecKey> {
            var query = SecItemQuery<SecKey>()
            query.keyClass = .private
            query.applicationLabel = info.publicKeyHash
            query.applicationTag = info.applicationTag
            query.synchronizable = .any
            query.accessGroup = info.accessGroup
            return query
        }

        private func identity(
            _ certificate: SecureBytes,
            _ key: (info: SecItemInfo<SecKey>, value: SecureBytes)
        ) throws(KeychainError) -> DigitalIdentity {
            do throws(KeychainError) {
                return try DigitalIdentity(
                    certificate: Certificate(derRepresentation: certificate),
                    privateKey: CryptoKey(key.info, key.value)
                )
            } catch {
                throw located(error, .retrieve)
            }
        }
    }

    extension SecItemQuery where Value == SecIdentity {
        /// What the query says of the certificate, and of the key.
        fileprivate var parts: (certificate: SecItemQuery<SecCertificate>, key: SecItemQuery<SecKey>) {
            var certificate = SecItemQuery<SecCertificate>()
            var key = SecItemQuery<SecKey>()
            for attribute in AttributeSchema.schema(of: .certificate).all {
                certificate[attribute.name] = self[attribute.name]
            }
            for attribute in AttributeSchema.schema(of: .key).all { key[attribute.name] = self[attribute.name] }
            certificate.synchronizable = synchronizable
            key.synchronizable = synchronizable
            certificate.accessGroup = accessGroup
            key.accessGroup = accessGroup
            return (certificate, key)
        }
    }
#endif
