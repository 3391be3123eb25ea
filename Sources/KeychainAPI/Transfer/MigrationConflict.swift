// SPDX-License-Identifier: MIT

/// What a migration does where the target has an item with the same primary key.
public enum MigrationConflict: String, Sendable, Hashable, CaseIterable {
    /// Throws `duplicateItem`; nothing is migrated.
    case fail
    /// Leaves the target's item as it is, and the other one where it is.
    case skip
    /// Replaces the value and keeps the attributes of the target's item.
    case replaceValue
    /// Replaces the value and the attributes; the target's reference and creation date stay.
    case replace

    /// The same as the verbs have it; nil to skip.
    var ifExists: IfExists? { IfExists(rawValue: rawValue) }
}
