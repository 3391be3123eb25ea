// SPDX-License-Identifier: MIT

/// Numbers as the help shows them.
///
/// Swift's own parsers take signs, exponents, hexadecimal digits, infinities and numbers that are none as well, which on a
/// command line are mistakes.
enum DecimalText {
    /// A whole number: digits, after a minus sign if it is below zero.
    static func integer(_ text: String) -> Int64? {
        isDigits(text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]) ? Int64(text) : nil
    }

    /// A number that is not below zero: digits, and after a point more digits.
    static func fraction(_ text: String) -> Double? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.allSatisfy(isDigits) ? Double(text) : nil
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
