// SPDX-License-Identifier: MIT

import Dispatch
import KeychainAPI
import Synchronization

/// Runs the command's task, and the calls that it makes, on the main thread, which has nothing else to do.
///
/// The default executor would start threads of libdispatch's first, which takes longer than most commands.
final class MainThread: TaskExecutor {
    private let jobs = Mutex<ArraySlice<UnownedJob>>([])
    private let count = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        count.signal()
    }

    /// Runs jobs as they come, until one of them has set a result.
    func run<Result: Sendable>(until result: borrowing Mutex<Result?>) -> Result {
        CallExecutor.runCallsOnThisThread()
        while true {
            if let result = result.withLock({ $0 }) { return result }
            count.wait()
            guard let job = jobs.withLock({ $0.popFirst() }) else { continue }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
