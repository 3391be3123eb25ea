// SPDX-License-Identifier: MIT

/// What a migration did.
public struct MigrationSummary: Sendable, Hashable {
    /// How many items are in the target now.
    public var migrated = 0
    /// How many were left out because the target has them (``MigrationConflict/skip``).
    public var skipped = 0
    /// How many were left out because their policy keeps them on this device.
    public var keptOnDevice = 0
    /// How many were not looked at because they are in other access groups (``MigrationScope/group``).
    public var inOtherGroups = 0
    /// How many the transform left out.
    public var leftOut = 0

    /// A summary of nothing done.
    public init() {}
}
