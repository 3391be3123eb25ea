// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Threads of their own for what blocks, so that no check depends on the size of a pool.
enum Threads {
    /// Runs a closure on a new thread and waits for it without blocking.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    /// Runs a closure on several threads at the same moment, and gives what each returned or threw.
    static func race<Result: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (Int) throws -> Result
    ) -> [Swift.Result<Result, any Error>] {
        let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
        let start = Gate()
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                start.wait()
                let result = Swift.Result { try body(index) }
                results.withLock { $0[index] = result }
                group.leave()
            }
        }
        start.open()
        group.wait()
        return results.withLock { results in (0..<count).compactMap { results[$0] } }
    }

    /// Starts a closure on a new thread.
    static func start<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> Running<Result> {
        let running = Running<Result>()
        Thread.detachNewThread { running.finish(Swift.Result { try body() }) }
        return running
    }

    /// A closure that runs on another thread.
    final class Running<Result: Sendable>: Sendable {
        private let result = Mutex<Swift.Result<Result, any Error>?>(nil)
        private let done = Gate()

        func finish(_ outcome: Swift.Result<Result, any Error>) {
            result.withLock { $0 = outcome }
            done.open()
        }

        /// What the closure returned or threw; nil if it has not ended within a time.
        func outcome(within patience: Duration) -> Swift.Result<Result, any Error>? {
            guard done.wait(atMost: patience) else { return nil }
            return result.withLock { $0 }
        }
    }
}

/// A gate that is opened once, and lets everyone through from then on.
///
/// Unchecked: the flag is only touched while the condition is locked.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false

    func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }

    func wait() {
        condition.lock()
        while !isOpen { condition.wait() }
        condition.unlock()
    }

    /// Waits for a time; whether the gate was opened.
    func wait(atMost patience: Duration) -> Bool {
        let end = ContinuousClock.now + patience
        condition.lock()
        defer { condition.unlock() }
        while !isOpen {
            let rest = end - ContinuousClock.now
            guard rest > .zero else { return false }
            _ = condition.wait(until: Date(timeIntervalSinceNow: rest / .seconds(1)))
        }
        return true
    }
}
