// SPDX-License-Identifier: MIT

extension String {
    /// The text without the blanks and line ends around it.
    package var trimmed: String {
        // By scalar: a blank with a combining mark is one character, and the mark is no blank.
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let rest = unicodeScalars.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(rest[...last])
    }
}
