// SPDX-License-Identifier: MIT

public import KeychainAPI

/// What an import of a whole collection did.
public struct CollectionSummary: Sendable, Hashable {
    /// What became of the items, those of no class included.
    public let migration: MigrationSummary
    /// How many of the items were of no class of this library, and came as generic passwords.
    public let unclassified: Int
    /// How many are older items of another program for the same password, of which the latest one came.
    public let outdated: Int
}
