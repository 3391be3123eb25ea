// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import KeychainConformance
    import SecretServiceFixture
    import Synchronization
    import Testing

    /// Groups of their own in one Secret Service, which is private to the tests.
    struct SecretServiceHarness: ConformanceHarness {
        let server: SharedServer

        var powers: HarnessPowers { [.reopen, .lock, .processes] }

        func makeKeychain() throws -> Keychain {
            try open(AccessGroup(rawValue: "conformance-\(UUID().uuidString)"))
        }

        func discard(_ keychain: Keychain) {}

        func reopen(_ keychain: Keychain) throws -> Keychain { try open(keychain.accessGroup) }

        func lock(_ keychain: Keychain) throws { try server.get().lock() }

        func unlock(_ keychain: Keychain) throws { try server.get().unlock() }

        func workerCommand(for keychain: Keychain) -> WorkerCommand? {
            guard let environment = try? server.get().environment else { return nil }
            return WorkerCommand(
                executable: WorkerProgram.path,
                storeURL: keychain.location,
                environment: environment
            )
        }

        private func open(_ group: AccessGroup) throws -> Keychain {
            let environment = try server.get().environment
            return Keychain(driver: try SecretServiceDriver(environment: environment), accessGroup: group)
        }
    }

    /// A server for all checks of a suite, started by the first of them.
    final class SharedServer: Sendable {
        private let start: @Sendable () throws -> any SecretServer
        private let server = Mutex<Result<any SecretServer, any Error>?>(nil)

        init(_ start: @escaping @Sendable () throws -> any SecretServer) {
            self.start = start
        }

        func get() throws -> any SecretServer {
            try server.withLock { server in
                if let server { return server }
                let started = Result { try start() }
                server = started
                return started
            }.get()
        }
    }

    /// In what a server is known to differ from the contract.
    struct ServerDifferences {
        /// The server.
        let server: String
        /// The checks that cannot hold there, by name, with the reason.
        let checks: [String: String]

        /// The checks that must hold.
        func remaining(_ harness: SecretServiceHarness) -> [ConformanceCheck] {
            ConformanceSuite.checks(for: harness).filter { checks[$0.name] == nil }
        }

        /// Expects that each difference is one, and that the documentation names it.
        func expectToBeReal(_ harness: SecretServiceHarness) async throws {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let page = folder.appendingPathComponent("docs/SecretServiceServers.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            for (name, reason) in checks {
                print("\(server) differs: \(name). \(reason)")
                #expect(text.contains("| \(name) |"))
                let check = try #require(ConformanceSuite.all.first { $0.name == name })
                await #expect(throws: ConformanceFailure.self) { try await check.run(on: harness) }
            }
        }
    }
#endif
