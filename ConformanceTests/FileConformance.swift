// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import KeychainConformance
    import Testing

    @Suite("File", .serialized) struct FileConformance {
        @Test("File", arguments: ConformanceSuite.checks(for: FileHarness(secret: .key)))
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: FileHarness(secret: .key))
        }

        @Test(
            "File with a passphrase",
            arguments: ConformanceSuite.all.filter { [.persistence, .store].contains($0.family) }
        )
        func conformsWithPassphrase(_ check: ConformanceCheck) async throws {
            try await check.run(on: FileHarness(secret: .passphrase))
        }

        /// Workers that use another file: what the checks of several processes must notice.
        private struct StrangersHarness: ConformanceHarness {
            let harness = FileHarness(secret: .key)

            var powers: HarnessPowers { harness.powers }
            var patience: Duration { .milliseconds(500) }

            func makeKeychain() throws -> Keychain { try harness.makeKeychain() }

            func discard(_ keychain: Keychain) throws { try harness.discard(keychain) }

            func workerCommand(for keychain: Keychain) -> WorkerCommand? {
                harness.workerCommand(for: keychain).map { command in
                    WorkerCommand(
                        executable: command.executable,
                        storeURL: "\(command.storeURL)-\(UUID().uuidString)",
                        environment: command.environment
                    )
                }
            }
        }

        @Test(
            "Processes that share no store are noticed",
            arguments: [
                "Of eight processes that store(.fail) one key exactly one succeeds",
                "Upserts of eight processes leave one item, with a whole value",
                "Of what eight processes store nothing is lost",
                "Updates of eight processes to different attributes all survive",
                "A counter that processes raise in transactions loses no step",
                "Of eight processes that remove one item exactly one is told so",
                "A process that waits for another writer is told busy or timedOut at its deadline",
                "Of a writer that is killed no acknowledged item is lost",
                "What one process writes another one sees at its next call",
                "Changes that another process makes are told",
            ]
        )
        func strangersAreNoticed(_ name: String) async throws {
            let check = try #require(ConformanceSuite.all.first { $0.name == name })
            await #expect(throws: ConformanceFailure.self) { try await check.run(on: StrangersHarness()) }
        }
    }
#endif
