// SPDX-License-Identifier: MIT

/// The name of an attribute as drivers store it, for example `service`.
///
/// An open identifier rather than an enumeration: a later version can add names without breaking drivers.
public struct AttributeName: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name: ASCII letters and digits, beginning with a lower-case letter.
    public let rawValue: String

    /// Makes a name.
    ///
    /// - Parameter rawValue: ASCII letters and digits, beginning with a lower-case letter.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Orders names by their UTF-8 bytes.
    public static func < (left: AttributeName, right: AttributeName) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The name itself.
    public var description: String { rawValue }
}
