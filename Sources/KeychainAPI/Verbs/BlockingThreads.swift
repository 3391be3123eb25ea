// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Threads for calls that may block on a lock, a server or a person.
///
/// Not libdispatch's: on Linux its pool is as large as the machine has cores, and grows by one thread a second while all
/// of them are blocked, so that a few waiting calls would hold up every other one.
final class BlockingThreads: Sendable {
    static let shared = BlockingThreads(limit: 256)

    private struct State {
        var jobs: ArraySlice<@Sendable () -> Void> = []
        var threads = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Makes a pool without threads.
    ///
    /// - Parameter limit: How many threads there are at most; further jobs wait for one of them.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs a job, in the order of submission, on a thread that is made if all are busy and ends when nothing is left.
    ///
    /// - Returns: Whether a thread was made for it; if not, it may have to wait for one.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if needsThread { start() }
        return needsThread
    }

    private func start() {
        if DetachedThread.start({ self.work() }) { return }
        // The process may have no more threads. A job is never dropped: libdispatch has threads already, or waits.
        DispatchQueue.global().async { self.work() }
    }

    private func work() {
        while let job = next() { job() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let job = state.jobs.popFirst() { return job }
            state.threads -= 1
            return nil
        }
    }
}
