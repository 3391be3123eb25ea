// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// Where a command reads from and writes to, so that tests can give it something else.
package struct CommandIO: Sendable {
    /// The descriptor of standard input.
    package let input: Int32
    /// The descriptor of standard output.
    package let output: Int32
    /// The descriptor of standard error.
    package let error: Int32
    /// The path of the terminal to ask on.
    package let terminal: String
    /// Ends every wait.
    package let interrupt: Interrupt

    /// Makes one.
    ///
    /// - Parameters:
    ///   - input: The descriptor of standard input.
    ///   - output: The descriptor of standard output.
    ///   - error: The descriptor of standard error.
    ///   - terminal: The path of the terminal to ask on.
    ///   - interrupt: Ends every wait.
    package init(
        input: Int32 = STDIN_FILENO,
        output: Int32 = STDOUT_FILENO,
        error: Int32 = STDERR_FILENO,
        terminal: String = "/dev/tty",
        interrupt: Interrupt
    ) {
        self.input = input
        self.output = output
        self.error = error
        self.terminal = terminal
        self.interrupt = interrupt
    }

    /// Whether standard input is a terminal.
    var inputIsTerminal: Bool { isatty(input) == 1 }
    /// Whether standard output is a terminal.
    var outputIsTerminal: Bool { isatty(output) == 1 }
    /// Whether standard error is a terminal.
    var errorIsTerminal: Bool { isatty(error) == 1 }

    /// The error after which nobody reads the output any more; it ends the command without a word.
    static let brokenPipe = KeychainError(
        .io,
        "Nobody reads the output.",
        underlying: KeychainError.Underlying(domain: "pipe", code: Int(EPIPE), message: "EPIPE")
    )

    /// Writes text to standard output.
    ///
    /// - Throws: ``brokenPipe``, or the system's error.
    func print(_ text: String) throws(KeychainError) {
        var text = text
        let outcome = text.withUTF8 { bytes in
            Result { () throws(KeychainError) in try write(UnsafeRawBufferPointer(bytes)) }
        }
        try outcome.get()
    }

    /// Writes bytes to standard output.
    ///
    /// - Throws: ``brokenPipe``, or the system's error.
    func write(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        try FileOutput.write(bytes, to: output, "The output could not be written")
    }

    /// Writes one line to standard error.
    func note(_ message: String) {
        writeError("keychainctl: \(TextEscaping.line(message))\n")
    }

    /// Writes text to standard error as it is.
    func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        // Where standard error cannot be written there is no one left to tell.
        _ = retryingInterruptions { Glibc.write(error, bytes, bytes.count) }
    }

    /// Reads standard input to its end into guarded memory.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that are of use.
    ///   - droppingNewline: Whether one newline at the end does not belong to the value, and does not count.
    ///   - beginning: What has been read of it already.
    ///   - deadline: When to give up.
    /// - Throws: `dataTooLarge` beyond the limit, `timedOut`, `cancelled`, or the system's error.
    func readInput(
        limit: Int,
        droppingNewline: Bool,
        beginning: SecureBytes? = nil,
        deadline: ContinuousClock.Instant?
    ) throws(KeychainError) -> SecureBytes {
        // Beyond the limit and a newline, reading on would only fill the memory.
        let input = try SecureBytes.reading(atMost: limit + 1, after: beginning) { (target) throws(KeychainError) in
            try read(into: target, deadline)
        }
        let value = input?.withBytes { bytes in
            guard droppingNewline, bytes.last == 0x0A else { return input }
            return SecureBytes(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
        }
        guard let value, value.count <= limit else {
            throw KeychainError(.dataTooLarge, "The value has more than \(limit) bytes, which the store cannot take.")
        }
        return value
    }

    /// Reads up to a number of bytes; none at the end of input.
    func readChunk(_ size: Int, _ deadline: ContinuousClock.Instant?) throws(KeychainError) -> SecureBytes {
        try SecureBytes.reading(size) { (target) throws(KeychainError) in try read(into: target, deadline) }
    }

    /// Reads what there is of standard input, at least one byte unless it has ended.
    func read(
        into target: UnsafeMutableRawBufferPointer,
        _ deadline: ContinuousClock.Instant?
    ) throws(KeychainError) -> Int {
        while true {
            try interrupt.waitUntilReadable(input, deadline: deadline)
            let count = Glibc.read(input, target.baseAddress, target.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .system(errno, "Standard input could not be read") }
            return count
        }
    }
}
