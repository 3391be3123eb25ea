// SPDX-License-Identifier: MIT

import FoundationEssentials
import Synchronization

/// The changes of a store from the moment the sequence was made, whoever made them.
///
/// Changes are told by comparing what the store holds with what it held at the last look, so several changes of one
/// item between two looks are one event. A slow reader never loses the fact that something changed: where the
/// comparison shows nothing although the store was written to, it gets ``KeychainChange/invalidated``.
///
/// The sequence is for one reader. It ends when the reader's task is cancelled, and stops watching when it is
/// released.
public struct KeychainChanges<Value: SecItem>: AsyncSequence, Sendable {
    /// What the sequence gives.
    public typealias Element = KeychainChange<Value>
    /// What the sequence throws.
    public typealias Failure = KeychainError

    let keychain: Keychain
    let query: SecItemQuery<Value>
    let baseline: [UUID: ItemRecord]
    let ticks: AsyncStream<Void>
    let observation: ChangeObservation

    /// Makes the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(changes: self)
    }

    /// Compares the store with what it held at the last look, whenever it was written to.
    public struct Iterator: AsyncIteratorProtocol {
        private let changes: KeychainChanges
        private var ticks: AsyncStream<Void>.Iterator
        private var seen: [UUID: ItemRecord]
        private var pending: ArraySlice<KeychainChange<Value>> = []
        /// Whether the store was written to since the last look that succeeded.
        private var isStale = false

        fileprivate init(changes: KeychainChanges) {
            self.changes = changes
            ticks = changes.ticks.makeAsyncIterator()
            seen = changes.baseline
        }

        /// The next change; nil once the task is cancelled.
        ///
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next() async throws(KeychainError) -> KeychainChange<Value>? {
            try await next(isolation: #isolation)
        }

        /// The next change; nil once the task is cancelled.
        ///
        /// - Parameter actor: The caller's isolation.
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(KeychainError) -> KeychainChange<Value>? {
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

        private func difference(_ now: [UUID: ItemRecord]) -> [KeychainChange<Value>] {
            let selection = changes.keychain.selection(changes.query)
            var events: [(order: ItemRecord, change: KeychainChange<Value>)] = []
            for (reference, old) in seen where selection.matches(old) {
                if now[reference].map(selection.matches) != true {
                    events.append((old, .removed(SecItemInfo(record: old))))
                }
            }
            for (reference, new) in now where selection.matches(new) {
                guard let old = seen[reference], selection.matches(old) else {
                    events.append((new, .added(SecItemInfo(record: new))))
                    continue
                }
                if old != new { events.append((new, .updated(SecItemInfo(record: new)))) }
            }
            events.sort { $0.order.modificationDate < $1.order.modificationDate }
            return events.map(\.change)
        }
    }
}

extension Keychain {
    /// The changes of the items that a query matches, from now on, also those that other processes make.
    ///
    /// Own writes are included. No values are read.
    ///
    /// - Parameter query: The items; an empty query means every item of the class in the keychain's group.
    /// - Throws: `unsupported` on a store without ``DriverCapabilities/changeEvents``, and why it could not be read.
    public func changes<Item: SecStorable>(
        matching query: SecItemQuery<Item>
    ) throws(KeychainError) -> KeychainChanges<Item> {
        try changes(query, call(.changes))
    }

    /// The changes of the items that a query matches, from now on, also those that other processes make.
    ///
    /// - Parameter query: The items; an empty query means every item of the class in the keychain's group.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func changes<Item: SecStorable>(
        matching query: SecItemQuery<Item>
    ) async throws(KeychainError) -> KeychainChanges<Item> {
        let call = call(.changes)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try changes(query, call) }
    }

    private func changes<Item>(
        _ query: SecItemQuery<Item>,
        _ call: CallContext
    ) throws(KeychainError) -> KeychainChanges<Item> {
        do throws(KeychainError) { try validate(query) } catch { throw located(error, call) }
        let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Watched before it is looked at: a change in between is then seen, at worst twice.
        let observation: ChangeObservation
        do throws(KeychainError) {
            observation = try driver.observeChanges { continuation.yield() }
        } catch {
            throw located(error, call)
        }
        return KeychainChanges(
            keychain: self,
            query: query,
            baseline: try everything(call),
            ticks: ticks,
            observation: observation
        )
    }

    fileprivate func everything() async throws(KeychainError) -> [UUID: ItemRecord] {
        let call = CallContext(.changes, timeout: timeout, interaction: .never)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try everything(call) }
    }

    private func everything(_ call: CallContext) throws(KeychainError) -> [UUID: ItemRecord] {
        let items = try read(call) { (reader) throws(KeychainError) in try matches(RecordSelection(), reader) }
        return Dictionary(items.map { ($0.record.reference, $0.record) }) { first, _ in first }
    }
}
