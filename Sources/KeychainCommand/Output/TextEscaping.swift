// SPDX-License-Identifier: MIT

/// Makes text safe to print on one line.
enum TextEscaping {
    /// Text in which tabs, newlines and backslashes are `\t`, `\n` and `\\`, and each byte of another control character
    /// is `\xNN`, so that nothing in an attribute can move the cursor or pass for a second line.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case "\\": result += "\\\\"
            case _ where isControl(scalar): result += hexadecimal(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A message as one line: as it is, but for control characters.
    static func line(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) { result += hexadecimal(scalar) } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// The C0 and C1 controls, DEL, what breaks lines, and what nobody sees or changes the direction of text (Unicode 15,
    /// 23.2); but for what joins the parts of an emoji.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar != "\u{200D}"
        default: false
        }
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }
}
