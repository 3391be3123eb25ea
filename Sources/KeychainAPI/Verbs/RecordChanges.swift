// SPDX-License-Identifier: MIT

import FoundationEssentials

/// The changes of the records of some selections, whatever their classes; see ``KeychainChanges``.
package struct RecordChanges: Sendable {
    /// One change of a record.
    package enum Change: Sendable {
        /// A record began to match.
        case added(ItemRecord)
        /// A record that matches was changed.
        case updated(ItemRecord)
        /// A record ceased to match; as it was before.
        case removed(ItemRecord)
        /// Something changed that cannot be told record by record.
        case invalidated
    }

    private let keychain: Keychain
    private let selections: [RecordSelection]
    private let baseline: [UUID: ItemRecord]
    private let ticks: AsyncStream<Void>
    private let observation: ChangeObservation

    init(_ keychain: Keychain, _ selections: [RecordSelection], _ call: CallContext) throws(KeychainError) {
        let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Watched before it is looked at: a change in between is then seen, at worst twice.
        do throws(KeychainError) {
            observation = try keychain.driver.observeChanges { continuation.yield() }
        } catch {
            throw keychain.located(error, call)
        }
        self.keychain = keychain
        self.selections = selections
        self.ticks = ticks
        baseline = try keychain.everything(call)
    }

    /// Compares the store with what it held at the last look, whenever it was written to.
    package struct Iterator {
        private let changes: RecordChanges
        private var ticks: AsyncStream<Void>.Iterator
        private var seen: [UUID: ItemRecord]
        private var pending: ArraySlice<Change> = []
        /// Whether the store was written to since the last look that succeeded.
        private var isStale = false

        /// Makes the iterator.
        package init(_ changes: RecordChanges) {
            self.changes = changes
            ticks = changes.ticks.makeAsyncIterator()
            seen = changes.baseline
        }

        /// The next change; nil once the task is cancelled.
        ///
        /// - Parameter actor: The caller's isolation.
        /// - Throws: Why the store could not be looked at; the next call tries again.
        package mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(KeychainError) -> Change? {
            while true {
                if let change = pending.popFirst() { return change }
                if !isStale { guard await ticks.next(isolation: actor) != nil else { return nil } }
                isStale = true
                let now: [UUID: ItemRecord]
                do throws(KeychainError) {
                    now = try await changes.keychain.everything()
                } catch .cancelled {
                    return nil
                }
                isStale = false
                if now == seen {
                    pending = [.invalidated]
                } else {
                    pending = difference(now)[...]
                    seen = now
                }
            }
        }

        private func matches(_ record: ItemRecord) -> Bool {
            changes.selections.contains { $0.matches(record) }
        }

        private func difference(_ now: [UUID: ItemRecord]) -> [Change] {
            var events: [(order: ItemRecord, change: Change)] = []
            for (reference, old) in seen where matches(old) {
                if now[reference].map(matches) != true { events.append((old, .removed(old))) }
            }
            for (reference, new) in now where matches(new) {
                guard let old = seen[reference], matches(old) else {
                    events.append((new, .added(new)))
                    continue
                }
                if old != new { events.append((new, .updated(new))) }
            }
            events.sort { $0.order.modificationDate < $1.order.modificationDate }
            return events.map(\.change)
        }
    }
}

extension Keychain {
    /// The changes of what several queries match, from now on.
    ///
    /// - Parameter selections: What ``watched(_:)`` made of the queries.
    /// - Throws: As ``changes(matching:)``.
    package func recordChanges(_ selections: [RecordSelection]) async throws(KeychainError) -> RecordChanges {
        let call = call(.changes)
        return try await CallExecutor.run(call) { () throws(KeychainError) in
            try RecordChanges(self, selections, call)
        }
    }

    /// What a query selects for watching.
    ///
    /// - Throws: `invalidParameter` and `dataTooLarge` for what no store may see.
    package func watched<Item: SecItem>(_ query: SecItemQuery<Item>) throws(KeychainError) -> RecordSelection {
        try validate(query)
        return selection(query)
    }

    fileprivate func everything() async throws(KeychainError) -> [UUID: ItemRecord] {
        let call = CallContext(.changes, timeout: self.timeout, interaction: self.interaction.silent)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try everything(call) }
    }

    fileprivate func everything(_ call: CallContext) throws(KeychainError) -> [UUID: ItemRecord] {
        // Several items of other programs for one key are one here: what becomes of it is told, not refused.
        let keychain = with { $0.refusesDuplicates = false }
        let items = try keychain.read(call) { (reader) throws(KeychainError) in
            try keychain.matches(RecordSelection(), reader)
        }
        return Dictionary(items.map { ($0.record.reference, $0.record) }) { first, _ in first }
    }
}
