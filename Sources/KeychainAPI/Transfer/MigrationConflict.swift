// SPDX-License-Identifier: MIT

/// What a migration does where the target has an item with the same primary key.
public enum MigrationConflict: String, Sendable, Hashable, CaseIterable {
    /// Throws `duplicateItem`; nothing is migrated.
    case fail
    /// Leaves an item with the same value as it is, and throws `duplicateItem` for one with another value; then nothing is
    /// migrated. So the same items can be brought twice, and no newer value is lost by it.
    case failIfDifferent
    /// Leaves the target's item as it is, and the other one where it is.
    case skip
    /// Replaces the value and keeps the attributes of the target's item.
    case replaceValue
    /// Replaces the value and the attributes; the target's reference and creation date stay.
    case replace

    /// What the verbs do with an item that is not left as it is.
    var ifExists: IfExists {
        switch self {
        case .fail, .failIfDifferent, .skip: .fail
        case .replaceValue: .replaceValue
        case .replace: .replace
        }
    }

    /// The same as the verbs have it.
    package init(_ ifExists: IfExists) {
        self =
            switch ifExists {
            case .fail: .fail
            case .replaceValue: .replaceValue
            case .replace: .replace
            }
    }
}
