// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainSystem
import Synchronization

/// A terminal with a program on one side and a test, in the place of the person, on the other.
final class PseudoTerminal: Sendable {
    struct Silence: Error, CustomStringConvertible {
        let expected: String
        let seen: String

        var description: String { "Waited for ‘\(expected)’ and saw ‘\(seen)’" }
    }

    /// The path of the program's side.
    let path: String
    private let person: FileDescriptor
    /// Kept open, so that the person's side does not see an end between two programs.
    private let program: FileDescriptor
    private let seen = Mutex("")

    init() throws {
        var numbers: (person: Int32, program: Int32) = (-1, -1)
        guard openpty(&numbers.person, &numbers.program, nil, nil, nil) == 0, let name = ttyname(numbers.program) else {
            throw POSIXError(.EIO)
        }
        person = FileDescriptor(owning: numbers.person)
        program = FileDescriptor(owning: numbers.program)
        for number in [numbers.person, numbers.program] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        path = String(cString: name)
    }

    /// Waits until the program has shown a text after what was seen before, and returns what came with it.
    @discardableResult
    func wait(for text: String, _ patience: Duration = .seconds(30)) throws -> String {
        let deadline = ContinuousClock.now + patience
        while true {
            let found = seen.withLock { seen -> String? in
                guard let range = seen.range(of: text) else { return nil }
                let shown = String(seen[..<range.upperBound])
                seen = String(seen[range.upperBound...])
                return shown
            }
            if let found { return found }
            var wait = pollfd(fd: person.number, events: Int16(POLLIN), revents: 0)
            let left = (deadline - ContinuousClock.now).components.seconds
            guard left > 0, poll(&wait, 1, Int32(left * 1000)) > 0 else {
                throw Silence(expected: text, seen: seen.withLock { $0 })
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(person.number, &buffer, buffer.count)
            guard count > 0 else { throw Silence(expected: text, seen: seen.withLock { $0 }) }
            seen.withLock { $0 += String(decoding: buffer[..<count], as: UTF8.self) }
        }
    }

    /// Types.
    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(person.number, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    }

    /// Whether what is typed is shown.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(program.number, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}
