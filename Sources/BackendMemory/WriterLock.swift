// SPDX-License-Identifier: MIT

import Dispatch
import KeychainAPI
import Synchronization

/// A lock between threads whose waiting ends with the call's deadline or cancellation.
final class WriterLock: Sendable {
    private struct State {
        var isHeld = false
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    func withLock<Result>(
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
