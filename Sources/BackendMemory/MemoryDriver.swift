// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI
import Synchronization

/// A store in memory, for test suites and for secrets that must not outlive the process.
///
/// Each instance is a store of its own, so tests that run in parallel do not see each other. Values live in
/// `SecureBytes`, and the store goes with its last reference.
///
/// ```swift
/// let driver = try MemoryDriver { (keychain) throws(KeychainError) in
///     try keychain.store("s3cret", query: .credential(for: "OpenAI"))
/// }
/// driver.inject(.locked)
/// ```
public final class MemoryDriver: KeychainDriver {
    private struct Entry {
        let record: ItemRecord
        let value: SecureBytes
    }

    /// Everything that is stored; a copy is a snapshot, and costs nothing until the next commit.
    private struct State {
        var entries: [UUID: Entry] = [:]
        var byKey: [PrimaryKey: Entry] = [:]

        mutating func apply(_ mutation: RecordMutation) {
            switch mutation {
            case .insert(let record, let value):
                put(Entry(record: record, value: value))
            case .update(let old, let new, let value):
                guard let entry = entries[old.reference] else { return }
                forgetKey(of: entry.record)
                put(Entry(record: new, value: value ?? entry.value))
            case .delete(let record):
                guard let entry = entries.removeValue(forKey: record.reference) else { return }
                forgetKey(of: entry.record)
            }
        }

        /// An earlier mutation of the same commit may have given the key to another item.
        private mutating func forgetKey(of record: ItemRecord) {
            let key = record.primaryKey
            if byKey[key]?.record.reference == record.reference { byKey[key] = nil }
        }

        private mutating func put(_ entry: Entry) {
            entries[entry.record.reference] = entry
            byKey[entry.record.primaryKey] = entry
        }

        func records(_ selection: RecordSelection) -> [ItemRecord] {
            if let reference = selection.reference {
                return entries[reference].map { [$0.record] } ?? []
            }
            if let key = selection.primaryKey {
                return byKey[key].map { [$0.record] } ?? []
            }
            return entries.values.map(\.record).filter(selection.matches)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            guard let entry = entries[record.reference] else { throw .itemNotFound }
            return entry.value
        }
    }

    /// The driver's kind: `memory`.
    public let identifier: DriverIdentifier = .memory
    /// `memory:` and a random name, or the name in the URL that opened the store.
    public let location: String
    /// Transactions and change events, and locking while ``MemoryFault/lockedUntilUnlocked`` is injected.
    public var capabilities: DriverCapabilities {
        faults.playsLocking ? [.transactions, .changeEvents, .locking] : [.transactions, .changeEvents]
    }
    /// The largest value that the store takes, in bytes.
    public let maximumValueSize: Int
    /// Where the dates and references of new items come from.
    public let stamps: StampSource

    private let state = Mutex(State())
    private let observers = Mutex<[UUID: @Sendable () -> Void]>([:])
    private let writer = CallLock()
    private let faults = FaultScript()

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - stamps: Where dates and references come from; see ``ManualStamps``.
    ///   - maximumValueSize: The largest value that the store takes, in bytes.
    public convenience init(stamps: StampSource = .system, maximumValueSize: Int = 64 * 1024 * 1024) {
        self.init(name: UUID().uuidString, stamps: stamps, maximumValueSize: maximumValueSize)
    }

    /// Makes a store with a name, which no other one may have: equal locations mean the same items.
    init(name: String, stamps: StampSource = .system, maximumValueSize: Int = 64 * 1024 * 1024) {
        location = "memory:\(name)"
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
    ///   - operation: The verb that it happens to, nil for all.
    ///   - afterCalls: How many calls succeed before.
    ///   - times: How many calls it happens to, nil for all from then on.
    public func inject(
        _ fault: MemoryFault,
        into operation: KeychainOperation? = nil,
        afterCalls: Int = 0,
        times: Int? = nil
    ) {
        faults.inject(fault, into: operation, afterCalls: afterCalls, times: times)
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
        return try body(Snapshot(state: state.withLock { $0 }, faults: faults, call: call))
    }

    /// Runs a closure while no one else writes.
    public func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try faults.meet(call)
        return try writer.withLock(call) { () throws(KeychainError) in try body(Session(driver: self, call: call)) }
    }

    /// Calls a closure after each commit, before the committing call returns.
    public func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        let key = UUID()
        observers.withLock { $0[key] = onChange }
        return ChangeObservation { [weak self] in
            // Carried out of the lock: what the closure holds may run code of its own when it is released.
            _ = self?.observers.withLock { $0.removeValue(forKey: key) }
        }
    }

    /// Locks the store while ``MemoryFault/lockedUntilUnlocked`` is injected; else throws `unsupported`.
    public func lock(_ call: CallContext) throws(KeychainError) {
        guard try faults.lock(call) else { throw Self.notLockable }
    }

    /// Unlocks the store while ``MemoryFault/lockedUntilUnlocked`` is injected; else throws `unsupported`.
    public func unlock(_ call: CallContext) throws(KeychainError) {
        guard try faults.unlock(call) else { throw Self.notLockable }
    }

    private struct Snapshot: RecordReader {
        let state: State
        let faults: FaultScript
        let call: CallContext

        func records(_ selection: RecordSelection) -> [ItemRecord] { state.records(selection) }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try faults.meetValue(call)
            return try state.value(of: record)
        }
    }

    private struct Session: RecordWriter {
        let driver: MemoryDriver
        let call: CallContext

        func records(_ selection: RecordSelection) -> [ItemRecord] {
            driver.state.withLock { $0.records(selection) }
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try driver.faults.meetValue(call)
            return try driver.state.withLock { (state) throws(KeychainError) in try state.value(of: record) }
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            driver.state.withLock { state in
                for mutation in mutations { state.apply(mutation) }
            }
            for observer in driver.observers.withLock({ Array($0.values) }) { observer() }
        }
    }
}
