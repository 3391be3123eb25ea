// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Synchronization

/// A store that other programs write to as well, and whose calls a test can watch and break.
final class ForeignStore: KeychainDriver {
    struct Item: Sendable {
        var record: ItemRecord
        var value: SecureBytes
    }

    let identifier: DriverIdentifier = "foreign"
    let location: String
    let capabilities: DriverCapabilities = [.sharedWithOtherPrograms, .changeEvents]
    let maximumValueSize = 1 << 20
    /// Is called before each commit, without any lock.
    private let onCommit: @Sendable ([RecordMutation]) throws(KeychainError) -> Void
    private let items = Mutex<[Item]>([])
    private let calls = Mutex<[(operation: KeychainOperation, interaction: InteractionPolicy)]>([])
    private let onChange = Mutex<(@Sendable () -> Void)?>(nil)

    init(
        location: String = "foreign:\(UUID().uuidString)",
        onCommit: @escaping @Sendable ([RecordMutation]) throws(KeychainError) -> Void = { _ in }
    ) {
        self.location = location
        self.onCommit = onCommit
    }

    var records: [ItemRecord] { items.withLock { $0.map(\.record) }.sorted { $0.isOrderedBefore($1) } }

    var seenCalls: [(operation: KeychainOperation, interaction: InteractionPolicy)] { calls.withLock { $0 } }

    /// Writes an item as another program does: past every rule.
    func plant(
        _ value: String,
        _ attributes: [AttributeName: AttributeValue],
        created: Int64 = 0,
        modified: Int64 = 0
    ) {
        var set = AttributeSet()
        for (name, value) in attributes { set[name] = value }
        let record = ItemRecord(
            reference: UUID(),
            itemClass: .genericPassword,
            accessGroup: "",
            isSynchronizable: false,
            attributes: set,
            creationDate: ItemDate(microseconds: created),
            modificationDate: ItemDate(microseconds: modified)
        )
        items.withLock { $0.append(Item(record: record, value: SecureBytes(Data(value.utf8)))) }
    }

    /// Changes or removes records as another program does.
    func meddle(_ change: @Sendable (inout [Item]) -> Void) {
        items.withLock { change(&$0) }
    }

    /// Tells the observer that something may have changed.
    func announce() {
        onChange.withLock { $0 }?()
    }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        calls.withLock { $0.append((call.operation, call.interaction)) }
        return try body(Session(store: self))
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        calls.withLock { $0.append((call.operation, call.interaction)) }
        return try body(Session(store: self))
    }

    func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        self.onChange.withLock { $0 = onChange }
        return ChangeObservation {}
    }

    private struct Session: RecordWriter {
        let store: ForeignStore

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] { store.records }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            let item = store.items.withLock { items in items.first { $0.record.reference == record.reference } }
            guard let item else { throw .itemNotFound }
            return item.value
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            try store.onCommit(mutations)
            store.items.withLock { items in
                for mutation in mutations {
                    switch mutation {
                    case .insert(let record, let value): items.append(Item(record: record, value: value))
                    case .update(let old, let new, let value):
                        for index in items.indices where items[index].record.reference == old.reference {
                            items[index] = Item(record: new, value: value ?? items[index].value)
                        }
                    case .delete(let record): items.removeAll { $0.record.reference == record.reference }
                    }
                }
            }
            store.announce()
        }
    }
}
