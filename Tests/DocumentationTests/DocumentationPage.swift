// SPDX-License-Identifier: MIT

import Foundation
import SnippetCompiler
import Testing

/// A page of the documentation, or the documentation comments of a source file: its blocks of Swift are one module, so
/// that a later block may use what an earlier one declares.
///
/// A comment `<!-- snippet: … -->`, of one line or several, has Swift that the blocks of its page take for granted.
/// `<!-- snippet: not Swift on its own: REASON -->` before a block exempts it.
struct DocumentationPage: Sendable, CustomTestStringConvertible {
    /// The path from the folder of the package.
    let path: String
    private(set) var blocks: [CodeBlock] = []
    /// How many blocks of Swift there are, however they are written.
    let fenceCount: Int
    private var assumptions: [Piece] = []

    var testDescription: String { path }

    private static let opening = "<!-- snippet:"
    private static let exempting = "not Swift on its own:"

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - path: The path from the folder of the package.
    ///   - text: What it has.
    init(path: String, text: String) {
        self.path = path
        let all = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        fenceCount = all.count { $0.trimmingCharacters(in: .whitespaces).hasPrefix("```swift") }
        var lines = Array(all.enumerated())[...]
        var exemption: String?
        while let (index, line) = lines.popFirst() {
            if let opening = line.firstRange(of: Self.opening), line[..<opening.lowerBound].allSatisfy(\.isWhitespace) {
                var comment = [String(line[opening.upperBound...])]
                while comment.last?.hasSuffix("-->") == false, let (_, next) = lines.popFirst() { comment.append(next) }
                comment[comment.count - 1].removeLast(3)
                comment[0] = comment[0].trimmingCharacters(in: .whitespaces)
                if comment[0].hasPrefix(Self.exempting) {
                    exemption = comment.joined(separator: " ").dropFirst(Self.exempting.count)
                        .trimmingCharacters(in: .whitespaces)
                } else {
                    assume(CodeBlock(firstLine: index + 1, lines: comment))
                }
            } else if line.drop(while: { $0 == " " }) == "```swift" {
                // A block in a list is indented, as is what is in it.
                let indentation = line.count - "```swift".count
                let code = lines.prefix { $0.element.dropFirst(indentation) != "```" }
                    .map { String($0.element.dropFirst(indentation)) }
                lines = lines.dropFirst(code.count + 1)
                blocks.append(CodeBlock(firstLine: index + 2, lines: code, exemption: exemption))
                exemption = nil
            }
        }
    }

    /// Reads the documentation comments of a source file.
    ///
    /// - Parameters:
    ///   - path: The path from the folder of the package.
    ///   - source: What the file has.
    ///   - assumption: Swift that its blocks take for granted.
    init(path: String, source: String, assumption: String) {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let comment = line.drop(while: \.isWhitespace)
            return comment.hasPrefix("///") ? String(comment.dropFirst(comment.hasPrefix("/// ") ? 4 : 3)) : ""
        }
        self.init(path: path, text: lines.joined(separator: "\n"))
        assume(CodeBlock(firstLine: 1, text: assumption))
    }

    private mutating func assume(_ code: CodeBlock) { assumptions += code.pieces }

    private var standIns: [Piece] { CodeBlock(firstLine: 1, text: Assumption.otherLibraries).pieces }

    /// The page as a file of Swift.
    private var swift: String {
        let compiled = blocks.filter { $0.exemption == nil }
        let pieces = standIns + assumptions + compiled.flatMap(\.pieces)
        var text = pieces.filter(\.isImport).map(located).joined()
        text += (standIns + assumptions).filter { !$0.isImport }.map(located).joined()
        for block in compiled {
            let pieces = block.pieces.filter { !$0.isEmpty && !$0.isImport }
            text += pieces.filter(\.isDeclaration).map(located).joined()
            let members = pieces.filter(\.isMember)
            if !members.isEmpty { text += "enum Members\(block.firstLine) {\n\(members.map(located).joined())}\n" }
            let statements = pieces.filter { !$0.isDeclaration && !$0.isMember }
            guard !statements.isEmpty else { continue }
            let effects = statements.contains(where: \.isAsynchronous) ? "async throws" : "throws"
            text += "func block\(block.firstLine)() \(effects) {\n\(statements.map(located).joined())}\n"
        }
        return text
    }

    /// A piece that the compiler calls by its place in the page.
    private func located(_ piece: Piece) -> String {
        "#sourceLocation(file: \"\(path)\", line: \(piece.firstLine))\n\(piece.lines.joined(separator: "\n"))\n"
            + "#sourceLocation()\n"
    }

    /// What does not compile: one text for each block, with its place and the compiler's errors; empty if all is well.
    ///
    /// - Throws: Why the compiler could not be run.
    func complaints() throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "snippets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "page.swift")
        try Data(swift.utf8).write(to: file)
        let verdict = try SnippetCompiler.check(file, CompilerArguments.all.get())
        guard verdict.status != 0 else { return [] }
        let errors = verdict.output.split(separator: "\n").filter { $0.contains("error:") }
        let complaints = blocks.compactMap { block -> String? in
            let own = errors.filter { error in
                let place = error.dropFirst(path.count + 1).prefix(while: \.isNumber)
                return error.hasPrefix("\(path):") && Int(place).map(block.lineNumbers.contains) ?? false
            }
            guard !own.isEmpty else { return nil }
            return "\(path), the block that begins in line \(block.firstLine):\n\(own.joined(separator: "\n"))"
        }
        return complaints.isEmpty ? ["\(path): \(verdict.output)"] : complaints
    }
}
