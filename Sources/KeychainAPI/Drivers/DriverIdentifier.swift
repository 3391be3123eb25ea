// SPDX-License-Identifier: MIT

/// The kind of a driver, and the scheme of its store URLs: `file`, `secret-service`, `memory`, or another author's.
///
/// An open identifier: a module of its own can add a driver without any change here.
public struct DriverIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// A URL scheme: ASCII lower-case letters, digits, `+`, `-` and `.`, beginning with a letter (RFC 3986, 3.1).
    public let rawValue: String

    /// Makes an identifier.
    ///
    /// - Parameter rawValue: A URL scheme in lower case.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes an identifier from a literal.
    ///
    /// - Parameter value: A URL scheme in lower case.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The identifier itself.
    public var description: String { rawValue }
}
