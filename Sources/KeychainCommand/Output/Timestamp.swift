// SPDX-License-Identifier: MIT

import FoundationEssentials

/// Moments as text.
enum Timestamp {
    /// ISO 8601 in UTC, to the second: `2026-02-03T04:05:06Z`.
    static func text(_ date: Date) -> String {
        date.formatted(.iso8601)
    }
}
