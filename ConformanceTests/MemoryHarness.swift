// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import KeychainConformance

/// Stores in memory.
struct MemoryHarness: ConformanceHarness {
    var powers: HarnessPowers { [.reopen, .lock, .freshStore] }

    func makeKeychain() -> Keychain {
        Keychain(driver: MemoryDriver(), accessGroup: AccessGroup(rawValue: "conformance"))
    }

    func discard(_ keychain: Keychain) {}

    /// The store lives as long as the instance, which is therefore the one to use again.
    func reopen(_ keychain: Keychain) -> Keychain {
        Keychain(driver: keychain.driver, accessGroup: keychain.accessGroup)
    }

    func lock(_ keychain: Keychain) throws { try memory(keychain).inject(.locked) }

    func unlock(_ keychain: Keychain) throws { try memory(keychain).clearFaults() }

    private func memory(_ keychain: Keychain) throws -> MemoryDriver {
        guard let driver = keychain.driver as? MemoryDriver else {
            throw KeychainError(.internal, "The keychain is not one of this harness.")
        }
        return driver
    }
}
