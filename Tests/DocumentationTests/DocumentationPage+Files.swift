// SPDX-License-Identifier: MIT

import Foundation

extension DocumentationPage {
    /// The folder of the package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The pages that have Swift in them: README.md, the documents and the articles.
    static let articles: [DocumentationPage] =
        files(below: "docs", "md") + files(below: "Sources", "md") + page("README.md")

    /// The source files whose documentation comments have Swift in them.
    static let comments: [DocumentationPage] = paths(below: "Sources", "swift").compactMap { path in
        guard let text = text(of: path), text.contains("/// ```swift\n") else { return nil }
        return DocumentationPage(
            path: path,
            source: text,
            assumption: Assumption.common + (Assumption.ofComments[path] ?? "")
        )
    }

    private static func files(below folder: String, _ ending: String) -> [DocumentationPage] {
        paths(below: folder, ending).flatMap(page)
    }

    private static func page(_ path: String) -> [DocumentationPage] {
        guard let text = text(of: path), text.contains("```swift\n") else { return [] }
        return [DocumentationPage(path: path, text: text)]
    }

    private static func text(of path: String) -> String? {
        try? String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    private static func paths(below folder: String, _ ending: String) -> [String] {
        let paths = try? FileManager.default.subpathsOfDirectory(atPath: package.appending(path: folder).path)
        return (paths ?? []).filter { $0.hasSuffix(".\(ending)") }.sorted().map { "\(folder)/\($0)" }
    }
}
