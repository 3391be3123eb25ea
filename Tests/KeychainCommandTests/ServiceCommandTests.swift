// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import SecretServiceFixture
    import Testing

    /// Commands that are about the desktop's keyring, with a GNOME Keyring of their own.
    @Suite(.serialized, .timeLimit(.minutes(1)))
    struct ServiceCommandTests {
        private func shell(_ script: String, _ keyring: PrivateKeyring) async throws -> Program.Outcome {
            let environment = keyring.environment.merging(["KEYCHAIN_STORE": "secret-service:"]) { $1 }
            return try await onThread { try Program.shell(WatchTests.head + script, environment: environment) }
        }

        private func lines(_ outcome: Program.Outcome) -> [String] {
            String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        @Test func changesOfOtherProgramsArePrinted() async throws {
            let keyring = try PrivateKeyring.start()
            let outcome = try await shell(
                """
                begin; echo -n 1 | secret-tool store --label=l service theirs username bob; next
                echo 2 | $K set ours bob; next; echo 3 | $K set ours bob; next; $K rm ours; next; end TERM
                """,
                keyring
            )
            #expect(
                lines(outcome).map { $0.split(separator: "\t").prefix(3).joined(separator: " ") } == [
                    "added generic-password theirs", "added generic-password ours", "updated generic-password ours",
                    "removed generic-password ours", "status 143",
                ]
            )
        }

        @Test func lockAndUnlock() async throws {
            let keyring = try PrivateKeyring.start()
            let script = "$K lock; echo $?; $K unlock; echo $?; $K --no-prompt unlock; echo $?"
            let refused = try await shell(script, keyring)
            #expect(lines(refused) == ["0", "4", "4"])
            #expect(try keyring.isLocked())
            let prompter = try keyring.startPrompter(.password("correct horse"))
            #expect(lines(try await shell("$K unlock; echo $?", keyring)) == ["0"])
            try prompter.waitUntilAsked()
            #expect(try keyring.isLocked() == false)
        }

        @Test func initCreatesACollection() async throws {
            let keyring = try PrivateKeyring.start()
            let prompter = try keyring.startPrompter(.password("another"))
            let outcome = try await shell(
                """
                export KEYCHAIN_STORE=secret-service:Work; echo v | $K set svc 2>/dev/null; echo $?
                $K --no-prompt init; echo $?; $K init; echo $?; echo v | $K set svc; $K get svc; $K init; echo $?
                """,
                keyring
            )
            try prompter.waitUntilAsked()
            #expect(lines(outcome) == ["6", "4", "0", "v3"])
        }

        @Test func doctorLooksAtTheService() async throws {
            let keyring = try PrivateKeyring.start()
            func findings() async throws -> [[String]] {
                lines(try await shell("$K doctor", keyring)).map {
                    $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                }
            }
            var found = try await findings()
            #expect(found.contains(["ok", "bus address", "\(keyring.busAddress) answers."]))
            let service = try #require(found.first { $0[1] == "secret service" })
            #expect(service[0] == "ok" && service[2].hasPrefix("gnome-keyring-d"))
            #expect(service[2].contains("process "))
            let login = "‘Login’ (\(PrivateKeyring.defaultCollection))"
            #expect(found.contains(["ok", "collection", "\(login) is unlocked, and is the default one."]))
            #expect(!found.contains { $0[1] == "clear keyring" })
            try keyring.lock()
            found = try await findings()
            let locked = "\(login) is locked, and is the default one."
            #expect(found.contains { $0[0] == "note" && $0[2].hasPrefix(locked) })
            #expect(try keyring.isLocked())
            keyring.killDaemon()
            #expect(try await findings().contains { $0[0] == "note" && $0[1] == "secret service" })
            keyring.stopBus()
            #expect(try await findings().contains { $0[0] == "note" && $0[1] == "bus address" })
            let json = lines(try await shell("$K --json doctor", keyring))
            #expect(json.contains { $0.contains("\"bus address\"") && $0.contains("\"note\"") })
        }

        @Test func doctorMissesADefaultCollection() async throws {
            let outcome = try await shell("$K doctor", try PrivateKeyring.start(password: nil))
            let finding = lines(outcome).first { $0.hasPrefix("problem\tdefault collection\t") }
            #expect(finding?.contains("keychainctl init --store secret-service:") == true)
        }

        @Test func doctorWarnsOfAKeyringInClearText() async throws {
            let keyring = try PrivateKeyring.start(password: "")
            let outcome = try await shell("echo v | $K set svc; $K doctor", keyring)
            let warning = lines(outcome).first { $0.hasPrefix("problem\tclear keyring\t") }
            #expect(warning?.contains("login.keyring") == true)
        }
    }
#endif
