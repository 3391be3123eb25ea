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
        var powers: HarnessPowers = [.reopen, .lock, .processes]

        func makeKeychain() throws -> Keychain {
            let keychain = try open(AccessGroup(rawValue: "conformance-\(UUID().uuidString)"))
            server.lend()
            return keychain
        }

        func discard(_ keychain: Keychain) { server.discard() }

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

    /// A server for the checks of a suite, started by the first of them.
    ///
    /// A fresh one takes its place now and then: each server takes longer for every item that it has, and none of them
    /// is quick at removing any.
    final class SharedServer: Sendable {
        private let start: @Sendable () throws -> any SecretServer
        private let server = Mutex(State())

        private struct State {
            var server: Result<any SecretServer, any Error>?
            /// How many stores of the server are in use: a check may have one of its own within another one.
            var lent = 0
            var discarded = 0
        }

        init(_ start: @escaping @Sendable () throws -> any SecretServer) {
            self.start = start
        }

        func get() throws -> any SecretServer {
            try server.withLock { server in
                if let server = server.server { return server }
                let started = Result { try start() }
                server.server = started
                return started
            }.get()
        }

        /// Notes that a store of the server is used.
        func lend() {
            server.withLock { $0.lent += 1 }
        }

        /// Notes that a store of the server is not used any more; when none is, the server may be exchanged.
        func discard() {
            server.withLock { server in
                server.lent -= 1
                server.discarded += 1
                if server.discarded >= 20, server.lent == 0 { server = State() }
            }
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
