// SPDX-License-Identifier: MIT

/// What a call returns of an item.
///
/// One option gives that case of ``SecValue``, two or more give ``SecValue/dictionary(_:)``, none gives nil.
public struct SecReturnType: OptionSet, Sendable, Hashable {
    /// One bit for each option.
    public let rawValue: UInt

    /// Makes a set from bits.
    ///
    /// - Parameter rawValue: One bit for each option.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The value.
    public static let data = SecReturnType(rawValue: 1 << 0)
    /// The attributes.
    public static let info = SecReturnType(rawValue: 1 << 1)
    /// The persistent reference.
    public static let persistentReference = SecReturnType(rawValue: 1 << 3)
    /// Everything.
    public static let all: SecReturnType = [.data, .info, .persistentReference]
}
