// SPDX-License-Identifier: MIT

extension Keychain {
    /// Decides what becomes of an item in a migration: the item, changed or not, or nil to leave it out.
    ///
    /// What it throws ends the migration, and nothing is migrated.
    public typealias MigrationTransform = @Sendable (MigrationItem) throws(KeychainError) -> MigrationItem?

    /// Brings the items of one keychain into another one, of all classes, marked for synchronization or not: all of
    /// them, or none.
    ///
    /// The items in the target are new ones, with references and dates of their own. Items whose ``AccessPolicy`` keeps
    /// them on this device are left out of a migration to another store. A keychain into itself is nothing to do.
    ///
    /// ```swift
    /// try Keychain.migrate(from: file, to: .default, ifExists: .skip) { item in
    ///     guard item.attributes[.service] != .text("obsolete") else { return nil }
    ///     return item
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: Where the items are.
    ///   - target: Where they come to.
    ///   - scope: Which items.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - removingOriginals: Whether the items that came into the target are removed from the source, once they are there.
    ///     A crash in between leaves both: an item is never lost.
    ///   - transform: Changes items, or leaves them out.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: What was done.
    /// - Throws: `itemNotFound` if the source is empty; `duplicateItem` as `ifExists` says, or if two items would have one
    ///   key in the target; `unsupported` if all items must stay on this device; what the transform throws, and
    ///   `invalidParameter` for what it may not make; and why a store could not be read or written. Then nothing was
    ///   migrated. `busy` if an item changed while it was moved.
    /// - Complexity: All values are in memory at once.
    @discardableResult
    public static func migrate(
        from source: Keychain,
        to target: Keychain,
        scope: MigrationScope = .group,
        ifExists: MigrationConflict = .fail,
        removingOriginals: Bool = false,
        transform: MigrationTransform = { $0 },
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws(KeychainError) -> MigrationSummary {
        let migration = Migration(source, target, scope, ifExists, removingOriginals)
        return try migration.run(progress, transform)
    }

    /// Brings the items of one keychain into another one, of all classes, marked for synchronization or not: all of
    /// them, or none.
    ///
    /// - Parameters:
    ///   - source: Where the items are.
    ///   - target: Where they come to.
    ///   - scope: Which items.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - removingOriginals: Whether the items that came into the target are removed from the source.
    ///   - transform: Changes items, or leaves them out.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: What was done.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public static func migrate(
        from source: Keychain,
        to target: Keychain,
        scope: MigrationScope = .group,
        ifExists: MigrationConflict = .fail,
        removingOriginals: Bool = false,
        transform: @escaping MigrationTransform = { $0 },
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws(KeychainError) -> MigrationSummary {
        let migration = Migration(source, target, scope, ifExists, removingOriginals)
        return try await CallExecutor.run(migration.call) { () throws(KeychainError) in
            try migration.call.withCancellationHandler(migration.targetCall.cancel) { () throws(KeychainError) in
                try migration.run(progress, transform)
            }
        }
    }
}

extension Keychain {
    /// Brings all items of one keychain into another one, every group in its own, and with them what its store has besides.
    ///
    /// - Parameters:
    ///   - source: Where the items are.
    ///   - target: Where they come to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - additional: What comes along, as items of the target.
    /// - Throws: As `migrate(from:to:scope:ifExists:)`; `itemNotFound` only if nothing comes along either.
    package static func migrateEveryGroup(
        from source: Keychain,
        to target: Keychain,
        ifExists: MigrationConflict,
        adding additional: [MigrationItem]
    ) throws(KeychainError) -> MigrationSummary {
        try Migration(source, target, .everyGroup, ifExists, false, adding: additional).run({ _ in }, { $0 })
    }
}

/// One migration: what is asked for, and the two calls that do it.
private struct Migration {
    private let source: Keychain
    private let target: Keychain
    private let scope: MigrationScope
    private let conflict: MigrationConflict
    private let removesOriginals: Bool
    /// What comes into the target besides, and is not one of the source's items.
    private let additional: [MigrationItem]
    let call: CallContext
    let targetCall: CallContext

    init(
        _ source: Keychain,
        _ target: Keychain,
        _ scope: MigrationScope,
        _ conflict: MigrationConflict,
        _ removesOriginals: Bool,
        adding additional: [MigrationItem] = []
    ) {
        self.source = source
        self.target = target
        self.scope = scope
        self.conflict = conflict
        self.removesOriginals = removesOriginals
        self.additional = additional
        call = source.call(.migrate)
        targetCall = target.call(.migrate)
    }

    func run(
        _ progress: (MigrationProgress) -> Void,
        _ transform: Keychain.MigrationTransform
    ) throws(KeychainError) -> MigrationSummary {
        try validateGroups()
        var summary = MigrationSummary()
        let isOntoItself = scope == .everyGroup || source.accessGroup == target.accessGroup
        if source.isSameStore(as: target), isOntoItself { return summary }

        let all = try source.fetch(RecordSelection(), values: false, call).map(\.record)
        let records = scope == .everyGroup ? all : all.filter { $0.isIn(source.accessGroup) }
        summary.inOtherGroups = all.count - records.count
        guard !records.isEmpty || !additional.isEmpty else {
            throw source.located(all.isEmpty ? .itemNotFound : Self.elsewhere, call)
        }
        let selection = RecordSelection(accessGroup: scope == .group ? source.accessGroup.rawValue : nil)
        guard !additional.isEmpty || records.contains(where: { $0.mayLeave(source, for: target) }) else {
            throw source.located(Keychain.staysHere, call)
        }
        // What stays is not decrypted either.
        let leaving = try source.fetch(
            selection,
            values: true,
            call,
            where: { $0.mayLeave(source, for: target) },
            step: 64,
            progress: { progress(MigrationProgress(phase: .reading, completed: $0, total: $1)) }
        )
        summary.keptOnDevice = records.count { !$0.mayLeave(source, for: target) }
        var transfers = try transformed(leaving, transform)
        summary.leftOut = leaving.count - transfers.count
        do throws(KeychainError) { transfers += try target.transfers(of: additional) } catch {
            throw target.located(error, targetCall)
        }
        guard !transfers.isEmpty else { return summary }

        let received = try receive(transfers, progress)
        summary.migrated = received.count
        summary.skipped = transfers.count - received.count
        guard removesOriginals, !received.isEmpty else { return summary }

        progress(MigrationProgress(phase: .removing, completed: 0, total: received.count))
        try source.removeOriginals(of: received, in: target, call, targetCall)
        progress(MigrationProgress(phase: .removing, completed: received.count, total: received.count))
        return summary
    }

    private func receive(
        _ transfers: [Transfer],
        _ progress: (MigrationProgress) -> Void
    ) throws(KeychainError) -> [Transferred] {
        do throws(KeychainError) {
            return try target.receive(transfers, conflict, progress, targetCall)
        } catch {
            guard error.code == .duplicateItem else { throw error }
            throw target.located(Self.collision, targetCall)
        }
    }

    private static let collision = KeychainError(
        .duplicateItem,
        "An item is in the target already, or two items would become one there; nothing was migrated. Choose ifExists: .skip, "
            + ".replaceValue or .replace for the former, and let the transform keep the latter apart."
    )

    private static let elsewhere = KeychainError(
        .itemNotFound,
        "The store has items in other access groups alone. Migrate them with the scope everyGroup, or from a keychain with "
            + "their group."
    )

    private func validateGroups() throws(KeychainError) {
        do throws(KeychainError) { try Keychain.validate(source.accessGroup) } catch {
            throw source.located(error, call)
        }
        do throws(KeychainError) { try Keychain.validate(target.accessGroup) } catch {
            throw target.located(error, targetCall)
        }
    }

    private func transformed(
        _ items: [FetchedItem],
        _ transform: Keychain.MigrationTransform
    ) throws(KeychainError) -> [Transfer] {
        var transfers: [Transfer] = []
        for item in items {
            guard let value = item.value else { continue }
            let group = scope == .group ? target.accessGroup : AccessGroup(rawValue: item.record.accessGroup)
            do throws(KeychainError) {
                guard let changed = try transform(MigrationItem(item.record, group, value)) else { continue }
                transfers.append(
                    Transfer(source: item.record, target: try target.newRecord(of: changed), value: changed.value)
                )
            } catch {
                throw source.located(error, call)
            }
        }
        return transfers
    }
}
