// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import SnippetCompiler
import Testing

/// Compiles each snippet against the built modules: wrong use must not compile, right use must.
@Suite struct CompileFailTests {
    @Test(arguments: Snippet.all(in: "Fails"))
    func doesNotCompile(_ snippet: Snippet) throws {
        let phrase = try #require(snippet.expectation, "A snippet begins with the comment ‘// expect: PHRASE’.")
        let result = try snippet.compile()
        #expect(result.status != 0, "It compiles.")
        let errors = result.output.split(separator: "\n").filter { $0.contains("error:") }
        #expect(errors.contains { $0.contains(phrase) }, "The compiler said: \(result.output)")
        #expect(!errors.contains { $0.contains("no such module") })
    }

    @Test(arguments: Snippet.all(in: "Compiles"))
    func compiles(_ snippet: Snippet) throws {
        let result = try snippet.compile()
        #expect(result.status == 0, "The compiler said: \(result.output)")
    }

    @Test func thereAreSnippets() {
        #expect(Snippet.all(in: "Fails").count >= 29)
        #expect(Snippet.all(in: "Compiles").count >= 7)
    }
}

/// A file with a few lines of Swift that use the library.
struct Snippet: CustomTestStringConvertible {
    let url: URL

    var testDescription: String { url.deletingPathExtension().lastPathComponent }

    static func all(in folder: String) -> [Snippet] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snippets/\(folder)")
        let files = try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "swift" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map(Snippet.init)
    }

    /// The phrase that the compiler must say, from the first line.
    var expectation: String? {
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
        let first = text.prefix { $0 != "\n" }
        guard first.hasPrefix("// expect: ") else { return nil }
        return String(first.dropFirst("// expect: ".count))
    }

    func compile() throws -> SnippetCompiler.Verdict { try SnippetCompiler.check(url) }
}
