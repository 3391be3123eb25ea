// SPDX-License-Identifier: MIT

extension Keychain {
    /// Removes every item that a query matches.
    ///
    /// Of an identity the certificate is removed, and the key unless another certificate shares it.
    ///
    /// - Parameter query: The items; at least one attribute or a reference.
    /// - Returns: Whether there were any.
    /// - Throws: `invalidParameter` for an empty query (see `removeAll(includingSynchronizable:)`), and why the
    ///   store could not be written.
    @discardableResult
    public func remove<Item: SecItem>(_ query: SecItemQuery<Item>) throws(KeychainError) -> Bool {
        try remove(query, call(.remove))
    }

    /// Removes every item that a query matches.
    ///
    /// - Parameter query: The items; at least one attribute or a reference.
    /// - Returns: Whether there were any.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func remove<Item: SecItem>(_ query: SecItemQuery<Item>) async throws(KeychainError) -> Bool {
        let call = call(.remove)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try remove(query, call) }
    }

    /// Removes everything in the keychain's group.
    ///
    /// - Parameter includingSynchronizable: Whether items marked for synchronization are removed as well; if not, those
    ///   that a query of this keychain means.
    /// - Throws: Why the store could not be written. On a store without
    ///   ``DriverCapabilities/transactions`` some items may then be gone.
    public func removeAll(includingSynchronizable: Bool = false) throws(KeychainError) {
        try removeAll(nil, includingSynchronizable, call(.remove))
    }

    /// Removes everything in the keychain's group.
    ///
    /// - Parameter includingSynchronizable: Whether items marked for synchronization are removed as well; if not, those
    ///   that a query of this keychain means.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func removeAll(includingSynchronizable: Bool = false) async throws(KeychainError) {
        let call = call(.remove)
        try await CallExecutor.run(call) { () throws(KeychainError) in
            try removeAll(nil, includingSynchronizable, call)
        }
    }

    /// Removes every item of one class in the keychain's group.
    ///
    /// - Parameters:
    ///   - itemClass: The class, for example `GenericPassword.self`.
    ///   - includingSynchronizable: Whether items marked for synchronization are removed as well; if not, those that a
    ///     query of this keychain means.
    /// - Throws: As `removeAll(includingSynchronizable:)`.
    public func removeAll<Item: SecStorable>(
        of itemClass: Item.Type,
        includingSynchronizable: Bool = false
    ) throws(KeychainError) {
        try removeAll(Item.itemClass, includingSynchronizable, call(.remove))
    }

    /// Removes every item of one class in the keychain's group.
    ///
    /// - Parameters:
    ///   - itemClass: The class, for example `GenericPassword.self`.
    ///   - includingSynchronizable: Whether items marked for synchronization are removed as well; if not, those that a
    ///     query of this keychain means.
    /// - Throws: As `removeAll(includingSynchronizable:)`, and `cancelled`.
    public func removeAll<Item: SecStorable>(
        of itemClass: Item.Type,
        includingSynchronizable: Bool = false
    ) async throws(KeychainError) {
        let call = call(.remove)
        try await CallExecutor.run(call) { () throws(KeychainError) in
            try removeAll(Item.itemClass, includingSynchronizable, call)
        }
    }

    private func remove<Item>(_ query: SecItemQuery<Item>, _ call: CallContext) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try validate(query)
            guard !query.isEmpty else {
                throw KeychainError(
                    .invalidParameter,
                    "The query is empty and would remove every \(Item.itemClass). Set an attribute, or call removeAll."
                )
            }
        } catch {
            throw located(error, call)
        }
        return try write(call) { (writer) throws(KeychainError) in
            let found = try matches(query, writer)
            guard !found.isEmpty else { return false }
            try requireOne(found, namedBy: query)
            var removed = found.flatMap { [$0.record] + $0.shadowed }
            if Item.itemClass == .identity { removed += try unsharedKeys(of: found, writer) }
            try writer.commit(removed.map { .delete($0) })
            return true
        }
    }

    /// The keys of identities that no certificate shares which stays.
    private func unsharedKeys(
        of identities: [Match],
        _ reader: any RecordReader
    ) throws(KeychainError) -> [ItemRecord] {
        let removed = Set(identities.map(\.record.reference))
        var keys: [ItemRecord] = []
        for case let key? in identities.map(\.key) where !keys.contains(key) {
            var sharing = RecordSelection(
                itemClass: .certificate,
                accessGroup: key.accessGroup,
                isSynchronizable: key.isSynchronizable
            )
            sharing.attributes[.publicKeyHash] = key.attributes[.applicationLabel]
            let sharers = try matches(sharing, reader)
            if sharers.allSatisfy({ removed.contains($0.record.reference) }) { keys.append(key) }
        }
        return keys
    }

    private func removeAll(
        _ itemClass: ItemClass?,
        _ includingSynchronizable: Bool,
        _ call: CallContext
    ) throws(KeychainError) {
        let accessGroup = self.accessGroup
        do throws(KeychainError) { try Self.validate(accessGroup) } catch { throw located(error, call) }
        try write(call) { (writer) throws(KeychainError) in
            var mutations: [RecordMutation] = []
            for itemClass in itemClass.map({ [$0] }) ?? ItemClass.stored {
                let selection = RecordSelection(
                    itemClass: itemClass,
                    accessGroup: accessGroup.rawValue,
                    isSynchronizable: includingSynchronizable ? nil : self.synchronizable.flag
                )
                for match in try matches(selection, writer) {
                    mutations += ([match.record] + match.shadowed).map { .delete($0) }
                }
            }
            if !mutations.isEmpty { try writer.commit(mutations) }
        }
    }
}
