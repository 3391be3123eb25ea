// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Runs a long random sequence of verbs on a store and on a simple model of the contract, and compares every answer,
/// every error and, after each verb, everything that the store holds.
///
/// The sequence follows from a seed. A failure names the seed and the verbs that lead to it, shortened where stores are
/// cheap to make; it contains no value. To run a sequence again, set `KEYCHAIN_CONFORMANCE_SEED` to its seed.
public struct ModelCheck: Sendable {
    /// What determines the sequence.
    public let seed: UInt64
    /// How many verbs the sequence has.
    public let steps: Int

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - seed: What determines the sequence; nil takes `KEYCHAIN_CONFORMANCE_SEED`, or else a random one.
    ///   - steps: How many verbs the sequence has.
    public init(seed: UInt64? = nil, steps: Int = 200) {
        let variable = ProcessInfo.processInfo.environment["KEYCHAIN_CONFORMANCE_SEED"].flatMap { UInt64($0) }
        self.seed = seed ?? variable ?? UInt64.random(in: 0...UInt64(UInt32.max))
        self.steps = steps
    }

    /// Runs the sequence.
    ///
    /// - Parameter harness: Makes the stores.
    /// - Throws: ``ConformanceFailure`` at the first difference.
    public func run(on harness: any ConformanceHarness) async throws {
        var generator = ModelGenerator(seed: seed)
        var operations = generator.operations(steps)
        guard var failure = try await difference(operations, harness) else { return }
        if harness.powers.contains(.freshStore) {
            (operations, failure) = try await shrink(operations, failure, harness)
        }
        let shown = operations.suffix(12).map { "  \($0)" }.joined(separator: "\n")
        throw ConformanceFailure(
            "The store and the model differ (KEYCHAIN_CONFORMANCE_SEED=\(seed)): \(failure.expectation)\n"
                + "The last of \(operations.count) verbs:\n\(shown)",
            fileID: failure.fileID,
            line: failure.line
        )
    }

    /// Runs verbs on a new keychain; gives the difference, if there is one.
    private func difference(
        _ operations: [ModelOperation],
        _ harness: any ConformanceHarness
    ) async throws -> ConformanceFailure? {
        let bench = Bench(keychain: try await harness.makeKeychain(), harness: harness)
        var failure: ConformanceFailure?
        do {
            try await Threads.run {
                var run = ModelRun(bench)
                try run.run(operations)
            }
        } catch let difference as ConformanceFailure {
            failure = difference
        } catch let error as KeychainError {
            failure = ConformanceFailure("An unexpected error: \(error.debugDescription)")
        }
        try await bench.cleanUp()
        try await harness.discard(bench.keychain)
        return failure
    }

    /// Leaves out verbs as long as the store and the model still differ.
    private func shrink(
        _ operations: [ModelOperation],
        _ failure: ConformanceFailure,
        _ harness: any ConformanceHarness
    ) async throws -> ([ModelOperation], ConformanceFailure) {
        var (shortest, last) = (operations, failure)
        var attempts = 150
        var size = shortest.count / 2
        while size > 0 {
            var start = 0
            while start < shortest.count, attempts > 0 {
                var shorter = shortest
                shorter.removeSubrange(start..<min(start + size, shorter.count))
                attempts -= 1
                if let found = try await difference(shorter, harness) {
                    (shortest, last) = (shorter, found)
                } else {
                    start += size
                }
            }
            size /= 2
        }
        return (shortest, last)
    }
}

extension ConformanceSuite {
    static let model = CheckList.make(.model) { list in
        for run in 1...3 as ClosedRange<UInt64> {
            list.addAsync("Random verbs agree with the reference model, sequence \(run)") { bench in
                let first = ModelCheck()
                // A store that others use as well is a service, which takes its time for each verb.
                let steps = bench.harness.powers.contains(.freshStore) ? 150 : 75
                try await ModelCheck(seed: first.seed &+ (run - 1), steps: steps).run(on: bench.harness)
            }
        }
    }
}
