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

    /// The C0 and C1 controls, DEL, and what changes the direction of text or breaks lines (Unicode 15, 23.2).
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
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
