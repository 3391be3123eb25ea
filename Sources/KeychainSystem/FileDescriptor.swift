// SPDX-License-Identifier: MIT

package import Glibc
package import KeychainAPI

/// An open file, closed on release.
package final class FileDescriptor: Sendable {
    /// The descriptor's number.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) {
        self.number = number
    }

    /// Opens a file; close-on-exec is always set.
    ///
    /// - Throws: The system's error, with the action in front; `invalidParameter` for a path with NUL, which the system
    ///   would take for a shorter one.
    package convenience init(
        _ path: String,
        _ flags: Int32,
        mode: mode_t = 0o600,
        action: @autoclosure () -> String
    ) throws(KeychainError) {
        guard !path.utf8.contains(0) else { throw .system(EINVAL, action()) }
        let number = retryingInterruptions { Glibc.open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw .system(errno, action()) }
        self.init(owning: number)
    }

    /// The file's status.
    package func status() throws(KeychainError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .system(errno, "A file could not be examined") }
        return status
    }

    /// Waits until there is something to read, and reads it; for a file that was opened with `O_NONBLOCK`.
    ///
    /// Opening a pipe without that would wait for its other end, past every deadline.
    ///
    /// - Parameters:
    ///   - target: Where the bytes go.
    ///   - call: Deadline and cancellation.
    ///   - action: What is being done, for an error.
    /// - Returns: How many bytes there were, 0 at the end.
    /// - Throws: `timedOut`, `cancelled`, or the system's error with the action in front.
    package func read(
        into target: UnsafeMutableRawBufferPointer,
        _ call: CallContext,
        action: @autoclosure () -> String
    ) throws(KeychainError) -> Int {
        var wait = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        while true {
            // A little at a time: a cancellation wakes no one here.
            while poll(&wait, 1, 50) == 0 { try call.check() }
            let count = retryingInterruptions { Glibc.read(number, target.baseAddress, target.count) }
            if count < 0, errno == EAGAIN { continue }
            guard count >= 0 else { throw .system(errno, action()) }
            return count
        }
    }

    deinit {
        _ = close(number)
    }
}

/// Repeats a system call while it is interrupted by a signal.
package func retryingInterruptions<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension stat {
    /// Refuses a file that its group or others may touch.
    ///
    /// - Parameters:
    ///   - what: The file, as the subject of a sentence.
    ///   - path: Its path.
    /// - Throws: `insecurePermissions`.
    package func requireClosed(_ what: @autoclosure () -> String, path: String) throws(KeychainError) {
        guard st_mode & 0o077 == 0 else {
            throw KeychainError(
                .insecurePermissions,
                "\(what()) can be reached by others (mode \(String(st_mode & 0o777, radix: 8))). Close it with: "
                    + "chmod 600 '\(path)'"
            )
        }
    }
}
