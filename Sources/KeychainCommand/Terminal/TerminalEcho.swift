// SPDX-License-Identifier: MIT

import Glibc
import KeychainSystem
import Synchronization

/// The one place that turns the terminal's echo off, so that it is turned on again on every way out.
///
/// Shared by the process, as the terminal is: the thread that handles signals restores it while another one still waits
/// for a line.
final class TerminalEcho: Sendable {
    static let shared = TerminalEcho()

    private struct Hidden {
        let descriptor: Int32
        let original: termios
        /// What is being asked, to be shown again after the process was stopped.
        var question = ""
    }

    private let hidden = Mutex<Hidden?>(nil)

    /// Turns the echo off; false if the descriptor is no terminal.
    func hide(_ descriptor: Int32) -> Bool {
        hidden.withLock { hidden in
            var original = termios()
            guard tcgetattr(descriptor, &original) == 0 else { return false }
            hidden = Hidden(descriptor: descriptor, original: original)
            return Self.apply(original, withoutEcho: true, to: descriptor)
        }
    }

    /// Says what is being asked.
    func ask(_ question: String) {
        hidden.withLock { hidden in
            hidden?.question = question
            Self.write(question, to: hidden?.descriptor)
        }
    }

    /// Writes text to the terminal whose echo is off.
    func write(_ text: String) {
        hidden.withLock { Self.write(text, to: $0?.descriptor) }
    }

    /// Turns the echo on again; nothing if it was not turned off here.
    func show() {
        hidden.withLock { state in
            guard let now = state else { return }
            _ = Self.apply(now.original, withoutEcho: false, to: now.descriptor)
            state = nil
        }
    }

    /// Turns the echo on while the process is stopped, and off again after it.
    ///
    /// - Parameter stop: Returns when the process goes on.
    func pause(_ stop: () -> Void) {
        let paused = hidden.withLock { $0 }
        if let paused { _ = Self.apply(paused.original, withoutEcho: false, to: paused.descriptor) }
        stop()
        hidden.withLock { state in
            // It may have ended meanwhile.
            guard let now = state else { return }
            _ = Self.apply(now.original, withoutEcho: true, to: now.descriptor)
            Self.write(now.question, to: now.descriptor)
        }
    }

    private static func write(_ text: String, to descriptor: Int32?) {
        guard let descriptor else { return }
        let bytes = Array(text.utf8)
        // A terminal that cannot be written to will not be read from either, and that is an error there.
        _ = retryingInterruptions { Glibc.write(descriptor, bytes, bytes.count) }
    }

    private static func apply(_ original: termios, withoutEcho: Bool, to descriptor: Int32) -> Bool {
        var settings = original
        if withoutEcho { settings.c_lflag &= ~tcflag_t(ECHO | ECHONL) }
        // TCSAFLUSH: what was typed and not read yet goes to no one else, least of all to a shell's prompt.
        while tcsetattr(descriptor, TCSAFLUSH, &settings) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
