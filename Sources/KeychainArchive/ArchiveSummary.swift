// SPDX-License-Identifier: MIT

/// What was written into an archive.
public struct ArchiveSummary: Sendable, Hashable {
    /// How many items are in the archive.
    public let archived: Int
    /// How many were left out because their policy keeps them on this device.
    public let keptOnDevice: Int
}
