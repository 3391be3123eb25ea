// SPDX-License-Identifier: MIT

import Foundation
public import KeychainAPI
import Synchronization

/// A store in memory, for test suites and for secrets that must not outlive the process.
///
/// Each instance is a store of its own, so tests that run in parallel do not see each other. Values live in
/// ``SecureBytes``, and the store goes with its last reference.
///
/// ```swift
/// let driver = try MemoryDriver { keychain in
///     try keychain.store("s3cret", query: .credential(for: "OpenAI"))
/// }
/// driver.inject(.locked)
/// ```
public final class MemoryDriver: KeychainDriver {
    private struct Entry {
        let record: ItemRecord
        let value: SecureBytes
    }

    private struct State {
        var entries: [UUID: Entry] = [:]
        var byKey: [PrimaryKey: UUID] = [:]
        var observers: [UUID: @Sendable () -> Void] = [:]

        mutating func apply(_ mutation: RecordMutation) {
            switch mutation {
            case .insert(let record, let value):
                put(Entry(record: record, value: value))
            case .update(let old, let new, let value):
                guard let entry = entries[old.reference] else { return }
                free(entry)
                put(Entry(record: new, value: value ?? entry.value))
            case .delete(let record):
                guard let entry = entries.removeValue(forKey: record.reference) else { return }
                free(entry)
            }
        }

        /// Gives up an entry's key, unless another entry of the same commit has taken it over already.
        private mutating func free(_ entry: Entry) {
            let key = entry.record.primaryKey
            if byKey[key] == entry.record.reference { byKey[key] = nil }
        }

        private mutating func put(_ entry: Entry) {
            entries[entry.record.reference] = entry
            byKey[entry.record.primaryKey] = entry.record.reference
        }
    }

    /// The driver's kind: `memory`.
    public let identifier: DriverIdentifier = .memory
    /// `memory:` and a name that no other instance has.
    public let location: String
    /// Transactions and change events.
    public let capabilities: DriverCapabilities = [.transactions, .changeEvents]
    /// The largest value that the store takes, in bytes.
    public let maximumValueSize: Int
    /// Where the dates and references of new items come from.
    public let stamps: StampSource

    private let state = Mutex(State())
    private let writer = WriterLock()
    private let faults = FaultScript()

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - name: A name for the location; without one, the store has a random name.
    ///   - stamps: Where dates and references come from; see ``ManualStamps``.
    ///   - maximumValueSize: The largest value that the store takes, in bytes.
    public init(name: String? = nil, stamps: StampSource = .system, maximumValueSize: Int = 64 * 1024 * 1024) {
        location = "memory:\(name ?? UUID().uuidString)"
        self.stamps = stamps
        self.maximumValueSize = maximumValueSize
    }

    /// Makes a store that holds items from the beginning.
    ///
    /// - Parameters:
    ///   - stamps: Where dates and references come from; see ``ManualStamps``.
    ///   - preload: Stores the items.
    /// - Throws: What the closure throws.
    public convenience init(
        stamps: StampSource = .system,
        preload: (Keychain) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        self.init(stamps: stamps)
        try preload(Keychain(driver: self))
    }

    /// Every record, oldest first: what a test asserts about the store.
    ///
    /// - Complexity: O(n log n).
    public var records: [ItemRecord] {
        state.withLock { $0.entries.values.map(\.record) }.sorted { $0.isOrderedBefore($1) }
    }

    /// How many calls have reached the store.
    public var callCount: Int { faults.callCount }

    /// Lets calls fail, so that a test sees what its program does then.
    ///
    /// - Parameters:
    ///   - fault: What happens.
    ///   - afterCalls: How many calls succeed before.
    ///   - times: How many calls it happens to, nil for all from then on.
    public func inject(_ fault: MemoryFault, afterCalls: Int = 0, times: Int? = nil) {
        faults.inject(fault, afterCalls: afterCalls, times: times)
    }

    /// Lets calls succeed again.
    public func clearFaults() {
        faults.clear()
    }

    /// Runs a closure with the store as it is now; writers do not wait for it.
    public func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try faults.meet(call)
        return try body(Session(driver: self))
    }

    /// Runs a closure while no one else writes.
    public func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try faults.meet(call)
        return try writer.withLock(call) { () throws(KeychainError) in try body(Session(driver: self)) }
    }

    /// Calls a closure after each commit, before the committing call returns.
    public func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        let key = UUID()
        state.withLock { $0.observers[key] = onChange }
        return ChangeObservation { [weak self] in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: key) }
        }
    }

    private struct Session: RecordWriter {
        let driver: MemoryDriver

        func records(_ selection: RecordSelection) -> [ItemRecord] {
            driver.state.withLock { state in
                if let reference = selection.reference {
                    return state.entries[reference].map { [$0.record] } ?? []
                }
                if let key = selection.primaryKey {
                    return state.byKey[key].flatMap { state.entries[$0] }.map { [$0.record] } ?? []
                }
                return state.entries.values.map(\.record).filter(selection.matches)
            }
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            guard let entry = driver.state.withLock({ $0.entries[record.reference] }) else { throw .itemNotFound }
            return entry.value
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            let observers = driver.state.withLock { state in
                for mutation in mutations { state.apply(mutation) }
                return Array(state.observers.values)
            }
            for observer in observers { observer() }
        }
    }
}
