// SPDX-License-Identifier: MIT

extension Keychain {
    /// Stores a symmetric key.
    ///
    /// Type, class, sizes and what the key can do follow from it; what the query sets stays. Two keys with one tag are two
    /// items only if their application labels differ, which nothing is derived for.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - query: The tag, and what else is known of it.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if there is such an item.
    /// - Throws: `invalidParameter` for a query of another type or class, and as for any value.
    public func store(
        _ key: AESKey,
        query: SecItemQuery<SecKey>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) throws(KeychainError) {
        let query = try completed(query, key)
        try store(key.bytes, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
    }

    /// Stores a symmetric key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - query: The tag, and what else is known of it.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if there is such an item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func store(
        _ key: AESKey,
        query: SecItemQuery<SecKey>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) {
        let query = try completed(query, key)
        try await store(key.bytes, query: query, accessPolicy: accessPolicy, ifExists: ifExists)
    }

    private func completed(
        _ query: SecItemQuery<SecKey>,
        _ key: AESKey
    ) throws(KeychainError) -> SecItemQuery<SecKey> {
        let descriptor = SecKeyDescriptor.aesKey
        guard query.keyType ?? descriptor.keyType == descriptor.keyType,
            query.keyClass ?? descriptor.keyClass == descriptor.keyClass
        else {
            throw located(
                KeychainError(
                    .invalidParameter,
                    "The query is for another kind of key than an \(key). Give it the descriptor .aesKey."
                ),
                .store
            )
        }
        var query = query
        query.keyType = descriptor.keyType
        query.keyClass = descriptor.keyClass
        query.keySizeInBits = query.keySizeInBits ?? key.sizeInBits
        query.effectiveKeySize = query.effectiveKeySize ?? key.sizeInBits
        query.isPermanent = query.isPermanent ?? true
        query.canEncrypt = query.canEncrypt ?? true
        query.canDecrypt = query.canDecrypt ?? true
        query.canWrap = query.canWrap ?? true
        query.canUnwrap = query.canUnwrap ?? true
        query.canDerive = query.canDerive ?? false
        query.canSign = query.canSign ?? false
        query.canVerify = query.canVerify ?? false
        return query
    }
}
