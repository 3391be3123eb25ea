// SPDX-License-Identifier: MIT

public import KeychainAPI

extension Keychain {
    /// Stores items from outside of any keychain: all of them, or none.
    ///
    /// They come into this keychain's group, with its access policy and synchronizability.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - ifExists: What happens if there is an item with the same primary key.
    /// - Returns: How many were stored, and how many were left out because they are there.
    /// - Throws: `duplicateItem` as `ifExists` says, and if two of the items have one primary key, with where both come
    ///   from; `invalidParameter` and `dataTooLarge` for what no store takes; and why the store could not be written.
    ///   Then nothing was stored.
    @discardableResult
    public func importItems(
        _ items: [ImportedItem],
        ifExists: MigrationConflict
    ) throws(KeychainError) -> MigrationSummary {
        try importItems(items, ifExists, importing())
    }

    /// Stores items from outside of any keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - ifExists: What happens if there is an item with the same primary key.
    /// - Returns: How many were stored, and how many were left out because they are there.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func importItems(
        _ items: [ImportedItem],
        ifExists: MigrationConflict
    ) async throws(KeychainError) -> MigrationSummary {
        let call = importing()
        return try await CallExecutor.run(call) { () throws(KeychainError) in try importItems(items, ifExists, call) }
    }

    private func importItems(
        _ items: [ImportedItem],
        _ ifExists: MigrationConflict,
        _ call: CallContext
    ) throws(KeychainError) -> MigrationSummary {
        try requireDistinct(items)
        return try receive(incoming(items), ifExists: ifExists, call)
    }

    /// The items as this keychain takes them in.
    func incoming(_ items: [ImportedItem]) -> [MigrationItem] {
        items.map { MigrationItem($0.itemClass, $0.attributes, $0.value, in: self) }
    }

    /// Refuses two items that would be one, and says which: a store only knows that there are two.
    func requireDistinct(_ items: [ImportedItem]) throws(KeychainError) {
        var origins: [PrimaryKey: String] = [:]
        for item in items {
            guard let other = origins.updateValue(item.origin, forKey: item.primaryKey(in: self)) else { continue }
            throw KeychainError(
                .duplicateItem,
                "\(other) and \(item.origin) would be one item here. Leave one of them out, or give it other attributes."
            )
        }
    }
}
