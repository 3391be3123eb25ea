// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

/// What a check works with: a keychain, and what the harness can do with its store.
final class Bench: Sendable {
    let keychain: Keychain
    let harness: any ConformanceHarness
    private let groups: Mutex<[AccessGroup]>

    init(keychain: Keychain, harness: any ConformanceHarness) {
        self.keychain = keychain
        self.harness = harness
        groups = Mutex([keychain.accessGroup])
    }

    /// How long to wait for what must happen at once.
    var patience: Duration { harness.patience }

    /// The same store with another group, which belongs to the check as well.
    func inGroup(_ suffix: String) -> Keychain {
        let other = keychain.with {
            $0.accessGroup = AccessGroup(rawValue: "\(keychain.accessGroup.rawValue).\(suffix)")
        }
        let group = other.accessGroup
        groups.withLock { if !$0.contains(group) { $0.append(group) } }
        return other
    }

    /// The same store and group through a new instance of the driver.
    func reopened() throws -> Keychain { try harness.reopen(keychain) }

    /// Runs the body of a check; one that blocks gets a thread of its own, not one of the cooperative pool.
    func perform(_ body: ConformanceCheck.Body) async throws {
        switch body {
        case .suspending(let body): try await body(self)
        case .blocking(let body): try await Threads.run { try body(self) }
        }
    }

    /// Empties the check's groups, unless the store vanishes anyway.
    func cleanUp() async throws {
        guard !harness.powers.contains(.freshStore) else { return }
        try await Threads.run { [self] in
            for group in groups.withLock({ $0 }) {
                let keychain = keychain.with { $0.accessGroup = group }
                try keychain.removeAll(includingSynchronizable: true)
                try expect(try snapshot(keychain).isEmpty, "removeAll leaves nothing of the check in the store")
            }
        }
    }
}
