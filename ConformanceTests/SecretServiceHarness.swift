// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import KeychainConformance
    import SecretServiceFixture

    /// Groups of their own in one GNOME Keyring, which is private to the tests.
    struct SecretServiceHarness: ConformanceHarness {
        private static let keyring = Result { try PrivateKeyring.start() }

        var powers: HarnessPowers { [.reopen, .lock, .processes] }

        func makeKeychain() throws -> Keychain {
            try open(AccessGroup(rawValue: "conformance-\(UUID().uuidString)"))
        }

        func discard(_ keychain: Keychain) {}

        func reopen(_ keychain: Keychain) throws -> Keychain { try open(keychain.accessGroup) }

        func lock(_ keychain: Keychain) throws { try Self.keyring.get().lock() }

        func unlock(_ keychain: Keychain) throws { try Self.keyring.get().unlock() }

        func workerCommand(for keychain: Keychain) -> WorkerCommand? {
            guard let environment = try? Self.keyring.get().environment else { return nil }
            return WorkerCommand(
                executable: WorkerProgram.path,
                storeURL: keychain.location,
                environment: environment
            )
        }

        private func open(_ group: AccessGroup) throws -> Keychain {
            let environment = try Self.keyring.get().environment
            return Keychain(driver: try SecretServiceDriver(environment: environment), accessGroup: group)
        }
    }
#endif
