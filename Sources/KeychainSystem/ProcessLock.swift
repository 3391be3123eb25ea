// SPDX-License-Identifier: MIT

import FoundationEssentials
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
    private let guarded: String?

    /// Makes a lock on a path; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: The lock file.
    ///   - guarded: A file that the lock is about. If it exists it is locked as well, so that writers exclude each
    ///     other also when someone has removed the lock file while it was held.
    package init(path: String, guarding guarded: String? = nil) {
        self.path = path
        self.guarded = guarded
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
        let limit = call.deadline ?? ContinuousClock.now + .seconds(30)
        let file = try lockedFile(call, limit)
        let holder = Array("\(getpid())\n".utf8)
        // The number only serves a message; a full disk must not keep anyone from reading or freeing space.
        // Written over the last one and then cut: a file that was emptied is written to the disk when it is closed, which
        // would take as long as the commit itself (ext4, auto_da_alloc).
        if pwrite(file.number, holder, holder.count, 0) == holder.count, try file.status().st_size > holder.count {
            _ = ftruncate(file.number, off_t(holder.count))
        }
        defer { file.unlock() }
        let guardedFile = try guarded.flatMap { (path) throws(KeychainError) in try lockedGuarded(path, call, limit) }
        defer { guardedFile?.unlock() }
        return try body()
    }

    /// Opens and locks the file that has the name now: another one locks out nobody, should the file be removed.
    private func lockedFile(
        _ call: CallContext,
        _ limit: ContinuousClock.Instant
    ) throws(KeychainError) -> FileDescriptor {
        while true {
            let file = try FileDescriptor(
                path,
                O_RDWR | O_CREAT | O_NOFOLLOW,
                action: "The lock file ‘\(path)’ could not be opened"
            )
            try acquire(file, call, limit)
            if try file.isNamed(path) { return file }
        }
    }

    /// Opens and locks the guarded file that has the name now, nil if there is none or it cannot be read: whether that
    /// is an error is for the body to say.
    private func lockedGuarded(
        _ path: String,
        _ call: CallContext,
        _ limit: ContinuousClock.Instant
    ) throws(KeychainError) -> FileDescriptor? {
        while let file = try? FileDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, action: "") {
            try acquire(file, call, limit)
            if try file.isNamed(path) { return file }
        }
        return nil
    }

    private func acquire(
        _ file: FileDescriptor,
        _ call: CallContext,
        _ limit: ContinuousClock.Instant
    ) throws(KeychainError) {
        let start = ContinuousClock.now
        while retryingInterruptions({ flock(file.number, LOCK_EX | LOCK_NB) }) != 0 {
            let number = errno
            guard number == EWOULDBLOCK else { throw .system(number, "The file ‘\(path)’ could not be locked") }
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
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        // The guarded file, unlike the lock file, does not begin with a process number.
        let holder = text.hasSuffix("\n") ? Int32(text.dropLast()) : nil
        let who = holder.map { "Process \($0)" } ?? "Another process"
        return KeychainError(
            .busy,
            "\(who) is writing to the store and holds ‘\(path)’. Try again when it is done, or allow more time."
        )
    }
}

extension FileDescriptor {
    /// Gives a lock of `flock(2)` back, which a copy of the descriptor in another process would otherwise keep.
    package func unlock() {
        _ = flock(number, LOCK_UN)
    }

    /// Whether a path leads to this file now.
    fileprivate func isNamed(_ path: String) throws(KeychainError) -> Bool {
        let own = try status()
        var named = stat()
        return lstat(path, &named) == 0 && named.st_ino == own.st_ino && named.st_dev == own.st_dev
    }
}
