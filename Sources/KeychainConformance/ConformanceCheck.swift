// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI

/// One sentence of the contract, as something that can be run.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    /// The sentence; no other check has the same.
    public let name: String
    /// The part of the contract.
    public let family: ConformanceFamily
    /// What the driver must be able to do; for one that cannot, the check demands the documented `unsupported` instead.
    public let requires: DriverCapabilities
    /// What the harness must be able to do; with one that cannot, the check is not applicable.
    public let needs: HarnessPowers

    enum Body: Sendable {
        case blocking(@Sendable (Bench) throws -> Void)
        case suspending(@Sendable (Bench) async throws -> Void)
    }

    let body: Body
    let otherwise: Body?

    /// The name.
    public var description: String { name }

    /// Runs the check.
    ///
    /// - Parameter harness: Makes the stores.
    /// - Returns: Whether it passed, or could not be run with this harness.
    /// - Throws: ``ConformanceFailure``.
    @discardableResult
    public func run(on harness: any ConformanceHarness) async throws(ConformanceFailure) -> ConformanceOutcome {
        let missing = needs.subtracting(harness.powers)
        guard missing.isEmpty else { return .notApplicable(missing) }
        let bench: Bench
        do {
            bench = Bench(keychain: try await harness.makeKeychain(), harness: harness)
        } catch {
            throw named(error, while: "making a keychain")
        }
        var failure: ConformanceFailure?
        do {
            try await bench.perform(bench.keychain.capabilities.isSuperset(of: requires) ? body : otherwise ?? body)
        } catch {
            failure = named(error, while: "running")
        }
        do {
            try await bench.cleanUp()
        } catch {
            failure = failure ?? named(error, while: "cleaning up")
        }
        do {
            try await harness.discard(bench.keychain)
        } catch {
            failure = failure ?? named(error, while: "discarding the keychain")
        }
        if let failure { throw failure }
        return .passed
    }

    private func named(_ error: any Error, while action: String) -> ConformanceFailure {
        var failure =
            switch error {
            case let failure as ConformanceFailure: failure
            case let error as KeychainError: ConformanceFailure("\(action) threw \(error.debugDescription)")
            // Of a foreign error only the type: nothing is known of what its text contains.
            default: ConformanceFailure("\(action) threw an error of type \(type(of: error))")
            }
        failure.check = name
        return failure
    }
}
