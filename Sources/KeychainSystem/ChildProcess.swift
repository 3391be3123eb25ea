// SPDX-License-Identifier: MIT

package import Glibc
package import KeychainAPI
import Synchronization

/// A program that was started with pipes, or files, at its standard input and output (posix_spawn(3)).
package final class ChildProcess: Sendable {
    /// The process number; another process may have it after ``wait()`` or ``kill()``.
    package let identifier: pid_t
    /// What the program reads is written here, or is the file that it was given to read.
    package let input: FileDescriptor
    /// What the program prints is read here.
    package let output: FileDescriptor
    /// Its standard error is read here, if that is ``StandardError/pipe``.
    package let errors: FileDescriptor?
    private let end = Mutex<End?>(nil)

    /// Where a program's standard error goes.
    package enum StandardError {
        /// Where that of this process goes.
        case inherited
        /// Where the program's output goes.
        case output
        /// Into a pipe of its own.
        case pipe
    }

    private struct End {
        /// Nil if it is not known.
        let status: Int32?
    }

    /// Starts a program.
    ///
    /// It blocks no signal.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: Its arguments, without its name.
    ///   - environment: All of its environment.
    ///   - file: What it reads, nil for a pipe.
    ///   - errors: Where its standard error goes.
    /// - Throws: The system's error; `invalidParameter` for text with NUL.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String],
        reading file: FileDescriptor? = nil,
        errors: StandardError = .inherited
    ) throws(KeychainError) {
        let action = "‘\(path)’ could not be started"
        let words = [path] + arguments
        let variables = environment.map { "\($0)=\($1)" }
        guard !(words + variables).contains(where: { $0.utf8.contains(0) }) else { throw .system(EINVAL, action) }
        let (toChild, fromChild) = (try Self.pipe(action), try Self.pipe(action))
        let messages = errors == .pipe ? try Self.pipe(action) : nil

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, (file ?? toChild.reading).number, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild.writing.number, STDOUT_FILENO)
        let errorsTarget = errors == .output ? fromChild.writing : messages?.writing
        if let errorsTarget { posix_spawn_file_actions_adddup2(&actions, errorsTarget.number, STDERR_FILENO) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var process = pid_t()
        let number = Self.withCStrings(words) { words in
            Self.withCStrings(variables) { posix_spawn(&process, path, &actions, &attributes, words, $0) }
        }
        guard number == 0 else { throw .system(number, action) }
        (identifier, input, output) = (process, file ?? toChild.writing, fromChild.reading)
        self.errors = messages?.reading
    }

    /// Waits until the program has ended.
    ///
    /// - Returns: Its exit status, or 128 and the signal that ended it. Nil where someone else has waited for it: the
    ///   system itself, in a process that ignores SIGCHLD.
    @discardableResult
    package func wait() -> Int32? {
        // Left as it is at first, since its number has to stay its own as long as `kill` may be called.
        var end = siginfo_t()
        _ = retryingInterruptions { waitid(P_PID, id_t(identifier), &end, WEXITED | WNOWAIT) }
        return reap()
    }

    /// Ends the program without any warning, and waits until it has ended.
    package func kill() {
        end.withLock { end in
            if end == nil { _ = Glibc.kill(identifier, SIGKILL) }
        }
        reap()
    }

    @discardableResult
    private func reap() -> Int32? {
        end.withLock { end in
            if let end { return end.status }
            var raw: Int32 = 0
            let isKnown = retryingInterruptions { waitpid(identifier, &raw, 0) } == identifier
            let status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F
            end = End(status: isKnown ? status : nil)
            return end?.status
        }
    }

    private static func pipe(
        _ action: String
    ) throws(KeychainError) -> (reading: FileDescriptor, writing: FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        // Sockets, since they are born close-on-exec: no program that is started at the same moment keeps an end open.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system(errno, action) }
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }

    /// Calls a closure with texts as C strings and a null pointer after the last.
    private static func withCStrings<Result>(
        _ texts: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
