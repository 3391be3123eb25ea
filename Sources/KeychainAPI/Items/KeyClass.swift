// SPDX-License-Identifier: MIT

/// Which part of a key a key item is.
///
/// The raw value is Apple's (`kSecAttrKeyClass…`).
public struct KeyClass: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number as text.
    public let rawValue: String

    /// Makes a class from Apple's number.
    ///
    /// - Parameter rawValue: The number as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The public half of a key pair.
    public static let `public` = KeyClass(rawValue: "0")
    /// The private half of a key pair.
    public static let `private` = KeyClass(rawValue: "1")
    /// A symmetric key.
    public static let symmetric = KeyClass(rawValue: "2")

    /// The class in a word.
    public var description: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .symmetric: "symmetric"
        default: rawValue
        }
    }
}
