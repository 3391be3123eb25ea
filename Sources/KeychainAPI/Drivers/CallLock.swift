// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// A lock between the calls of one process, in which waiting ends with a call's deadline or cancellation.
package final class CallLock: Sendable {
    private struct State {
        var isHeld = false
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Makes a lock that no call holds.
    package init() {}

    /// Runs a closure while no other call runs one under this lock.
    ///
    /// - Parameters:
    ///   - call: How long to wait.
    ///   - body: What only one call does at a time; it may not take the lock again.
    /// - Throws: `timedOut` or `cancelled` if the call ends before its turn, or what the body throws.
    package func withLock<Result>(
        _ call: CallContext,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if !take() { try wait(call) }
        defer { release() }
        return try body()
    }

    private func wait(_ call: CallContext) throws(KeychainError) {
        let turn = DispatchSemaphore(value: 0)
        state.withLock { $0.waiting.append(turn) }
        defer { state.withLock { $0.waiting.removeAll { $0 === turn } } }
        try call.withCancellationHandler({ turn.signal() }) { () throws(KeychainError) in
            while !take() {
                try call.check()
                let end = call.remaining.map { DispatchTime.now() + $0 / .seconds(1) }
                _ = turn.wait(timeout: end ?? .distantFuture)
            }
        }
    }

    private func take() -> Bool {
        state.withLock { state in
            defer { state.isHeld = true }
            return !state.isHeld
        }
    }

    /// Wakes all who wait: the first of them may just be giving up.
    private func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            return state.waiting
        }
        for turn in waiting { turn.signal() }
    }
}
