// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

/// A lock between threads whose waiting ends with the call's deadline or cancellation.
///
/// Unchecked: the flag is only touched while the condition is locked.
final class WriterLock: @unchecked Sendable {
    private let condition = NSCondition()
    private var isHeld = false

    func withLock<Result>(
        _ call: CallContext,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try call.withCancellationHandler(wake) { () throws(KeychainError) in try acquire(call) }
        defer { release() }
        return try body()
    }

    private func acquire(_ call: CallContext) throws(KeychainError) {
        condition.lock()
        defer { condition.unlock() }
        while isHeld {
            try call.check()
            // At most a second at a time: NSCondition waits by the wall clock, which may be set back meanwhile.
            let pause = min(.seconds(1), call.remaining ?? .seconds(1))
            _ = condition.wait(until: Date(timeIntervalSinceNow: pause / .seconds(1)))
        }
        isHeld = true
    }

    private func release() {
        condition.lock()
        isHeld = false
        condition.signal()
        condition.unlock()
    }

    private func wake() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }
}
