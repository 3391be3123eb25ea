// SPDX-License-Identifier: MIT

/// What storing does when an item with the same primary key exists.
public enum IfExists: String, Sendable, Hashable, CaseIterable {
    /// Throws `duplicateItem` and changes nothing.
    case fail
    /// Replaces the value and keeps every attribute.
    case replaceValue
    /// Replaces the value and the attributes; an attribute left out is cleared. Reference and creation date stay.
    case replace
}
