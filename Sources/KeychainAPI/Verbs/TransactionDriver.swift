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
    private var changes: [UUID: Change] = [:]
    private var order: [UUID] = []
    /// Which of the changed records has a key now.
    private var byKey: [PrimaryKey: UUID] = [:]

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
        let untouched = try openWriter().records(selection).filter { changes[$0.reference] == nil }
        return untouched + changed(selection).compactMap { changes[$0]?.current }.filter(selection.matches)
    }

    /// The changed records that may match: a transaction of many stores looks for each of their keys.
    private func changed(_ selection: RecordSelection) -> [UUID] {
        if let reference = selection.reference { return [reference] }
        if let key = selection.primaryKey { return byKey[key].map { [$0] } ?? [] }
        return order
    }

    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
        let writer = try openWriter()
        guard let change = changes[record.reference] else { return try writer.value(of: record) }
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
        // An earlier mutation of the same commit may have given the key to another item.
        if let key = changes[reference]?.current?.primaryKey, byKey[key] == reference { byKey[key] = nil }
        if let current { byKey[current.primaryKey] = reference }
        if var change = changes[reference] {
            change.current = current
            change.value = value ?? change.value
            changes[reference] = change
        } else {
            changes[reference] = Change(original: original, current: current, value: value)
            order.append(reference)
        }
    }

    /// The transaction as mutations of the store: removals first, so that a key that was freed can be used again.
    var mutations: [RecordMutation] {
        let changes = order.compactMap { self.changes[$0] }
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
