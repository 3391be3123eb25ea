// SPDX-License-Identifier: MIT

/// What a driver can do beyond the common contract, and in what it is declared to differ.
public struct DriverCapabilities: OptionSet, Sendable, Hashable {
    /// One bit for each capability.
    public let rawValue: UInt32

    /// Makes a set from bits.
    ///
    /// - Parameter rawValue: One bit for each capability.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Several mutations are one commit, also when the process is killed in between.
    public static let transactions = DriverCapabilities(rawValue: 1 << 0)
    /// The driver notices changes, also those of other processes.
    public static let changeEvents = DriverCapabilities(rawValue: 1 << 1)
    /// Items outlive the process.
    public static let persistent = DriverCapabilities(rawValue: 1 << 2)
    /// Programs that know nothing of this library read and write the same items.
    public static let sharedWithOtherPrograms = DriverCapabilities(rawValue: 1 << 3)
    /// Modification dates are kept by the store in whole seconds.
    public static let wholeSecondModificationDates = DriverCapabilities(rawValue: 1 << 4)
    /// Attributes can be read by who cannot read values; a store without it encrypts both.
    public static let attributesInClear = DriverCapabilities(rawValue: 1 << 5)
    /// The store can be locked for everyone who uses it, and unlocked.
    public static let locking = DriverCapabilities(rawValue: 1 << 6)
}
