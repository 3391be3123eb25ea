// SPDX-License-Identifier: MIT

import KeychainAPI

/// Splits text into words as a POSIX shell does (POSIX.1-2024, 2.2): by blanks, with quotes and backslashes.
///
/// Nothing is expanded: every other character stands for itself.
enum ShellWords {
    /// The words of a text.
    ///
    /// - Throws: `invalidParameter` for a quote without its end and a backslash at the end; the text is not repeated.
    static func split(_ text: String) throws(KeychainError) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case " ", "\t", "\n":
                if let complete = word { words.append(String(complete)) }
                word = nil
            case "\\":
                guard let next = rest.popFirst() else { throw unfinished("a backslash has nothing behind it") }
                word = (word ?? .init()) + (next == "\n" ? [] : [next])
            case "'":
                guard let end = rest.firstIndex(of: "'") else { throw unfinished("a quote (') has no end") }
                word = (word ?? .init()) + rest[..<end]
                rest = rest[rest.index(after: end)...]
            case "\"":
                word = (word ?? .init()) + (try quoted(&rest))
            default:
                word = (word ?? .init()) + [scalar]
            }
        }
        if let complete = word { words.append(String(complete)) }
        return words
    }

    /// What stands before the closing quote, where a backslash only protects what is special there.
    private static func quoted(
        _ rest: inout Substring.UnicodeScalarView
    ) throws(KeychainError) -> String.UnicodeScalarView {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return text
            case "\\":
                guard let next = rest.popFirst() else { throw unfinished("a quote (\") has no end") }
                if !["$", "`", "\"", "\\", "\n"].contains(next) { text.append("\\") }
                if next != "\n" { text.append(next) }
            default: text.append(scalar)
            }
        }
        throw unfinished("a quote (\") has no end")
    }

    private static func unfinished(_ what: String) -> KeychainError {
        KeychainError(.invalidParameter, "In ‘--env’, \(what).")
    }
}
