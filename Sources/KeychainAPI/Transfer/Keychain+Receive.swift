// SPDX-License-Identifier: MIT

extension Keychain {
    /// Takes items in that come from outside of any keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - ifExists: What happens if there is an item with the same primary key.
    ///   - call: A call of this keychain; see ``importing()``.
    ///   - progress: Is told how far it is.
    /// - Throws: `duplicateItem` as `ifExists` says, or if two items have one key; `invalidParameter` and `dataTooLarge`
    ///   for what no store takes; and why the store could not be written.
    package func receive(
        _ items: [MigrationItem],
        ifExists: MigrationConflict,
        _ call: CallContext,
        progress: (MigrationProgress) -> Void = { _ in }
    ) throws(KeychainError) -> MigrationSummary {
        let transfers: [Transfer]
        do throws(KeychainError) { transfers = try self.transfers(of: items) } catch { throw located(error, call) }
        var summary = MigrationSummary()
        guard !transfers.isEmpty else { return summary }
        summary.migrated = try receive(transfers, ifExists, progress, call).count
        summary.skipped = transfers.count - summary.migrated
        return summary
    }

    /// A call that takes items in.
    package func importing() -> CallContext { call(.migrate) }

    /// Items on their way into this keychain, which are their own source.
    func transfers(of items: [MigrationItem]) throws(KeychainError) -> [Transfer] {
        try items.map { (item) throws(KeychainError) in
            let record = try newRecord(of: item)
            return Transfer(source: record, target: record, value: item.value)
        }
    }

    /// The new item that stands for another one here; refuses what the verbs would refuse.
    func newRecord(of item: MigrationItem) throws(KeychainError) -> ItemRecord {
        var attributes = item.attributes
        try Self.requireNoPolicy(in: attributes.map(\.name))
        let schema = AttributeSchema.schema(of: item.itemClass)
        for attribute in attributes { try Self.validate(attribute.name, attribute.value, schema) }
        try Self.validate(item.accessGroup)
        try item.accessPolicy.validate()
        item.accessPolicy.write(to: &attributes)
        return ItemRecord(
            itemClass: item.itemClass,
            accessGroup: item.accessGroup,
            isSynchronizable: item.isSynchronizable,
            attributes: attributes,
            driver.stamps
        )
    }
}
