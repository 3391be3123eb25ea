// SPDX-License-Identifier: MIT

/// Rows of fields as lines.
enum TextTable {
    /// Aligned columns with a heading, for people.
    static func aligned(_ heading: [String], _ rows: [[String]]) -> String {
        let lines = [heading] + rows.map { $0.map(TextEscaping.escaped) }
        let widths = heading.indices.map { column in lines.map { width(of: $0[column]) }.max() ?? 0 }
        return lines.map { fields in
            var line = ""
            for (column, field) in fields.enumerated() {
                line += field
                let isLast = fields[(column + 1)...].allSatisfy(\.isEmpty)
                if isLast { break }
                line += String(repeating: " ", count: widths[column] - width(of: field) + 2)
            }
            return line + "\n"
        }.joined()
    }

    /// Fields with tabs between them, for programs.
    static func tabSeparated(_ rows: [[String]]) -> String {
        rows.map { $0.map(TextEscaping.escaped).joined(separator: "\t") + "\n" }.joined()
    }

    /// How many columns of a terminal text takes: wide characters two, combining ones none.
    static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiPresentation }) { return 2 }
        if first.properties.generalCategory == .nonspacingMark || first.value == 0x200B { return 0 }
        // The wide and fullwidth blocks of Unicode's EastAsianWidth.txt.
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
