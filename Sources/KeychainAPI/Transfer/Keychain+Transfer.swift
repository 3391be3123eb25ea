// SPDX-License-Identifier: MIT

import FoundationEssentials

/// One item on its way into another store.
struct Transfer {
    let source: ItemRecord
    /// The new item, before it is known whether there is one with its key.
    let target: ItemRecord
    let value: SecureBytes
}

/// One item that came into another store: where it came from, and how that store can go back to what it was.
struct Transferred {
    let source: ItemRecord
    let undo: RecordMutation?
}

extension ItemRecord {
    /// A new item, which nothing has stored yet.
    init(
        itemClass: ItemClass,
        accessGroup: AccessGroup,
        isSynchronizable: Bool,
        attributes: AttributeSet,
        _ stamps: StampSource
    ) {
        let now = stamps.now()
        self.init(
            reference: stamps.makeReference(),
            itemClass: itemClass,
            accessGroup: accessGroup.rawValue,
            isSynchronizable: isSynchronizable,
            attributes: attributes,
            creationDate: now,
            modificationDate: now
        )
    }

    /// Whether the item's policy lets it go from one keychain to another.
    func mayLeave(_ keychain: Keychain, for target: Keychain) -> Bool {
        keychain.isSameStore(as: target) || !staysOnDevice
    }

    /// Whether the item's policy keeps it on this device.
    var staysOnDevice: Bool { AccessPolicy(of: self).accessibility.isThisDeviceOnly }
}

extension Keychain {
    static let staysHere = KeychainError(
        .unsupported,
        "The items' policy keeps them on this device. Store them again without a ThisDeviceOnly policy."
    )

    func isSameStore(as target: Keychain) -> Bool { driver.location.isIdentical(to: target.driver.location) }

    /// Takes items of another keychain in: all of them, or none.
    ///
    /// - Parameters:
    ///   - conflict: What happens to an item whose key is taken.
    ///   - progress: Is told how many are ready, and once they are stored.
    /// - Returns: Those that were taken in.
    func receive(
        _ transfers: [Transfer],
        _ conflict: MigrationConflict,
        _ progress: (MigrationProgress) -> Void,
        _ call: CallContext
    ) throws(KeychainError) -> [Transferred] {
        if let sealed = transfers.first(where: \.target.isSealed) {
            do throws(KeychainError) { try preparePassword(for: AccessPolicy(of: sealed.target), call) } catch {
                throw located(error, call)
            }
        }
        func report(_ completed: Int) {
            progress(MigrationProgress(phase: .storing, completed: completed, total: transfers.count))
        }
        let received = try write(call) { (writer) throws(KeychainError) in
            var mutations: [RecordMutation] = []
            var received: [Transferred] = []
            for (index, transfer) in transfers.enumerated() {
                if index.isMultiple(of: 64) { report(index) }
                try validate(transfer.value)
                if try leavesOut(transfer, conflict, writer, call) { continue }
                let placed = try place(transfer.target, transfer.value, conflict.ifExists, writer, call)
                mutations.append(placed.mutation)
                received.append(Transferred(source: transfer.source, undo: try undo(placed.mutation, writer)))
            }
            try requireDistinctTargets(mutations)
            if !mutations.isEmpty { try writer.commit(mutations) }
            return received
        }
        report(transfers.count)
        return received
    }

    /// Whether an item is left out because the one that is there stays.
    private func leavesOut(
        _ transfer: Transfer,
        _ conflict: MigrationConflict,
        _ reader: any RecordReader,
        _ call: CallContext
    ) throws(KeychainError) -> Bool {
        guard conflict == .skip || conflict == .failIfDifferent,
            let taken = try matches(RecordSelection(transfer.target.primaryKey), reader).first?.record
        else { return false }
        if conflict == .skip { return true }
        // A password is ready if the new item takes one; for the other one alone no one is asked while the store is held.
        guard taken.isSealed == transfer.target.isSealed else { return false }
        return try opened(reader.value(of: taken), taken, call) == transfer.value
    }

    /// Two items of different groups may have one key in the target; then the copy is refused as a whole.
    func requireDistinctTargets(_ mutations: [RecordMutation]) throws(KeychainError) {
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

    /// Removes what was copied from here; if that fails, or something has changed meanwhile, the copies are taken back.
    func removeOriginals(
        of copied: [Transferred],
        in target: Keychain,
        _ call: CallContext,
        _ targetCall: CallContext
    ) throws(KeychainError) {
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
    }

    private func takeBack(
        _ copied: [Transferred],
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
                CallContext(call.operation, timeout: .seconds(30), interaction: self.interaction)
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
    private func remaining(_ copied: [Transferred], _ call: CallContext) throws(KeychainError) -> Set<UUID> {
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
}
