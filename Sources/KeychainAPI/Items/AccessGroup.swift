// SPDX-License-Identifier: MIT

/// A namespace for items: two items that differ only in their group are two items.
///
/// - Important: On Linux an access group is a namespace and **not a security boundary**. Whoever can open a store can
///   name any group in it. On Apple platforms the system checks a program's entitlements; here nothing does.
public struct AccessGroup: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The group's name; `""` is the default group.
    public let rawValue: String

    /// Makes a group from its name.
    ///
    /// - Parameter rawValue: The name, without NUL; `""` is the default group.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The group that every program uses that names none, and in which other programs' items are seen.
    public static let `default` = AccessGroup(rawValue: "")

    /// A group shared by the programs of one team.
    ///
    /// - Parameters:
    ///   - teamID: The team's identifier.
    ///   - nameID: The group's name in the team.
    public static func keychainGroup(teamID: String, nameID: String) -> AccessGroup {
        AccessGroup(rawValue: "\(teamID).\(nameID)")
    }

    /// A group of one application.
    ///
    /// - Parameter identifier: The application group's identifier.
    public static func appGroupID(_ identifier: String) -> AccessGroup {
        AccessGroup(rawValue: identifier)
    }

    /// Compares the names byte by byte.
    public static func == (left: AccessGroup, right: AccessGroup) -> Bool {
        left.rawValue.isIdentical(to: right.rawValue)
    }

    /// Compares the names byte by byte; `RawRepresentable` would bring a form that compares them as Swift text.
    public static func != (left: AccessGroup, right: AccessGroup) -> Bool { !(left == right) }

    /// The name, or `default`.
    public var description: String { rawValue.isEmpty ? "default" : rawValue }
}
