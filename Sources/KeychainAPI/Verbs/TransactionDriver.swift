// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc

/// The store as an open transaction sees it: what was there, with the transaction's own changes over it.
///
/// Unchecked: it is confined to the thread of the transaction's closure and to its duration, and refuses any other
/// use before it touches its state.
final class TransactionDriver: KeychainDriver, RecordWriter, @unchecked Sendable {
    /// A record as the transaction left it.
    private struct Change {
        /// The record as the store has it, nil if the transaction added it.
        let original: ItemRecord?
        /// The record now, nil if the transaction removed it.
        var current: ItemRecord?
        /// The new value, nil if it was not replaced.
        var value: SecureBytes?
    }

    private let base: any KeychainDriver
    private var writer: (any RecordWriter)?
    private let thread = pthread_self()
    /// What was changed, in the order of the first change of each record.
    private var changes: [Change] = []
    private var byReference: [UUID: Int] = [:]
    /// Which of the changed records has a key now.
    private var byKey: [PrimaryKey: Int] = [:]

    init(over base: any KeychainDriver, _ writer: any RecordWriter) {
        self.base = base
        self.writer = writer
    }

    var identifier: DriverIdentifier { base.identifier }
    var location: String { base.location }
    var capabilities: DriverCapabilities { base.capabilities.subtracting([.transactions, .changeEvents, .locking]) }
    var maximumValueSize: Int { base.maximumValueSize }
    var stamps: StampSource { base.stamps }

    /// Ends the transaction: from now on every use is refused.
    func end() {
        writer = nil
    }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        _ = try openWriter()
        return try body(self)
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        _ = try openWriter()
        return try body(self)
    }

    private func openWriter() throws(KeychainError) -> any RecordWriter {
        guard pthread_equal(thread, pthread_self()) != 0, let writer else {
            throw KeychainError(
                .invalidParameter,
                "The keychain of a transaction can only be used inside its closure, on the thread that runs it."
            )
        }
        return writer
    }

    func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
        var found = try openWriter().records(selection)
        found.removeAll { byReference[$0.reference] != nil }
        for change in changes(selection) {
            if let record = change.current, selection.matches(record) { found.append(record) }
        }
        return found
    }

    /// The changes that may match: a transaction of many stores looks for each of their keys.
    private func changes(_ selection: RecordSelection) -> ArraySlice<Change> {
        if let reference = selection.reference { return byReference[reference].map { changes[$0...$0] } ?? [] }
        if let key = selection.primaryKey { return byKey[key].map { changes[$0...$0] } ?? [] }
        return changes[...]
    }

    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
        let writer = try openWriter()
        guard let change = byReference[record.reference].map({ changes[$0] }) else {
            return try writer.value(of: record)
        }
        if let value = change.value { return value }
        guard let original = change.original else { throw .itemNotFound }
        return try writer.value(of: original)
    }

    func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
        for mutation in mutations {
            switch mutation {
            case .insert(let record, let value): change(record.reference, original: nil, to: record, value)
            case .update(let old, let new, let value): change(old.reference, original: old, to: new, value)
            case .delete(let record): change(record.reference, original: record, to: nil, nil)
            }
        }
    }

    private func change(_ reference: UUID, original: ItemRecord?, to current: ItemRecord?, _ value: SecureBytes?) {
        let known = byReference[reference]
        // An earlier mutation of the same commit may have given the key to another item.
        if let known, let key = changes[known].current?.primaryKey, byKey[key] == known { byKey[key] = nil }
        let number = known ?? changes.count
        if let current { byKey[current.primaryKey] = number }
        guard known == nil else {
            changes[number].current = current
            if let value { changes[number].value = value }
            return
        }
        changes.append(Change(original: original, current: current, value: value))
        byReference[reference] = number
    }

    /// The transaction as mutations of the store: removals first, so that a key that was freed can be used again.
    var mutations: [RecordMutation] {
        let removals = changes.compactMap { change in
            change.current == nil ? change.original.map { RecordMutation.delete($0) } : nil
        }
        return removals
            + changes.compactMap { change in
                switch (change.original, change.current) {
                case (let original?, let current?): .update(old: original, new: current, value: change.value)
                case (nil, let current?): change.value.map { .insert(current, $0) }
                case (_, nil): nil
                }
            }
    }
}
