// SPDX-License-Identifier: MIT

/// The contract as a list of checks.
///
/// With Swift Testing, a driver's test target needs no more than this to show each check by its name:
///
/// ```swift
/// @Test(arguments: ConformanceSuite.checks(for: MyHarness()))
/// func conforms(_ check: ConformanceCheck) async throws {
///     try await check.run(on: MyHarness())
/// }
/// ```
public enum ConformanceSuite {
    /// Every check.
    public static let all: [ConformanceCheck] = [
        uniqueness, textKeys, sharedStores, matching, attributes, store, update, retrieve, contains, remove, references,
        identities,
        copy, migration, transaction, changes, values, access, sealing, errors, concurrency, secrecy, persistence,
        limits, locking,
        processes, model,
    ].flatMap { $0 }

    /// The checks that can be run with a harness.
    ///
    /// - Parameter harness: Makes the stores.
    public static func checks(for harness: some ConformanceHarness) -> [ConformanceCheck] {
        all.filter { $0.needs.isSubset(of: harness.powers) }
    }
}
