// SPDX-License-Identifier: MIT

extension Keychain {
    /// Copies every item that a query matches to another keychain: all of them, or none.
    ///
    /// The copies are new items with references and dates of their own, in the other keychain's group. Items whose
    /// ``AccessPolicy`` keeps them on this device are left out of a copy to another store. Copying a keychain onto
    /// itself does nothing.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are copied to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: How many items were copied.
    /// - Throws: `itemNotFound` if none matches; `duplicateItem` as `ifExists` says; `unsupported` if all of them
    ///   must stay on this device. Then the target is unchanged.
    @discardableResult
    public func copy<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail,
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws(KeychainError) -> Int {
        try copy(query, to: target, ifExists, progress, call(.copy), target.call(.copy)).count
    }

    /// Copies every item that a query matches to another keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are copied to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: How many items were copied.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func copy<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws(KeychainError) -> Int {
        let call = call(.copy)
        let targetCall = target.call(.copy)
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try call.withCancellationHandler(targetCall.cancel) { () throws(KeychainError) in
                try copy(query, to: target, ifExists, progress, call, targetCall).count
            }
        }
    }

    /// Moves every item that a query matches to another keychain: all of them, or none.
    ///
    /// Within one store only the group changes, and references stay. To another store the items are copied and then
    /// removed here; if they cannot be removed, or have changed meanwhile, the copies are taken back, except for those
    /// that are the only ones left. A crash in between leaves both: an item is never lost.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are moved to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: How many items were moved.
    /// - Throws: As `copy(_:to:ifExists:progress:)`, and `busy` if an item changed while it was moved.
    @discardableResult
    public func move<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail,
        progress: @Sendable (MigrationProgress) -> Void = { _ in }
    ) throws(KeychainError) -> Int {
        try move(query, to: target, ifExists, progress, call(.move), target.call(.move))
    }

    /// Moves every item that a query matches to another keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are moved to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    ///   - progress: Is told how far it is, on the thread that does the work.
    /// - Returns: How many items were moved.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func move<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail,
        progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
    ) async throws(KeychainError) -> Int {
        let call = call(.move)
        let targetCall = target.call(.move)
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try call.withCancellationHandler(targetCall.cancel) { () throws(KeychainError) in
                try move(query, to: target, ifExists, progress, call, targetCall)
            }
        }
    }
}

extension Keychain {
    private func copy<Item>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        _ ifExists: IfExists,
        _ progress: (MigrationProgress) -> Void,
        _ call: CallContext,
        _ targetCall: CallContext
    ) throws(KeychainError) -> [Transferred] {
        do throws(KeychainError) { try Self.validate(target.accessGroup) } catch {
            throw target.located(error, targetCall)
        }
        let records = try fetch(query, values: false, call).map(\.record)
        guard !records.isEmpty else { throw located(.itemNotFound, call) }
        if isSameStore(as: target), records.allSatisfy({ $0.isIn(target.accessGroup) }) {
            return records.map { Transferred(source: $0, undo: nil) }
        }
        let mayLeave = { (record: ItemRecord) in record.mayLeave(self, for: target) }
        guard records.contains(where: mayLeave) else { throw located(Self.staysHere, call) }
        // What stays is not decrypted either.
        let leaving = try fetch(query, values: true, call, where: mayLeave, step: 64) {
            progress(MigrationProgress(phase: .reading, completed: $0, total: $1))
        }
        guard !leaving.isEmpty else { throw located(.itemNotFound, call) }
        let transfers = leaving.compactMap { item in
            item.value.map { Transfer(source: item.record, target: target.copy(of: item.record), value: $0) }
        }
        return try target.receive(transfers, MigrationConflict(ifExists), progress, targetCall)
    }

    /// A new item in this keychain with the attributes of another one.
    private func copy(of record: ItemRecord) -> ItemRecord {
        ItemRecord(
            itemClass: record.itemClass,
            accessGroup: self.accessGroup,
            isSynchronizable: record.isSynchronizable,
            attributes: record.attributes,
            driver.stamps
        )
    }

    private func move<Item>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        _ ifExists: IfExists,
        _ progress: (MigrationProgress) -> Void,
        _ call: CallContext,
        _ targetCall: CallContext
    ) throws(KeychainError) -> Int {
        if isSameStore(as: target) { return try moveWithinStore(query, to: target.accessGroup, ifExists, call) }
        let copied = try copy(query, to: target, ifExists, progress, call, targetCall)
        progress(MigrationProgress(phase: .removing, completed: 0, total: copied.count))
        try removeOriginals(of: copied, in: target, call, targetCall)
        progress(MigrationProgress(phase: .removing, completed: copied.count, total: copied.count))
        return copied.count
    }

    private func moveWithinStore<Item>(
        _ query: SecItemQuery<Item>,
        to group: AccessGroup,
        _ ifExists: IfExists,
        _ call: CallContext
    ) throws(KeychainError) -> Int {
        do throws(KeychainError) {
            try validate(query)
            try Self.validate(group)
        } catch {
            throw located(error, call)
        }
        // A move that takes over a policy may have to open a value, or to seal one.
        if ifExists == .replaceValue {
            do throws(KeychainError) {
                try preparePassword(for: .default, orThatOf: selection(query), call)
            } catch {
                throw located(error, call)
            }
        }
        return try write(call) { (writer) throws(KeychainError) in
            let found = try matches(query, writer)
            guard !found.isEmpty else { throw .itemNotFound }
            var mutations: [RecordMutation] = []
            for match in found where !match.record.isIn(group) {
                var moved = match.record
                moved.accessGroup = group.rawValue
                moved.touch(driver.stamps.now())
                let taken = try matches(RecordSelection(moved.primaryKey), writer).first
                if let taken {
                    switch ifExists {
                    case .fail: throw .duplicateItem
                    case .replaceValue:
                        moved.attributes = taken.record.attributes
                        moved.keepSealed(as: match.record)
                    case .replace: break
                    }
                    mutations += ([taken.record] + taken.shadowed).map { .delete($0) }
                }
                let value = try restored(match.record, as: moved, writer, call)
                mutations.append(.update(old: match.record, new: moved, value: value))
                mutations += match.shadowed.map { .delete($0) }
            }
            try requireDistinctTargets(mutations)
            if !mutations.isEmpty { try writer.commit(mutations) }
            return found.count
        }
    }
}
