// SPDX-License-Identifier: MIT

import KeychainAPI

/// Collects the checks of a family.
struct CheckList {
    private let family: ConformanceFamily
    private let requires: DriverCapabilities
    private let otherwise: ConformanceCheck.Body?
    private(set) var checks: [ConformanceCheck] = []

    /// Makes the checks of a family.
    ///
    /// - Parameters:
    ///   - family: The family.
    ///   - requires: What the driver must be able to do.
    ///   - otherwise: What is demanded of a driver that cannot.
    ///   - build: Adds the checks.
    static func make(
        _ family: ConformanceFamily,
        requires: DriverCapabilities = [],
        otherwise: ConformanceCheck.Body? = nil,
        _ build: (inout CheckList) -> Void
    ) -> [ConformanceCheck] {
        var list = CheckList(family: family, requires: requires, otherwise: otherwise)
        build(&list)
        return list.checks
    }

    /// Adds a check that uses the synchronous verbs.
    mutating func add(_ name: String, needs: HarnessPowers = [], _ body: @escaping @Sendable (Bench) throws -> Void) {
        append(name, needs, .blocking(body))
    }

    /// Adds a check that uses the asynchronous verbs.
    mutating func addAsync(
        _ name: String,
        needs: HarnessPowers = [],
        _ body: @escaping @Sendable (Bench) async throws -> Void
    ) {
        append(name, needs, .suspending(body))
    }

    private mutating func append(_ name: String, _ needs: HarnessPowers, _ body: ConformanceCheck.Body) {
        checks.append(
            ConformanceCheck(
                name: name,
                family: family,
                requires: requires,
                needs: needs,
                body: body,
                otherwise: otherwise
            )
        )
    }
}
