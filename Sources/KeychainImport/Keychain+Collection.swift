// SPDX-License-Identifier: MIT

public import KeychainAPI

extension Keychain {
    /// Brings every item of a collection of the Secret Service into another keychain, whatever program wrote it: all of
    /// them, or none.
    ///
    /// What `migrate(from:to:)` brings comes as it does there, every group in its own. An item whose attributes are those
    /// of no class becomes a generic password: the service is the name of its schema, else its label, and the account
    /// is a JSON object of all its attributes.
    ///
    /// - Parameters:
    ///   - source: A keychain of a `SecretServiceDriver`, whose collection is meant.
    ///   - target: Where the items come to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    /// - Returns: What was done; each item of the collection is counted once.
    /// - Throws: `unsupported` for another kind of store; `itemNotFound` for an empty collection; `duplicateItem` as
    ///   `ifExists` says, or if two items of no class would be one in the target; and why a store could not be read or
    ///   written. Then nothing was stored.
    @discardableResult
    public static func importCollection(
        from source: Keychain,
        to target: Keychain,
        ifExists: MigrationConflict
    ) throws(KeychainError) -> CollectionSummary {
        try importCollection(from: source, to: target, ifExists, source.importing())
    }

    /// Brings every item of a collection of the Secret Service into another keychain, whatever program wrote it: all of
    /// them, or none.
    ///
    /// - Parameters:
    ///   - source: A keychain of a `SecretServiceDriver`, whose collection is meant.
    ///   - target: Where the items come to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    /// - Returns: What was done; each item of the collection is counted once.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public static func importCollection(
        from source: Keychain,
        to target: Keychain,
        ifExists: MigrationConflict
    ) async throws(KeychainError) -> CollectionSummary {
        let call = source.importing()
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try importCollection(from: source, to: target, ifExists, call)
        }
    }

    private static func importCollection(
        from source: Keychain,
        to target: Keychain,
        _ ifExists: MigrationConflict,
        _ call: CallContext
    ) throws(KeychainError) -> CollectionSummary {
        guard let driver = source.driver as? any UnclassifiedItemSource else {
            throw KeychainError(
                .unsupported,
                "\(source.location) has no items of other programs. Use Keychain.migrate."
            )
        }
        let found = try driver.unclassifiedItems(call)
        var items: [ImportedItem] = []
        for item in found.items {
            let foreign = ForeignAttributes(item.attributes, schema: nil, label: item.label)
            let (itemClass, attributes) = try foreign.item()
            items.append(ImportedItem(itemClass, attributes, item.value, origin: item.place))
        }
        try target.requireDistinct(items)
        let summary = try migrateEveryGroup(
            from: source,
            to: target,
            ifExists: ifExists,
            adding: target.incoming(items)
        )
        let handled = summary.migrated + summary.skipped + summary.keptOnDevice + summary.leftOut
        return CollectionSummary(
            migration: summary,
            unclassified: items.count,
            outdated: max(0, found.total - handled)
        )
    }
}
