// SPDX-License-Identifier: MIT

extension Keychain {
    /// The item that an earlier call returned a reference to, in the form that is asked for; nil if it is gone.
    ///
    /// - Parameters:
    ///   - returning: What is returned; the value is only decrypted if it is asked for.
    ///   - value: What an earlier call returned for ``SecReturnType/persistentReference`` alone.
    /// - Throws: `invalidParameter` for a value or attributes, which name no item; and as `retrieve(_:query:)`.
    public func retrieve<Item: SecItem>(
        _ returning: SecReturnType,
        matching value: SecValue<Item>
    ) throws(KeychainError) -> SecValue<Item>? {
        try retrieve(returning, query: query(matching: value, .retrieve))
    }

    /// The item that an earlier call returned a reference to, in the form that is asked for; nil if it is gone.
    ///
    /// - Parameters:
    ///   - returning: What is returned; the value is only decrypted if it is asked for.
    ///   - value: What an earlier call returned for ``SecReturnType/persistentReference`` alone.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func retrieve<Item: SecItem>(
        _ returning: SecReturnType,
        matching value: SecValue<Item>
    ) async throws(KeychainError) -> SecValue<Item>? {
        try await retrieve(returning, query: query(matching: value, .retrieve))
    }

    /// Removes the item that an earlier call returned a reference to.
    ///
    /// - Parameter value: What an earlier call returned for ``SecReturnType/persistentReference`` alone.
    /// - Returns: Whether it was there.
    /// - Throws: `invalidParameter` for a value or attributes, which name no item; and as `remove(_:)`.
    @discardableResult
    public func remove<Item: SecItem>(matching value: SecValue<Item>) throws(KeychainError) -> Bool {
        try remove(query(matching: value, .remove))
    }

    /// Removes the item that an earlier call returned a reference to.
    ///
    /// - Parameter value: What an earlier call returned for ``SecReturnType/persistentReference`` alone.
    /// - Returns: Whether it was there.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func remove<Item: SecItem>(matching value: SecValue<Item>) async throws(KeychainError) -> Bool {
        try await remove(query(matching: value, .remove))
    }

    private func query<Item: SecItem>(
        matching value: SecValue<Item>,
        _ operation: KeychainOperation
    ) throws(KeychainError) -> SecItemQuery<Item> {
        guard case .persistentReference(let reference) = value else {
            throw located(
                KeychainError(
                    .invalidParameter,
                    "Only a persistent reference names an item. Ask for one with returning: .persistentReference."
                ),
                operation
            )
        }
        var query = SecItemQuery<Item>()
        query.persistentReference = reference
        return query
    }
}
