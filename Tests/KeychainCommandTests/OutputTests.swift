// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KeychainCommand

struct OutputTests {
    @Test(arguments: [
        ("plain 🔑 ü", "plain 🔑 ü"), ("a\tb\nc\\d", "a\\tb\\nc\\\\d"), ("\u{1B}[2J", "\\x1b[2J"), ("\0", "\\x00"),
        ("\u{85}", "\\xc2\\x85"), ("\u{7F}", "\\x7f"), ("\r", "\\x0d"), ("a\u{202E}b", "a\\xe2\\x80\\xaeb"),
        ("\r\n", "\\x0d\\n"), ("e\u{301}", "e\u{301}"),
    ])
    func escaping(text: String, expected: String) {
        #expect(Array(TextEscaping.escaped(text).utf8) == Array(expected.utf8))
    }

    @Test func aMessageIsOneLine() {
        #expect(TextEscaping.line("‘a\nb’ \u{1B}[1m") == "‘a\\x0ab’ \\x1b[1m")
        #expect(TextEscaping.line("C:\\x") == "C:\\x")
    }

    @Test(arguments: [
        ("abc", 3), ("ü", 1), ("e\u{301}", 1), ("漢字", 4), ("🔑", 2), ("👩‍👩‍👧", 2), ("한", 2), ("ＡＢ", 4), ("", 0), ("❤️", 2),
    ])
    func widths(text: String, expected: Int) {
        #expect(TextTable.width(of: text) == expected)
    }

    @Test func columnsAreAligned() {
        let table = TextTable.aligned(["A", "B", "C"], [["漢字", "x", ""], ["y", "", "z\n"]])
        #expect(table == "A     B  C\n漢字  x\ny        z\\n\n")
    }

    @Test func fieldsAreSeparatedByTabs() {
        #expect(TextTable.tabSeparated([["a\tb", ""], ["c", "d"]]) == "a\\tb\t\nc\td\n")
        #expect(TextTable.tabSeparated([]) == "")
    }

    @Test func timesAreInUTC() {
        #expect(Timestamp.text(Date(timeIntervalSince1970: 1_770_091_506.9)) == "2026-02-03T04:05:06Z")
    }
}
