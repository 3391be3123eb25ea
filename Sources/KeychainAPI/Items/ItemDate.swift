// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A moment at which an item was created or changed, in whole microseconds, so that every driver keeps it exactly.
public struct ItemDate: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    public let microseconds: Int64

    /// Makes a moment from microseconds since 1970-01-01 00:00:00 UTC.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Makes a moment from a date, rounded to the microsecond.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        self.microseconds = Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max)
    }

    /// The moment as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Orders moments in time.
    public static func < (left: ItemDate, right: ItemDate) -> Bool { left.microseconds < right.microseconds }
}
