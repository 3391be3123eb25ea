// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import Synchronization

/// How far a command is, in one line of a terminal that is written over.
final class ProgressBar: Sendable {
    private static let width = 30

    private let io: CommandIO
    private let isShown: Bool
    private let line = Mutex("")

    /// Makes one that shows nothing yet.
    ///
    /// - Parameters:
    ///   - io: Where it is shown, on standard error.
    ///   - isShown: Whether it is shown at all.
    init(_ io: CommandIO, isShown: Bool) {
        self.io = io
        self.isShown = isShown
    }

    /// Shows how far it is.
    func show(_ progress: MigrationProgress) {
        let action =
            switch progress.phase {
            case .reading: "Reading"
            case .storing: "Storing"
            case .removing: "Removing"
            }
        show(action, progress.completed, of: progress.total)
    }

    /// Shows how far it is.
    ///
    /// - Parameters:
    ///   - action: What is being done, in a word.
    ///   - completed: How much is done.
    ///   - total: How much there is.
    func show(_ action: String, _ completed: Int, of total: Int) {
        guard isShown else { return }
        let text = Self.text(action, completed, of: total, columns: columns)
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

    /// The line; where it would not fit beside the cursor the bar is shorter, or left out.
    static func text(_ action: String, _ completed: Int, of total: Int, columns: Int) -> String {
        let count = "\(completed) of \(total)"
        let width = min(width, columns - action.count - count.count - 5)
        guard width > 0 else { return "\(action) \(count)" }
        let full = total == 0 ? width : width * completed / total
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: width - full)
        return "\(action) [\(bar)] \(count)"
    }

    /// How wide the terminal is, as far as it says so.
    private var columns: Int {
        var size = winsize()
        return ioctl(io.error, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
