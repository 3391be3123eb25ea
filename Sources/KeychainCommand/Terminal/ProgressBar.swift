// SPDX-License-Identifier: MIT

import KeychainAPI
import Synchronization

/// How far a migration is, in one line of a terminal that is written over; nothing where standard error is none.
final class ProgressBar: Sendable {
    private static let width = 30

    private let io: CommandIO
    private let isShown: Bool
    private let line = Mutex("")

    /// Makes one that shows nothing yet.
    init(_ io: CommandIO) {
        self.io = io
        isShown = io.errorIsTerminal
    }

    /// Shows how far it is.
    func show(_ progress: MigrationProgress) {
        guard isShown else { return }
        let text = Self.text(progress)
        line.withLock { line in
            guard line != text else { return }
            line = text
            io.writeError("\r\(text)\u{1B}[K")
        }
    }

    /// Takes the line away.
    func clear() {
        line.withLock { line in
            guard !line.isEmpty else { return }
            line = ""
            io.writeError("\r\u{1B}[K")
        }
    }

    static func text(_ progress: MigrationProgress) -> String {
        let action =
            switch progress.phase {
            case .reading: "Reading"
            case .storing: "Storing"
            case .removing: "Removing"
            }
        let full = progress.total == 0 ? width : width * progress.completed / progress.total
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: width - full)
        return "\(action) [\(bar)] \(progress.completed) of \(progress.total)"
    }
}
