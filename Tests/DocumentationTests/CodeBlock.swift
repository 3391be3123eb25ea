// SPDX-License-Identifier: MIT

/// A block of Swift in a page.
struct CodeBlock: Sendable {
    /// The number of its first line in the page, beginning with 1.
    let firstLine: Int
    let lines: [String]
    /// Why it is not compiled; nil if it is.
    let exemption: String?

    init(firstLine: Int, lines: [String], exemption: String? = nil) {
        self.firstLine = firstLine
        self.lines = lines
        self.exemption = exemption
    }

    init(firstLine: Int, text: String) {
        self.init(firstLine: firstLine, lines: text.split(separator: "\n").map(String.init))
    }

    var lineNumbers: Range<Int> { firstLine..<firstLine + lines.count }

    /// The block in the pieces that begin in its first column, as a file of Swift takes them apart.
    var pieces: [Piece] {
        var pieces: [Piece] = []
        for (offset, line) in lines.enumerated() {
            if let last = pieces.last, !last.isCompleteBefore(line) {
                pieces[pieces.count - 1].lines.append(line)
            } else {
                pieces.append(Piece(firstLine: firstLine + offset, lines: [line]))
            }
        }
        return pieces
    }
}

/// A declaration or a statement, with its comments.
struct Piece: Sendable {
    let firstLine: Int
    var lines: [String]

    private static let declarators: Set<Substring> = [
        "extension", "struct", "class", "enum", "actor", "protocol", "func", "typealias",
    ]
    private static let modifiers: Set<Substring> = ["public", "package", "private", "fileprivate", "final", "indirect"]

    /// What is left of the first line that is more than a comment and attributes, without modifiers.
    private var words: [Substring] {
        for line in lines where !line.hasPrefix("//") {
            let words = Self.withoutAttributes(line[...]).split(separator: " ").drop(while: Self.modifiers.contains)
            if !words.isEmpty { return Array(words) }
        }
        return []
    }

    private static func withoutAttributes(_ line: Substring) -> Substring {
        var rest = line.drop(while: \.isWhitespace)
        while rest.first == "@" {
            rest = rest.drop { !$0.isWhitespace && $0 != "(" }
            var depth = 0
            while let next = rest.first, depth > 0 || next == "(" {
                depth += next == "(" ? 1 : next == ")" ? -1 : 0
                rest.removeFirst()
            }
            rest = rest.drop(while: \.isWhitespace)
        }
        return rest
    }

    var isEmpty: Bool { words.isEmpty }
    var isImport: Bool { words.first == "import" }
    /// Whether it stands outside of any function.
    var isDeclaration: Bool { words.first.map(Self.declarators.contains) ?? false }
    /// Whether it is a part of a type.
    var isMember: Bool { words.first == "static" }
    var isAsynchronous: Bool { lines.contains { $0.contains("await ") } }

    func isCompleteBefore(_ line: String) -> Bool {
        guard let first = line.first else { return false }
        return !isEmpty && !first.isWhitespace && !"})].".contains(first)
    }
}
