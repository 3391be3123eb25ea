// SPDX-License-Identifier: MIT

/// A code of four ASCII characters, as the creator and type of a password.
public struct FourCharCode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four characters, the first in the highest byte.
    public let rawValue: UInt32

    /// Makes a code from a number.
    ///
    /// - Parameter rawValue: The four characters, the first in the highest byte.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Makes a code from text; nil unless it has exactly four ASCII characters.
    ///
    /// - Parameter text: Four ASCII characters.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 4, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        rawValue = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Makes a code from a literal, which must have exactly four ASCII characters.
    ///
    /// - Parameter value: Four ASCII characters.
    public init(stringLiteral value: StaticString) {
        guard let code = FourCharCode(value.description) else {
            preconditionFailure("A four-character code has exactly four ASCII characters: \(value)")
        }
        self = code
    }

    /// The four characters where all are printable and do not begin as a number does, else the number in hexadecimal.
    public var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }
        let isPlain = bytes.allSatisfy { (0x20..<0x7F).contains($0) } && !bytes.starts(with: "0x".utf8)
        guard isPlain else { return "0x" + String(rawValue, radix: 16) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
