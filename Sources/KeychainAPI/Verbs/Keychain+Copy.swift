// SPDX-License-Identifier: MIT

import FoundationEssentials

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
    /// - Returns: How many items were copied.
    /// - Throws: `itemNotFound` if none matches; `duplicateItem` as `ifExists` says; `unsupported` if all of them
    ///   must stay on this device. Then the target is unchanged.
    @discardableResult
    public func copy<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail
    ) throws(KeychainError) -> Int {
        try copy(query, to: target, ifExists, call(.copy), target.call(.copy)).count
    }

    /// Copies every item that a query matches to another keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are copied to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    /// - Returns: How many items were copied.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func copy<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) -> Int {
        let call = call(.copy)
        let targetCall = target.call(.copy)
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try call.withCancellationHandler(targetCall.cancel) { () throws(KeychainError) in
                try copy(query, to: target, ifExists, call, targetCall).count
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
    /// - Returns: How many items were moved.
    /// - Throws: As `copy(_:to:ifExists:)`, and `busy` if an item changed while it was moved.
    @discardableResult
    public func move<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail
    ) throws(KeychainError) -> Int {
        try move(query, to: target, ifExists, call(.move), target.call(.move))
    }

    /// Moves every item that a query matches to another keychain: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - target: Where they are moved to.
    ///   - ifExists: What happens if the target has an item with the same primary key.
    /// - Returns: How many items were moved.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func move<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) -> Int {
        let call = call(.move)
        let targetCall = target.call(.move)
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try call.withCancellationHandler(targetCall.cancel) { () throws(KeychainError) in
                try move(query, to: target, ifExists, call, targetCall)
            }
        }
    }
}

extension Keychain {
    /// One item of a copy: where it came from, and how the target can go back to what it was.
    private struct Copied {
        let source: ItemRecord
        let undo: RecordMutation?
    }

    private func isSameStore(as target: Keychain) -> Bool { driver.location.isIdentical(to: target.driver.location) }

    private func copy<Item>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        _ ifExists: IfExists,
        _ call: CallContext,
        _ targetCall: CallContext
    ) throws(KeychainError) -> [Copied] {
        do throws(KeychainError) { try Self.validate(target.accessGroup) } catch {
            throw target.located(error, targetCall)
        }
        let records = try fetch(query, values: false, call).map(\.record)
        guard !records.isEmpty else { throw located(.itemNotFound, call) }
        if isSameStore(as: target), records.allSatisfy({ $0.isIn(target.accessGroup) }) {
            return records.map { Copied(source: $0, undo: nil) }
        }
        let mayLeave = { (record: ItemRecord) in
            isSameStore(as: target) || !AccessPolicy(of: record).accessibility.isThisDeviceOnly
        }
        guard records.contains(where: mayLeave) else {
            throw located(
                KeychainError(
                    .unsupported,
                    "The items' policy keeps them on this device. Store them again without a ThisDeviceOnly policy."
                ),
                call
            )
        }
        // What stays is not decrypted either.
        let leaving = try fetch(query, values: true, call, where: mayLeave)
        guard !leaving.isEmpty else { throw located(.itemNotFound, call) }
        return try target.write(targetCall) { (writer) throws(KeychainError) in
            var mutations: [RecordMutation] = []
            var copied: [Copied] = []
            for case let item in leaving {
                guard let value = item.value else { continue }
                let mutation = try target.place(target.copy(of: item.record), checked(value, target), ifExists, writer)
                mutations.append(mutation.mutation)
                copied.append(Copied(source: item.record, undo: try undo(mutation.mutation, writer)))
            }
            try requireDistinctTargets(mutations)
            try writer.commit(mutations)
            return copied
        }
    }

    private func checked(_ value: SecureBytes, _ target: Keychain) throws(KeychainError) -> SecureBytes {
        try target.validate(value)
        return value
    }

    /// Two items of different groups may have one key in the target; then the copy is refused as a whole.
    private func requireDistinctTargets(_ mutations: [RecordMutation]) throws(KeychainError) {
        var keys: Set<PrimaryKey> = []
        for mutation in mutations {
            switch mutation {
            case .insert(let record, _), .update(_, let record, _):
                guard keys.insert(record.primaryKey).inserted else { throw .duplicateItem }
            case .delete: break
            }
        }
    }

    private func undo(
        _ mutation: RecordMutation,
        _ reader: any RecordReader
    ) throws(KeychainError) -> RecordMutation? {
        switch mutation {
        case .insert(let record, _): .delete(record)
        case .update(let old, let new, _): .update(old: new, new: old, value: try reader.value(of: old))
        case .delete: nil
        }
    }

    /// A new item in this keychain with the attributes of another one.
    private func copy(of record: ItemRecord) -> ItemRecord {
        let now = driver.stamps.now()
        return ItemRecord(
            reference: driver.stamps.makeReference(),
            itemClass: record.itemClass,
            accessGroup: accessGroup.rawValue,
            isSynchronizable: record.isSynchronizable,
            attributes: record.attributes,
            creationDate: now,
            modificationDate: now
        )
    }

    private func move<Item>(
        _ query: SecItemQuery<Item>,
        to target: Keychain,
        _ ifExists: IfExists,
        _ call: CallContext,
        _ targetCall: CallContext
    ) throws(KeychainError) -> Int {
        if isSameStore(as: target) { return try moveWithinStore(query, to: target.accessGroup, ifExists, call) }
        let copied = try copy(query, to: target, ifExists, call, targetCall)
        do throws(KeychainError) {
            try write(call) { (writer) throws(KeychainError) in
                var removed: [ItemRecord] = []
                for item in copied {
                    guard let now = try matches(RecordSelection(item.source.primaryKey), writer).first,
                        now.record.reference == item.source.reference,
                        now.record.modificationDate == item.source.modificationDate
                    else {
                        throw KeychainError(.busy, "An item was changed while it was moved. Move it again.")
                    }
                    removed += [now.record] + now.shadowed
                }
                try writer.commit(removed.map { .delete($0) })
            }
        } catch let failure {
            try takeBack(copied, from: target, after: failure, targetCall)
            throw failure
        }
        return copied.count
    }

    private func takeBack(
        _ copied: [Copied],
        from target: Keychain,
        after failure: KeychainError,
        _ call: CallContext
    ) throws(KeychainError) {
        // With a call of its own: the deadline or cancellation that ended the move must not keep the copies.
        let cleanup = CallContext(call.operation, timeout: .seconds(30), interaction: call.interaction)
        do throws(KeychainError) {
            // A removal can have happened without being acknowledged. A copy that is the last one stays.
            let here = try remaining(
                copied,
                CallContext(call.operation, timeout: .seconds(30), interaction: interaction)
            )
            try target.write(cleanup) { (writer) throws(KeychainError) in
                var undo: [RecordMutation] = []
                for item in copied where here.contains(item.source.reference) {
                    guard let mutation = item.undo else { continue }
                    if let mutation = try target.current(mutation, writer) { undo.append(mutation) }
                }
                if !undo.isEmpty { try writer.commit(undo) }
            }
            guard here.count == copied.count else { throw KeychainError(.busy, "Some items were removed.") }
        } catch {
            throw KeychainError(
                failure.code,
                "\(failure.message) There are copies in \(target.location); look at both before you try again.",
                underlying: failure.underlying
            ).located(driver: driver.identifier, location: driver.location, operation: call.operation)
        }
    }

    /// The references of the items that are still where they were copied from.
    private func remaining(_ copied: [Copied], _ call: CallContext) throws(KeychainError) -> Set<UUID> {
        try read(call) { (reader) throws(KeychainError) in
            var here: Set<UUID> = []
            for item in copied {
                for record in try reader.records(RecordSelection(item.source.primaryKey))
                where record.reference == item.source.reference { here.insert(record.reference) }
            }
            return here
        }
    }

    /// The undoing of a copy, with the record as the driver knows it by now; nil if someone has removed the copy.
    ///
    /// Throws if someone has changed the copy: their change is not undone.
    private func current(
        _ mutation: RecordMutation,
        _ reader: any RecordReader
    ) throws(KeychainError) -> RecordMutation? {
        func found(_ record: ItemRecord) throws(KeychainError) -> ItemRecord? {
            let now = try reader.records(RecordSelection(record.primaryKey)).first { $0.reference == record.reference }
            guard let now else { return nil }
            let tick: Int64 = capabilities.contains(.wholeSecondModificationDates) ? 1_000_000 : 1
            guard now.modificationDate.microseconds / tick == record.modificationDate.microseconds / tick else {
                throw KeychainError(.busy, "A copy was changed while it was taken back.")
            }
            return now
        }
        switch mutation {
        case .delete(let record): return try found(record).map { .delete($0) }
        case .update(let old, let new, let value):
            return try found(old).map { .update(old: $0, new: new, value: value) }
        case .insert: return mutation
        }
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
                    case .replaceValue: moved.attributes = taken.record.attributes
                    case .replace: break
                    }
                    mutations += ([taken.record] + taken.shadowed).map { .delete($0) }
                }
                mutations.append(.update(old: match.record, new: moved, value: nil))
                mutations += match.shadowed.map { .delete($0) }
            }
            try requireDistinctTargets(mutations)
            if !mutations.isEmpty { try writer.commit(mutations) }
            return found.count
        }
    }
}
