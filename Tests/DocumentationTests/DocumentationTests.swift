// SPDX-License-Identifier: MIT

import Testing

/// The Swift of the documentation compiles, as it stands there.
@Suite struct DocumentationTests {
    @Test(arguments: DocumentationPage.articles)
    func everyBlockOfAnArticleCompiles(_ page: DocumentationPage) throws {
        let complaints = try page.complaints()
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n\n"))")
    }

    @Test(arguments: DocumentationPage.comments)
    func everyBlockOfADocumentationCommentCompiles(_ page: DocumentationPage) throws {
        let complaints = try page.complaints()
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n\n"))")
    }

    @Test func everyBlockIsSeen() {
        let pages = DocumentationPage.articles + DocumentationPage.comments
        for page in pages { #expect(page.blocks.count == page.fenceCount, "\(page.path)") }
        #expect(DocumentationPage.articles.flatMap(\.blocks).count >= 40)
        #expect(DocumentationPage.comments.flatMap(\.blocks).count >= 26)
    }

    /// A new exemption needs a line here, and a reason to go with it.
    @Test func fewBlocksAreExempt() {
        let exempt = (DocumentationPage.articles + DocumentationPage.comments).flatMap { page in
            page.blocks.compactMap(\.exemption).map { "\(page.path): \($0)" }
        }
        let known = [
            "README.md: a manifest",
            "Sources/KeychainAPI/KeychainAPI.docc/WritingADriver.md: a manifest",
            "Sources/KeychainTesting/KeychainTesting.docc/TestingYourApp.md: a manifest",
            "Sources/SwiftKeychain/SwiftKeychain.docc/GettingStarted.md: a manifest",
        ]
        #expect(exempt.sorted() == known)
    }

    @Test func aBlockThatDoesNotCompileIsNamed() throws {
        let page = DocumentationPage(
            path: "Sample.md",
            text: """
                <!-- snippet:
                let number = 1
                -->
                ```swift
                let right: Int = number
                ```

                ```swift
                struct Wrong {}
                let wrong: String = number
                ```
                """
        )
        let complaints = try page.complaints()
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix("Sample.md, the block that begins in line 9:\nSample.md:10:") == true)
    }
}
