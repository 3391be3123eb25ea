// SPDX-License-Identifier: MIT

import Dispatch
import KeychainAPI
import Synchronization

/// The faults that a test has injected, and the counting of calls that they go by.
final class FaultScript: Sendable {
    private struct Entry {
        let fault: MemoryFault
        var skips: Int
        var times: Int?
    }

    private let state = Mutex<(calls: Int, entries: [Entry])>((0, []))

    var callCount: Int { state.withLock { $0.calls } }

    func inject(_ fault: MemoryFault, afterCalls: Int, times: Int?) {
        state.withLock { $0.entries.append(Entry(fault: fault, skips: afterCalls, times: times)) }
    }

    func clear() {
        state.withLock { $0.entries = [] }
    }

    /// Counts a call and lets happen to it what was injected.
    func meet(_ call: CallContext) throws(KeychainError) {
        for fault in due() { try happen(fault, call) }
    }

    private func due() -> [MemoryFault] {
        state.withLock { state in
            state.calls += 1
            var due: [MemoryFault] = []
            for index in state.entries.indices {
                if state.entries[index].skips > 0 {
                    state.entries[index].skips -= 1
                } else if state.entries[index].times != 0 {
                    state.entries[index].times = state.entries[index].times.map { $0 - 1 }
                    due.append(state.entries[index].fault)
                }
            }
            return due
        }
    }

    private func happen(_ fault: MemoryFault, _ call: CallContext) throws(KeychainError) {
        switch fault {
        case .locked: throw Self.locked
        case .unavailable: throw KeychainError(.unavailable, "The test made this store unavailable.")
        case .dismissed:
            guard call.allowsUnlockPrompt else { throw Self.locked }
            throw KeychainError(.userCanceled, "The test dismissed the prompt.")
        case .slow(let duration): try wait(duration, call)
        case .failing(let code): throw KeychainError(code, "The test made this call fail.")
        }
    }

    private static let locked = KeychainError(.interactionNotAllowed, "The test locked this store.")

    private func wait(_ duration: Duration, _ call: CallContext) throws(KeychainError) {
        let wake = DispatchSemaphore(value: 0)
        let end = ContinuousClock.now + duration
        try call.withCancellationHandler({ wake.signal() }) { () throws(KeychainError) in
            while ContinuousClock.now < end {
                try call.check()
                let pause = min(end - ContinuousClock.now, call.remaining ?? duration)
                _ = wake.wait(timeout: .now() + max(0.001, pause / .seconds(1)))
            }
        }
    }
}
