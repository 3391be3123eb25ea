// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// Asks on the terminal, without showing what is typed.
struct TerminalPrompt: PassphrasePrompt {
    /// The path of the terminal, `/dev/tty` but for tests.
    let path: String
    /// Ends the wait.
    let interrupt: Interrupt
    /// When to give up.
    let deadline: ContinuousClock.Instant?

    /// How often two entries that should be the same may differ.
    private static let tries = 3
    /// The longest line that the kernel's line editing holds, its newline included (termios(3)).
    private static let longestLine = 4095

    func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
        let place = TextEscaping.line(location)
        return try isNew
            ? askTwice("New passphrase for \(place): ")
            : withTerminal { (terminal) throws(KeychainError) in
                try ask("Passphrase for \(place): ", terminal)
            }
    }

    /// Asks for something new twice, and anew if the entries differ.
    ///
    /// - Parameter question: What is asked.
    /// - Throws: `userCanceled` after three pairs that differ, or at the end of input.
    func askTwice(_ question: String) throws(KeychainError) -> SecureBytes {
        try withTerminal { (terminal) throws(KeychainError) in
            for attempt in 1...Self.tries {
                let first = try ask(question, terminal)
                if try ask("Once more: ", terminal) == first { return first }
                if attempt < Self.tries { TerminalEcho.shared.write("The two entries differ. Try again.\n") }
            }
            throw KeychainError(.userCanceled, "The two entries differed \(Self.tries) times. Nothing was changed.")
        }
    }

    private func withTerminal(
        _ body: (FileDescriptor) throws(KeychainError) -> SecureBytes
    ) throws(KeychainError) -> SecureBytes {
        let terminal: FileDescriptor
        do throws(KeychainError) {
            terminal = try FileDescriptor(path, O_RDWR | O_NOCTTY, action: "The terminal could not be opened")
        } catch {
            throw Self.noTerminal
        }
        // Once for all entries: nothing that is typed between two of them is shown.
        guard TerminalEcho.shared.hide(terminal.number) else { throw Self.noTerminal }
        defer { TerminalEcho.shared.show() }
        return try body(terminal)
    }

    private static let noTerminal = KeychainError(
        .interactionNotAllowed,
        "There is no terminal to ask on. Give the passphrase with --key or KEYCHAIN_KEY, for example env:NAME."
    )

    private func ask(_ question: String, _ terminal: FileDescriptor) throws(KeychainError) -> SecureBytes {
        TerminalEcho.shared.ask(question)
        defer { TerminalEcho.shared.write("\n") }
        return try line(terminal)
    }

    private func line(_ terminal: FileDescriptor) throws(KeychainError) -> SecureBytes {
        var count = 0
        var hasEnded = false
        let buffer = try SecureBytes(count: Self.longestLine + 1) {
            (bytes: UnsafeMutableRawBufferPointer) throws(KeychainError) in
            while !hasEnded, count < bytes.count {
                try interrupt.waitUntilReadable(terminal.number, deadline: deadline)
                let got = read(terminal.number, bytes.baseAddress! + count, bytes.count - count)
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw .system(errno, "The terminal could not be read") }
                count += got
                hasEnded = got == 0 || bytes[count - 1] == 0x0A
            }
        }
        guard count > 0 else {
            throw KeychainError(.userCanceled, "Nothing was entered. Nothing was changed.")
        }
        guard count < Self.longestLine else {
            // The kernel has cut it off already: what is here is not what was typed.
            throw KeychainError(
                .dataTooLarge,
                "A terminal takes no line of more than \(Self.longestLine - 2) bytes. Use a pipe or a file instead."
            )
        }
        return buffer.withBytes { bytes in
            SecureBytes(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes[count - 1] == 0x0A ? count - 1 : count)]))
        }
    }
}
