// SPDX-License-Identifier: MIT

/// How a check ended that did not fail.
public enum ConformanceOutcome: Sendable, Hashable {
    /// The store does what the contract says.
    case passed
    /// The harness lacks powers that the check needs.
    case notApplicable(HarnessPowers)
}
