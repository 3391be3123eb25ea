// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import KeychainConformance

/// Stores in memory with one flaw, or none.
struct BrokenHarness: ConformanceHarness {
    let flaw: Flaw?

    var powers: HarnessPowers { MemoryHarness().powers }

    /// What a broken store never does need not be waited for long.
    var patience: Duration { flaw == nil ? .seconds(10) : .milliseconds(400) }

    func makeKeychain() -> Keychain {
        Keychain(driver: BrokenDriver(over: MemoryDriver(), flaw), accessGroup: AccessGroup(rawValue: "conformance"))
    }

    func discard(_ keychain: Keychain) {}

    func reopen(_ keychain: Keychain) throws -> Keychain {
        let base = try broken(keychain).base
        let reopened =
            switch flaw {
            case .forgetsWhenReopened: MemoryDriver()
            case .staleWhenReopened: try Self.copy(of: base)
            default: base
            }
        let location = flaw == .staleWhenReopened ? base.location : nil
        let driver = BrokenDriver(over: reopened, flaw, location: location)
        return Keychain(driver: driver, accessGroup: keychain.accessGroup)
    }

    func lock(_ keychain: Keychain) throws { try broken(keychain).base.inject(.locked) }

    func unlock(_ keychain: Keychain) throws { try broken(keychain).base.clearFaults() }

    private func broken(_ keychain: Keychain) throws -> BrokenDriver {
        guard let driver = keychain.driver as? BrokenDriver else {
            throw KeychainError(.internal, "The keychain is not one of this harness.")
        }
        return driver
    }

    /// The store as it is now, which hears of nothing that comes later.
    private static func copy(of driver: MemoryDriver) throws -> MemoryDriver {
        let copy = MemoryDriver()
        let call = CallContext(.copy)
        let items = try driver.read(call) { (reader) throws(KeychainError) in
            var items: [RecordMutation] = []
            for record in try reader.records(RecordSelection()) {
                items.append(.insert(record, try reader.value(of: record)))
            }
            return items
        }
        if !items.isEmpty {
            try copy.write(call) { (writer) throws(KeychainError) in try writer.commit(items) }
        }
        return copy
    }
}
