// SPDX-License-Identifier: MIT

// By bytes, as the system takes paths apart: as a character, a slash with a combining mark behind it is no slash.
extension StringProtocol {
    /// Whether it begins with a slash.
    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

    /// What stands between slashes; what is empty is left out.
    package var pathComponents: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What stands before the last slash, nil if there is none, or it is the first character.
    package var parentPath: String? {
        let bytes = Array(utf8)
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        return String(decoding: bytes[..<slash], as: UTF8.self)
    }

    /// What stands behind the last slash; all of it if there is none.
    package var lastPathComponent: String {
        let bytes = Array(utf8)
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return String(decoding: bytes[start...], as: UTF8.self)
    }
}
