// SPDX-License-Identifier: MIT

import KeychainAPI
import Synchronization

/// A driver that counts what is asked of another one, and fails where a check wants it to.
final class SpyDriver: KeychainDriver {
    /// Where a fault happens.
    enum Stage: Hashable {
        case read
        case write
        case value
        case commit
    }

    private struct State {
        var counts: [Stage: Int] = [:]
        var faults: [Stage: KeychainError] = [:]
        var awaited: [(stage: Stage, count: Int, gate: Gate)] = []
    }

    private let base: any KeychainDriver
    private let limit: Int?
    private let state = Mutex(State())

    init(over keychain: Keychain, maximumValueSize: Int? = nil) {
        base = keychain.driver
        limit = maximumValueSize
    }

    var identifier: DriverIdentifier { base.identifier }
    var location: String { base.location }
    var capabilities: DriverCapabilities { base.capabilities }
    var maximumValueSize: Int { limit ?? base.maximumValueSize }
    var stamps: StampSource { base.stamps }

    /// How often a stage was reached.
    func count(_ stage: Stage) -> Int { state.withLock { $0.counts[stage] ?? 0 } }

    /// How often the driver was asked anything.
    var calls: Int { count(.read) + count(.write) }

    /// A gate that opens when a stage has been reached so many times.
    func gate(at stage: Stage, count: Int) -> Gate {
        let gate = Gate()
        state.withLock { state in
            state.awaited.append((stage, count, gate))
            if (state.counts[stage] ?? 0) >= count { gate.open() }
        }
        return gate
    }

    /// Lets every call fail at a stage from now on.
    func fail(at stage: Stage, with error: KeychainError) {
        state.withLock { $0.faults = [stage: error] }
    }

    /// Lets calls succeed again.
    func recover() {
        state.withLock { $0.faults = [:] }
    }

    fileprivate func pass(_ stage: Stage) throws(KeychainError) {
        let fault = state.withLock { state in
            state.counts[stage, default: 0] += 1
            for (stage, count, gate) in state.awaited where (state.counts[stage] ?? 0) >= count { gate.open() }
            return state.faults[stage]
        }
        if let fault { throw fault }
    }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try pass(.read)
        return try base.read(call) { (reader) throws(KeychainError) in try body(Reader(base: reader, spy: self)) }
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try pass(.write)
        return try base.write(call) { (writer) throws(KeychainError) in try body(Writer(base: writer, spy: self)) }
    }

    func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        try base.observeChanges(onChange)
    }

    private struct Reader: RecordReader {
        let base: any RecordReader
        let spy: SpyDriver

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try base.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try spy.pass(.value)
            return try base.value(of: record)
        }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            for _ in records { try spy.pass(.value) }
            return try base.values(of: records)
        }
    }

    private struct Writer: RecordWriter {
        let base: any RecordWriter
        let spy: SpyDriver

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try base.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try Reader(base: base, spy: spy).value(of: record)
        }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            try Reader(base: base, spy: spy).values(of: records)
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            try spy.pass(.commit)
            try base.commit(mutations)
        }
    }
}

extension Bench {
    /// The keychain with a spy between it and its driver.
    func spied(maximumValueSize: Int? = nil) -> (keychain: Keychain, spy: SpyDriver) {
        let spy = SpyDriver(over: keychain, maximumValueSize: maximumValueSize)
        return (Keychain(driver: spy, accessGroup: keychain.accessGroup), spy)
    }
}
