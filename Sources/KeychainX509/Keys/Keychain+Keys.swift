// SPDX-License-Identifier: MIT
#if X509
    public import KeychainAPI

    extension Keychain {
        /// Stores a key.
        ///
        /// Type, class, sizes, application label and what the key can do are derived from it, as Apple derives them; what the
        /// query sets stays. A second key with the same tag is a second item, since its label differs.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Throws: `invalidParameter` for a query of another type or class, and as for any value.
        public func store(
            _ key: CryptoKey,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) {
            let item = try prepared(key, query)
            try store(item.value, query: item.query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Stores a key.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ key: CryptoKey,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) {
            let item = try prepared(key, query)
            try await store(item.value, query: item.query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Stores a key and returns what the store then knows of it.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - returning: What is returned; the data is the key as it is stored.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Returns: nil if nothing was asked for.
        /// - Throws: As the form that returns nothing.
        public func store(
            _ key: CryptoKey,
            returning: SecReturnType,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) -> SecValue<SecKey>? {
            let item = try prepared(key, query)
            return try store(
                item.value,
                returning: returning,
                query: item.query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Stores a key and returns what the store then knows of it.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - returning: What is returned; the data is the key as it is stored.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Returns: nil if nothing was asked for.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ key: CryptoKey,
            returning: SecReturnType,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) -> SecValue<SecKey>? {
            let item = try prepared(key, query)
            return try await store(
                item.value,
                returning: returning,
                query: item.query,
                accessPolicy: accessPolicy,
                ifExists: ifExists
            )
        }

        /// Retrieves the first key that a query matches, the oldest.
        ///
        /// - Parameter query: The key.
        /// - Returns: Nil if there is none.
        /// - Throws: `decode` for an item that is no key, and as for any value.
        public func retrieve(_ query: SecItemQuery<SecKey>) throws(KeychainError) -> CryptoKey? {
            try item(query).map { (item) throws(KeychainError) in try key(item) }
        }

        /// Retrieves the first key that a query matches, the oldest.
        ///
        /// - Parameter query: The key.
        /// - Returns: Nil if there is none.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func retrieve(_ query: SecItemQuery<SecKey>) async throws(KeychainError) -> CryptoKey? {
            try await item(query).map { (item) throws(KeychainError) in try key(item) }
        }

        // MARK: Types of other libraries

        /// Stores a key of another library, for example of swift-crypto.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Throws: As for a ``CryptoKey``.
        public func store(
            _ key: some SecKeyConvertible,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) throws(KeychainError) {
            let key = try converted(key)
            try store(key, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Stores a key of another library, for example of swift-crypto.
        ///
        /// - Parameters:
        ///   - key: The key.
        ///   - query: The tag, and what else is known of it.
        ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
        ///   - ifExists: What happens if this very key is there already.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func store(
            _ key: some SecKeyConvertible,
            query: SecItemQuery<SecKey>,
            accessPolicy: AccessPolicy? = nil,
            ifExists: IfExists = .fail
        ) async throws(KeychainError) {
            let key = try converted(key)
            try await store(key, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
        }

        /// Retrieves the first key that a query matches, as a type of another library.
        ///
        /// - Parameter query: The key.
        /// - Returns: Nil if there is none.
        /// - Throws: `decode` for a key that is not of the type, and as for a ``CryptoKey``.
        public func retrieve<Key: SecKeyConvertible>(_ query: SecItemQuery<SecKey>) throws(KeychainError) -> Key? {
            try item(query).map { (item) throws(KeychainError) in try converted(item) }
        }

        /// Retrieves the first key that a query matches, as a type of another library.
        ///
        /// - Parameter query: The key.
        /// - Returns: Nil if there is none.
        /// - Throws: As the synchronous form, and `cancelled`.
        public func retrieve<Key: SecKeyConvertible>(_ query: SecItemQuery<SecKey>) async throws(KeychainError) -> Key?
        {
            try await item(query).map { (item) throws(KeychainError) in try converted(item) }
        }

        // MARK: Between items and keys

        private typealias KeyItem = (info: SecItemInfo<SecKey>, value: SecureBytes)

        private func prepared(
            _ key: CryptoKey,
            _ query: SecItemQuery<SecKey>
        ) throws(KeychainError) -> (query: SecItemQuery<SecKey>, value: SecureBytes) {
            do throws(KeychainError) {
                return (try key.completing(query), try key.externalRepresentation)
            } catch {
                throw located(error, .store)
            }
        }

        private func key(_ item: KeyItem) throws(KeychainError) -> CryptoKey {
            do throws(KeychainError) {
                return try CryptoKey(item.info, item.value)
            } catch {
                throw located(error, .retrieve)
            }
        }

        private func converted(_ key: some SecKeyConvertible) throws(KeychainError) -> CryptoKey {
            do throws(KeychainError) {
                return try CryptoKey(derRepresentation: key.derRepresentation)
            } catch {
                throw located(error, .store)
            }
        }

        private func converted<Key: SecKeyConvertible>(_ item: KeyItem) throws(KeychainError) -> Key {
            do {
                return try Key(x963Representation: item.value)
            } catch {
                // The conversion's own error is not passed on: its text may quote what it could not read.
                let error = KeychainError(
                    .decode,
                    "The item exists, but its key is not a \(Key.self). Retrieve it as the type it was stored as, or as a "
                        + "CryptoKey."
                )
                throw located(error, .retrieve)
            }
        }
    }
#endif
