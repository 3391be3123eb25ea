// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// A program whose output is shown without the secrets that it was given.
struct MaskedProgram {
    /// The program and its arguments.
    let words: [String]
    /// What is hidden.
    let secrets: [EnvironmentSecret]
    /// Where its output goes.
    let io: CommandIO

    /// One of the two streams that are masked.
    private struct Stream {
        let reading: FileDescriptor
        let target: Int32
        var mask: OutputMask
        var isOpen = true
    }

    /// Runs it with the environment of this process until it ends.
    ///
    /// A signal that this process alone gets is passed on; one of the terminal reaches both by itself.
    ///
    /// - Returns: Its exit status; 128 and the signal that ended it; 127 or 126 if it could not be started.
    /// - Throws: The system's error.
    func run() throws(KeychainError) -> Int32 {
        let (number, started) = try start()
        guard number == 0 else { return Self.failure(number, io) }
        let child = started.identifier
        io.interrupt.passOn { _ = kill(child, $0) }
        // Its end is a byte in a pipe, so that it can be waited for together with its output.
        let (end, ended) = try Self.pipe()
        let hasWaiter = DetachedThread.start {
            var information = siginfo_t()
            _ = retryingInterruptions { waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) }
            var byte: UInt8 = 0
            _ = write(ended.number, &byte, 1)
        }
        guard hasWaiter else { throw .system(EAGAIN, "A thread could not be started") }
        try follow(started, until: end)
        var raw: Int32 = 0
        _ = retryingInterruptions { waitpid(child, &raw, 0) }
        return raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F
    }

    private struct Started {
        let identifier: pid_t
        let output: FileDescriptor
        let errors: FileDescriptor
    }

    /// Starts the program; its ends of the pipes are closed here when this returns.
    ///
    /// - Returns: The number of the error, 0 if it was started.
    private func start() throws(KeychainError) -> (number: Int32, Started) {
        let (output, outputEnd) = try Self.pipe()
        let (errors, errorsEnd) = try Self.pipe()
        var child = pid_t()
        let number = spawn(&child, outputEnd.number, errorsEnd.number)
        return (number, Started(identifier: child, output: output, errors: errors))
    }

    /// Says why a program was not started, with the statuses that shells have for it.
    static func failure(_ number: Int32, _ io: CommandIO) -> Int32 {
        io.note("The command could not be started: \(String(cString: strerror(number))).")
        return number == ENOENT ? 127 : 126
    }

    private func spawn(_ child: inout pid_t, _ output: Int32, _ errors: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var original = ProcessSignals.originalMask
        posix_spawnattr_setsigmask(&attributes, &original)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawnp(&child, words[0], &actions, &attributes, arguments, environ)
    }

    /// Shows what the program prints until it has ended.
    private func follow(_ program: Started, until end: FileDescriptor) throws(KeychainError) {
        var streams = [(program.output, io.output), (program.errors, io.error)].map { reading, target in
            Stream(reading: reading, target: target, mask: OutputMask(secrets))
        }
        for stream in streams { _ = fcntl(stream.reading.number, F_SETFL, O_NONBLOCK) }
        var hasEnded = false
        while !hasEnded {
            var waits = streams.map { stream in
                pollfd(fd: stream.isOpen ? stream.reading.number : -1, events: Int16(POLLIN), revents: 0)
            }
            waits.append(pollfd(fd: end.number, events: Int16(POLLIN), revents: 0))
            guard poll(&waits, nfds_t(waits.count), -1) >= 0 || errno == EINTR else {
                throw .system(errno, "The output of the command cannot be waited for")
            }
            // Looked at first: what the program has printed is in the pipes when its end is seen. What comes later is of
            // others, who may never end.
            hasEnded = waits[2].revents != 0
            for index in streams.indices where streams[index].isOpen {
                let limit = hasEnded ? Self.pipeLimit : Self.pieceSize
                try drain(&streams[index], limit: limit)
            }
        }
        for index in streams.indices { try show(streams[index].mask.finish(), streams[index].target) }
    }

    private static let pieceSize = 64 * 1024
    /// The most that a pipe holds (pipe(7), pipe-max-size).
    private static let pipeLimit = 1 << 20

    /// Shows what is there now, up to a limit: who prints without an end must not keep the other stream waiting.
    private func drain(_ stream: inout Stream, limit: Int) throws(KeychainError) {
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        var left = limit
        while left > 0 {
            let count = retryingInterruptions { read(stream.reading.number, &buffer, min(buffer.count, left)) }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                stream.isOpen = false
                return
            }
            left -= count
            try show(stream.mask.mask(buffer[..<count]), stream.target)
        }
    }

    private func show(_ bytes: [UInt8], _ target: Int32) throws(KeychainError) {
        let outcome = bytes.withUnsafeBytes { bytes in
            Result { () throws(KeychainError) in
                try FileOutput.write(bytes, to: target, "The output of the command could not be written")
            }
        }
        try outcome.get()
    }

    private static func pipe() throws(KeychainError) -> (reading: FileDescriptor, writing: FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw .system(errno, "A pipe could not be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }
}
