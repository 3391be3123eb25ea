// SPDX-License-Identifier: MIT

/// What a ``ConformanceHarness`` can do with its store beyond making and discarding keychains.
public struct HarnessPowers: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// One bit for each power.
    public let rawValue: UInt8

    /// Makes a set from bits.
    ///
    /// - Parameter rawValue: One bit for each power.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The store can be opened a second time.
    public static let reopen = HarnessPowers(rawValue: 1 << 0)
    /// The store can be locked and unlocked.
    public static let lock = HarnessPowers(rawValue: 1 << 1)
    /// Other processes can open the store.
    public static let processes = HarnessPowers(rawValue: 1 << 2)
    /// Each keychain is the only user of a store of its own, which vanishes when it is discarded.
    public static let freshStore = HarnessPowers(rawValue: 1 << 3)

    /// The powers in words.
    public var description: String {
        let names: [(HarnessPowers, String)] = [
            (.reopen, "reopen the store"), (.lock, "lock the store"), (.processes, "start other processes"),
            (.freshStore, "make fresh stores"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
