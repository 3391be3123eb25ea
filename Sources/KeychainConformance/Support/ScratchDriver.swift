// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

/// The other store of a copy: the simplest driver there can be, so that a check needs only one real one.
final class ScratchDriver: KeychainDriver {
    private let entries = Mutex<[UUID: (record: ItemRecord, value: SecureBytes)]>([:])
    private let writers = Mutex(())

    let identifier: DriverIdentifier = "scratch"
    let location = "scratch:\(UUID().uuidString)"
    let capabilities: DriverCapabilities
    let maximumValueSize = Int.max

    init(_ capabilities: DriverCapabilities = []) {
        self.capabilities = capabilities
    }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try body(Session(driver: self))
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try writers.withLock { (_) throws(KeychainError) in try body(Session(driver: self)) }
    }

    private struct Session: RecordWriter {
        let driver: ScratchDriver

        func records(_ selection: RecordSelection) -> [ItemRecord] {
            let records = driver.entries.withLock { $0.values.map(\.record) }
            // What other programs left is only asked whether it matches when several records have become one item.
            return driver.capabilities.contains(.sharedWithOtherPrograms) ? records : records.filter(selection.matches)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            guard let value = driver.entries.withLock({ $0[record.reference]?.value }) else { throw .itemNotFound }
            return value
        }

        func commit(_ mutations: [RecordMutation]) {
            driver.entries.withLock { entries in
                for mutation in mutations {
                    switch mutation {
                    case .insert(let record, let value): entries[record.reference] = (record, value)
                    case .update(let old, let new, let value):
                        guard let entry = entries[old.reference] else { continue }
                        entries[old.reference] = (new, value ?? entry.value)
                    case .delete(let record): entries[record.reference] = nil
                    }
                }
            }
        }
    }
}
