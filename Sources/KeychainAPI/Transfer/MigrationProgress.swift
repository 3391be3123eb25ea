// SPDX-License-Identifier: MIT

/// How far a migration, a copy or a move has come.
public struct MigrationProgress: Sendable, Hashable {
    /// What is done, in this order; what is not asked for is left out.
    public enum Phase: Sendable, Hashable {
        /// Reads the values.
        case reading
        /// Stores the items in the target, all at once.
        case storing
        /// Removes the originals, all at once.
        case removing
    }

    /// What is being done.
    public let phase: Phase
    /// How many items that is done for; those of a phase that does it all at once are 0 and then all.
    public let completed: Int
    /// How many items there are.
    public let total: Int

    /// Makes one.
    ///
    /// - Parameters:
    ///   - phase: What is being done.
    ///   - completed: How many items that is done for.
    ///   - total: How many items there are.
    public init(phase: Phase, completed: Int, total: Int) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }
}
