// SPDX-License-Identifier: MIT

import Foundation
import Glibc
package import KeychainAPI
import Synchronization

/// A lock between threads and processes, on a file that exists for that alone.
///
/// `flock(2)` on a descriptor of its own: the kernel frees it when the process ends, however it ends, and the file
/// is left in place, since removing it would let two processes hold two locks of one name. The holder writes its
/// process number into the file, so that a waiter that gives up can say who holds it.
package final class ProcessLock: Sendable {
    private let path: String

    /// Makes a lock on a path; nothing is opened yet.
    package init(path: String) {
        self.path = path
    }

    /// Runs a closure while no other thread or process holds the lock.
    ///
    /// - Parameters:
    ///   - call: Deadline and cancellation of the wait; a call without a deadline waits thirty seconds.
    ///   - body: Runs on the calling thread.
    /// - Throws: `busy` with the holder's process number when the wait is over, `cancelled`, or what the body throws.
    package func withLock<Result>(
        _ call: CallContext,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let file = try lockedFile(call)
        let holder = Array("\(getpid())\n".utf8)
        // The number only serves a message; a full disk must not keep anyone from reading or freeing space.
        _ = ftruncate(file.number, 0)
        _ = pwrite(file.number, holder, holder.count, 0)
        defer { _ = flock(file.number, LOCK_UN) }
        return try body()
    }

    /// Opens and locks the file that has the name now: another one locks out nobody, should the file be removed.
    private func lockedFile(_ call: CallContext) throws(KeychainError) -> FileDescriptor {
        let limit = call.deadline ?? ContinuousClock.now + .seconds(30)
        while true {
            let file = try FileDescriptor(
                path,
                O_RDWR | O_CREAT | O_NOFOLLOW,
                action: "The lock file ‘\(path)’ could not be opened"
            )
            try acquire(file, call, limit)
            let held = try file.status()
            var named = stat()
            if lstat(path, &named) == 0, named.st_ino == held.st_ino, named.st_dev == held.st_dev { return file }
        }
    }

    private func acquire(
        _ file: FileDescriptor,
        _ call: CallContext,
        _ limit: ContinuousClock.Instant
    ) throws(KeychainError) {
        let start = ContinuousClock.now
        while retryingInterruptions({ flock(file.number, LOCK_EX | LOCK_NB) }) != 0 {
            let number = errno
            guard number == EWOULDBLOCK else { throw .system(number, "The lock file ‘\(path)’ could not be locked") }
            if call.isCancelled { try call.check() }
            guard ContinuousClock.now < limit else { throw busy(file) }
            usleep(Self.pause(afterWaiting: ContinuousClock.now - start))
        }
    }

    /// How many microseconds pass before the lock is asked for again.
    ///
    /// At first a quarter of the time waited, so that a short wait stays short; up to ten milliseconds, so that a long
    /// one costs nothing. From then on less and less: with many writers, who has waited longest asks most often, and no
    /// one who comes later takes the lock over and over.
    package static func pause(afterWaiting waited: Duration) -> UInt32 {
        let microseconds = waited / .microseconds(1)
        let patient = 10_000 - microseconds / 200
        return UInt32(max(200, min(200 + microseconds / 4, patient)))
    }

    private func busy(_ file: FileDescriptor) -> KeychainError {
        var buffer = [UInt8](repeating: 0, count: 24)
        let count = pread(file.number, &buffer, buffer.count, 0)
        let holder = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let who = holder.isEmpty ? "Another process" : "Process \(holder)"
        return KeychainError(
            .busy,
            "\(who) is writing to the store and holds ‘\(path)’. Try again when it is done, or allow more time."
        )
    }
}
