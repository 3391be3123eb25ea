// SPDX-License-Identifier: MIT

import Testing

/// A text that is shown escaped, so that a log stays a text of lines.
struct Sample: ExpressibleByStringLiteral, Sendable, CustomTestStringConvertible {
    let text: String

    init(stringLiteral value: String) {
        text = value
    }

    var testDescription: String { text.debugDescription }
}
