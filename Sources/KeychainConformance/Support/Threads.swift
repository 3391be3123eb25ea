// SPDX-License-Identifier: MIT

import Dispatch
import KeychainAPI
import Synchronization

/// Threads of their own for what blocks, so that no check depends on the size of a pool.
enum Threads {
    /// Runs a closure on a new thread and waits for it without blocking.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isRunning = DetachedThread.start { continuation.resume(with: Swift.Result { try body() }) }
            if !isRunning { continuation.resume(throwing: noThread) }
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
            let isRunning = DetachedThread.start {
                start.wait()
                let result = Swift.Result { try body(index) }
                results.withLock { $0[index] = result }
                group.leave()
            }
            if !isRunning {
                results.withLock { $0[index] = .failure(noThread) }
                group.leave()
            }
        }
        start.open()
        group.wait()
        return results.withLock { results in (0..<count).compactMap { results[$0] } }
    }

    /// Runs a closure on a new thread that nobody waits for.
    static func detach(_ body: @escaping @Sendable () -> Void) throws(ConformanceFailure) {
        guard DetachedThread.start(body) else { throw noThread }
    }

    private static let noThread = ConformanceFailure("The process may have one more thread")

    /// Starts a closure on a new thread.
    static func start<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> Running<Result> {
        let running = Running<Result>()
        let isRunning = DetachedThread.start { running.finish(Swift.Result { try body() }) }
        if !isRunning { running.finish(.failure(noThread)) }
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
final class Gate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)

    func open() { isOpen.signal() }

    func wait() {
        isOpen.wait()
        // For the next one.
        isOpen.signal()
    }

    /// Waits for a time; whether the gate was opened.
    func wait(atMost patience: Duration) -> Bool {
        guard isOpen.wait(timeout: .now() + patience / .seconds(1)) == .success else { return false }
        isOpen.signal()
        return true
    }
}
