// SPDX-License-Identifier: MIT

/// Which items a migration is about.
public enum MigrationScope: Sendable, Hashable {
    /// Those of the source's access group, which come into that of the target.
    case group
    /// Those of every group, which stay in their groups.
    case everyGroup
}
