// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import Synchronization

/// Runs the synchronous form of a verb for its asynchronous one, off the cooperative pool.
package enum CallExecutor {
    /// The thread that may block, 0 for none.
    private static let ownThread = Atomic<UInt>(0)

    /// From now on, calls that are made on this thread run where they are made.
    ///
    /// For the main thread of a program that runs one task on it and nothing else: it has no other work to hold up, and
    /// starting a thread would take longer than most calls.
    package static func runCallsOnThisThread() {
        ownThread.store(UInt(pthread_self()), ordering: .relaxed)
    }

    /// Runs a call on a thread that may block, and cancels it when the task is cancelled.
    ///
    /// A call that has not begun ends at once when it is cancelled, and at its deadline, however busy the threads are.
    package static func run<Result: Sendable>(
        _ call: CallContext,
        _ body: @escaping @Sendable () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        if ownThread.load(ordering: .relaxed) == UInt(pthread_self()) { return try await runHere(call, body) }
        return try await runElsewhere(call, body)
    }

    // A function of its own: what one needs of the runtime is made ready where it begins.
    private static func runElsewhere<Result: Sendable>(
        _ call: CallContext,
        _ body: @escaping @Sendable () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        let waiting = WaitingCall<Result>()
        let cancel = { @Sendable () -> Void in
            call.cancel()
            waiting.take()?.resume(returning: .failure(CallContext.cancelled))
        }
        let outcome: Swift.Result<Result, KeychainError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.begin(continuation)
                // A task that was cancelled before had nothing to resume then.
                guard !call.isCancelled else { return cancel() }
                let hasThread = BlockingThreads.shared.submit {
                    guard let continuation = waiting.take() else { return }
                    continuation.resume(
                        returning: Swift.Result { () throws(KeychainError) -> Result in
                            try call.check()
                            return try body()
                        }
                    )
                }
                guard !hasThread, let remaining = call.remaining else { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + remaining / .seconds(1)) {
                    waiting.take()?.resume(returning: .failure(CallContext.timedOut))
                }
            }
        } onCancel: {
            cancel()
        }
        return try outcome.get()
    }

    private static func runHere<Result>(
        _ call: CallContext,
        _ body: () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        do {
            return try await withTaskCancellationHandler {
                try call.check()
                return try body()
            } onCancel: {
                call.cancel()
            }
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.internal, "The call failed with an error of an unknown kind.")
        }
    }
}

/// A call that no thread has begun yet; whoever takes its continuation resumes it.
private final class WaitingCall<Result: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Swift.Result<Result, KeychainError>, Never>

    private let continuation = Mutex<Continuation?>(nil)

    func begin(_ continuation: Continuation) {
        self.continuation.withLock { $0 = continuation }
    }

    func take() -> Continuation? {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
    }
}
