// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI
import KeychainSystem
import Synchronization

/// Tells a command, wherever it waits, that it should end.
///
/// Whoever waits for input polls ``descriptor`` beside it, so that neither a signal nor a deadline is missed.
package final class Interrupt: Sendable {
    private let signal = Mutex<Int32?>(nil)
    private let receiver = Mutex<(@Sendable (Int32) -> Void)?>(nil)
    private let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor

    /// Makes one that has not fired.
    ///
    /// - Throws: `io` if the process may not open more files.
    package init() throws(KeychainError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .system(errno, "A pipe could not be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = FileDescriptor(owning: ends[0])
        writeEnd = FileDescriptor(owning: ends[1])
    }

    /// Becomes readable once it has fired, and stays so.
    var descriptor: Int32 { readEnd.number }

    /// The signal that it fired with.
    package var firedSignal: Int32? { signal.withLock { $0 } }

    /// Hands the signals that come from now on to a closure, instead of ending anything.
    func passOn(_ receiver: @escaping @Sendable (Int32) -> Void) {
        self.receiver.withLock { $0 = receiver }
    }

    /// Whether signals are handed to someone.
    var isPassingOn: Bool { receiver.withLock { $0 != nil } }

    /// Hands a signal on; false if there is no one to take it.
    func isPassedOn(_ number: Int32) -> Bool {
        guard let receiver = receiver.withLock({ $0 }) else { return false }
        receiver(number)
        return true
    }

    /// Fires; a second time does nothing.
    package func fire(_ number: Int32) {
        let isFirst = signal.withLock { signal in
            defer { signal = signal ?? number }
            return signal == nil
        }
        guard isFirst else { return }
        var byte: UInt8 = 0
        _ = write(writeEnd.number, &byte, 1)
    }

    /// Waits until a descriptor can be read.
    ///
    /// - Parameters:
    ///   - input: The descriptor.
    ///   - deadline: When to give up.
    /// - Throws: `cancelled` after ``fire(_:)``, `timedOut` after the deadline.
    func waitUntilReadable(_ input: Int32, deadline: ContinuousClock.Instant?) throws(KeychainError) {
        while true {
            var waits = [
                pollfd(fd: input, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waits, nfds_t(waits.count), try Self.milliseconds(until: deadline))
            let number = errno
            if waits[1].revents != 0 { throw KeychainError(.cancelled, "The command was interrupted.") }
            if count > 0 { return }
            if count < 0, number != EINTR { throw .system(number, "The input cannot be waited for") }
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) throws(KeychainError) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline - ContinuousClock.now
        guard left > .zero else {
            throw KeychainError(.timedOut, "Nothing was entered in time. Allow more time with --timeout.")
        }
        // Rounded up, so as not to spin through the last millisecond.
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
