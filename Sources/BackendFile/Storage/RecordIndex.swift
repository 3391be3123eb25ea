// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    /// What a store contains, in memory: every record and the place of its value; no value.
    struct RecordIndex: Sendable {
        /// One item.
        struct Entry: Sendable {
            var record: ItemRecord
            var value: ValuePlace
            /// How many bytes of the file describe the item, its value included.
            var byteCount: UInt64
        }

        private var entries: [UUID: Entry] = [:]
        private var references: [PrimaryKey: UUID] = [:]
        /// How many bytes of the file are about items that are there.
        private(set) var liveByteCount: UInt64 = 0

        /// How many items there are.
        var count: Int { entries.count }

        /// Every item, in any order.
        var all: some Collection<Entry> { entries.values }

        /// An item.
        ///
        /// - Complexity: O(1).
        subscript(reference: UUID) -> Entry? { entries[reference] }

        /// The records that match.
        ///
        /// - Complexity: O(1) for a reference or a full primary key, else O(n) in the number of items.
        func records(_ selection: RecordSelection) -> [ItemRecord] {
            let candidate: ItemRecord?
            if let reference = selection.reference {
                candidate = entries[reference]?.record
            } else if let key = selection.primaryKey {
                candidate = references[key].flatMap { entries[$0]?.record }
            } else {
                return entries.values.lazy.map(\.record).filter { selection.matches($0) }
            }
            return candidate.map { selection.matches($0) ? [$0] : [] } ?? []
        }

        /// What the operations would leave of each item that they touch, nil for one that is gone.
        ///
        /// - Throws: `internal` if they do not fit the contents: an item to be added exists, another does not, or a
        ///   primary key would not be unique.
        func outcome(of operations: [RecordOperation]) throws(KeychainError) -> [UUID: Entry?] {
            var outcome: [UUID: Entry?] = [:]
            for operation in operations {
                let current = outcome[operation.reference] ?? entries[operation.reference]
                guard (operation.kind == .insert) == (current == nil) else {
                    throw Self.contradiction(
                        operation.kind == .insert ? "an item exists already" : "an item is missing"
                    )
                }
                guard let record = operation.record else {
                    outcome[operation.reference] = .some(nil)
                    continue
                }
                guard let value = operation.value ?? current?.value else {
                    throw Self.contradiction("an item has no value")
                }
                outcome[operation.reference] = Entry(
                    record: record,
                    value: value,
                    byteCount: UInt64(operation.encodedCount) + UInt64(value.sealedCount)
                )
            }
            try requireUniqueKeys(outcome)
            return outcome
        }

        /// Changes the contents to an outcome.
        mutating func apply(_ outcome: [UUID: Entry?]) {
            for reference in outcome.keys {
                guard let old = entries[reference] else { continue }
                references[old.record.primaryKey] = nil
                liveByteCount -= old.byteCount
            }
            for (reference, entry) in outcome {
                entries[reference] = entry
                guard let entry else { continue }
                references[entry.record.primaryKey] = reference
                liveByteCount += entry.byteCount
            }
        }

        private func requireUniqueKeys(_ outcome: [UUID: Entry?]) throws(KeychainError) {
            var added: Set<PrimaryKey> = []
            for case let entry? in outcome.values {
                let key = entry.record.primaryKey
                let isTaken = references[key].map { outcome[$0] == nil } ?? false
                guard !isTaken, added.insert(key).inserted else {
                    throw Self.contradiction("two items have one primary key")
                }
            }
        }

        private static func contradiction(_ finding: String) -> KeychainError {
            KeychainError(
                .internal,
                "A change does not fit what the keychain file contains: \(finding). Please report it."
            )
        }
    }
#endif
