// SPDX-License-Identifier: MIT

import KeychainAPI
import KeychainSpy
import Synchronization

/// Counts what is asked of a driver, and fails it where a check wants it to.
final class Spy: CallWatcher {
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

    private let state = Mutex(State())

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

    func pass(_ stage: CallStage, _ call: CallContext) throws(KeychainError) {
        switch stage {
        case .read: try pass(.read)
        case .write: try pass(.write)
        case .search: break
        case .value: try pass(.value)
        case .commit: try pass(.commit)
        }
    }

    private func pass(_ stage: Stage) throws(KeychainError) {
        let fault = state.withLock { state in
            state.counts[stage, default: 0] += 1
            for (stage, count, gate) in state.awaited where (state.counts[stage] ?? 0) >= count { gate.open() }
            return state.faults[stage]
        }
        if let fault { throw fault }
    }
}

extension Bench {
    /// The keychain with a spy between it and its driver.
    func spied(maximumValueSize: Int? = nil) -> (keychain: Keychain, spy: Spy) {
        let spy = Spy()
        let driver = SpyDriver(over: keychain.driver, watcher: spy, maximumValueSize: maximumValueSize)
        return (Keychain(driver: driver, accessGroup: keychain.accessGroup), spy)
    }
}
