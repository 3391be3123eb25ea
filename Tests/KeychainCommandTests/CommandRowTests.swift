// SPDX-License-Identifier: MIT
#if File && SecretService && X509
    import Foundation
    import SecretServiceFixture
    import Testing

    @testable import KeychainCommand

    /// Every command of the built program on every kind of store.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct CommandRowTests {
        /// A command line in a shell, and how it ends.
        private struct Row {
            let line: String
            /// The exit status on a file, on GNOME Keyring, and in memory, where each process begins with nothing.
            let statuses: (file: Int32, service: Int32, memory: Int32)
            /// What is printed on a file and on GNOME Keyring, nil if it is of no interest.
            let output: String?

            init(_ line: String, _ file: Int32, _ service: Int32, _ memory: Int32, _ output: String? = "") {
                self.line = line
                statuses = (file, service, memory)
                self.output = output
            }
        }

        private static let rows = [
            Row("init", 0, 3, 0),
            Row("init", 3, 3, 0),
            Row("set svc bob <<< s3cret", 0, 0, 0),
            Row("set svc bob --if-exists fail <<< other", 3, 3, 0),
            Row("get svc bob", 0, 0, 1, "s3cret"),
            Row("get svc bob --json | grep -o '\"value\":\"s3cret\"'", 0, 0, 1, "\"value\":\"s3cret\"\n"),
            Row("get svc carl", 1, 1, 1),
            Row("contains svc bob", 0, 0, 1),
            Row("contains svc carl", 1, 1, 1),
            Row("info svc bob | grep account", 0, 0, 1, "account\tbob\n"),
            Row("info svc carl", 1, 1, 1),
            Row("ls svc | cut -f1-4", 0, 0, 0, "generic-password\tsvc\tbob\t\n"),
            Row("update svc bob --set-label Mine", 0, 0, 1),
            Row("update svc carl --set-label Mine", 1, 1, 1),
            Row("get --label Mine", 0, 0, 1, "s3cret"),
            Row("set svc carl <<< two", 0, 0, 0),
            Row("rm svc", 9, 9, 1),
            Row("rm svc dora", 1, 1, 1),
            Row("rm svc --all", 0, 0, 1),
            Row("ls", 0, 0, 0),
            Row("set svc bob <<< s3cret", 0, 0, 0),
            Row("run --env TOKEN='svc bob' -- sh -c 'printf %s $TOKEN; exit 42'", 42, 42, 1, "s3cret"),
            Row("watch svc --timeout 3", 0, 0, 0),
            Row("cp svc --to file:$HOME/other", 0, 0, 1),
            Row("cp svc --to file:$HOME/other --if-exists fail", 3, 3, 1),
            // It would end with the process, and the item with it.
            Row("mv svc --to memory:", 9, 9, 1),
            Row("mv svc --to file:$HOME/other", 0, 0, 1),
            Row("get svc", 1, 1, 1),
            Row("migrate --to file:$HOME/third", 1, 1, 1),
            Row("set svc bob <<< s3cret", 0, 0, 0),
            Row("migrate --to file:$HOME/third --json", 0, 0, 1, "{\"keptOnDevice\":0,\"migrated\":1}\n"),
            Row("export $HOME/all.archive --passphrase env:PHRASE --json", 0, 0, 1, "{\"exported\":1}\n"),
            Row("rm svc", 0, 0, 1),
            Row("import $HOME/all.archive --passphrase env:PHRASE --json", 0, 0, 6, "{\"imported\":1,\"skipped\":0}\n"),
            Row("import $HOME/all.archive --passphrase env:WRONG", 5, 5, 6),
            Row("get svc bob", 0, 0, 1, "s3cret"),
            Row("import $HOME/key.pem --label mine", 0, 0, 0),
            Row("export - --class key --label mine --format pem | head -n1", 0, 0, 1, "-----BEGIN PRIVATE KEY-----\n"),
            Row("git-credential get <<< $'protocol=https\\nhost=example.com\\n'", 0, 0, 0),
            Row(
                "git-credential store <<< $'protocol=https\\nhost=example.com\\nusername=bob\\npassword=pw\\n'",
                0,
                0,
                0
            ),
            Row("get --url https://example.com bob", 0, 0, 1, "pw"),
            Row(
                "git-credential get <<< $'protocol=https\\nhost=example.com\\n'",
                0,
                0,
                0,
                "username=bob\npassword=pw\n"
            ),
            Row("git-credential erase <<< $'protocol=https\\nhost=example.com\\n'", 0, 0, 0),
            Row("get --url https://example.com bob", 1, 1, 1),
            Row(
                "docker-credential store <<< '{\"ServerURL\":\"https://hub.example\",\"Username\":\"bob\",\"Secret\":\"pw\"}'",
                0,
                0,
                0
            ),
            Row("docker-credential list", 0, 0, 0, "{\"https://hub.example\":\"bob\"}\n"),
            Row(
                "docker-credential get <<< https://hub.example",
                0,
                0,
                1,
                "{\"Secret\":\"pw\",\"ServerURL\":\"https://hub.example\",\"Username\":\"bob\"}\n"
            ),
            Row("docker-credential erase <<< https://hub.example", 0, 0, 0),
            Row("docker-credential list", 0, 0, 0, "{}\n"),
            Row("key list | cut -f1-2", 0, 9, 9, "0\tkey\n"),
            Row("key add env:PHRASE", 0, 9, 9),
            Row("key add env:PHRASE", 3, 9, 9),
            Row("key change 1 env:WRONG", 0, 9, 9),
            Row("key remove 1", 0, 9, 9),
            Row("key rotate", 0, 9, 9),
            Row("key generate $HOME/new.key", 0, 0, 0),
            Row("key generate $HOME/new.key; S=$?; rm $HOME/new.key; exit $S", 3, 3, 3),
            Row("compact --json | tr -d 0-9", 0, 9, 9, "{\"after\":,\"before\":}\n"),
            Row("check", 0, 9, 9, "ok\t\t2 items intact\n"),
            Row("repair -o $HOME/repaired", 0, 9, 9, nil),
            Row("repair -o $HOME/repaired", 3, 9, 9),
            Row("lock", 9, 0, 9),
            Row("unlock --no-prompt", 9, 4, 9),
            Row("stores | grep -c available", 0, 0, 0, nil),
            Row("doctor | grep -c '^problem'", 1, 1, 1, "0\n"),
            Row("generate --length 12 | tr -d '\\n' | wc -c", 0, 0, 0, "12\n"),
            Row("completion bash | bash -n", 0, 0, 0),
            Row("help get | head -n1", 0, 0, 0, nil),
            Row("version", 0, 0, 0, "keychainctl \(CommandTable.versionNumber)\n"),
        ]

        @Test func noCommandIsLeftOut() {
            // The suite itself takes its time; ServiceCommandTests and FileStoreTests run it.
            let run = Self.rows.map { $0.line } + ["conformance"]
            for command in CommandTable.commands {
                #expect(run.contains { $0.hasPrefix(command.name) }, "\(command.name)")
            }
        }

        @Test func onAFile() async throws {
            let bench = Bench()
            try await run(bench, bench.fileEnvironment(), \.file)
        }

        @Test func onGNOMEKeyring() async throws {
            let bench = Bench()
            let keyring = try PrivateKeyring.start()
            let environment = try bench.fileEnvironment().merging(keyring.environment) { $1 }
            try await run(bench, environment.merging(["KEYCHAIN_STORE": "secret-service:"]) { $1 }, \.service)
        }

        @Test func inMemory() async throws {
            let bench = Bench()
            try await run(bench, try bench.fileEnvironment().merging(["KEYCHAIN_STORE": "memory:"]) { $1 }, \.memory)
        }

        private func run(
            _ bench: Bench,
            _ environment: [String: String],
            _ status: KeyPath<(file: Int32, service: Int32, memory: Int32), Int32>
        ) async throws {
            let environment = environment.merging(
                ["HOME": bench.folder, "PHRASE": "correct horse", "WRONG": "battery staple"]
            ) { $1 }
            try Self.key.write(toFile: "\(bench.folder)/key.pem", atomically: true, encoding: .utf8)
            for (index, row) in Self.rows.enumerated() {
                let script = "set -o pipefail; $K \(row.line)"
                let outcome = try await onThread { try Program.shell(script, environment: environment) }
                let wanted = row.statuses[keyPath: status]
                #expect(outcome.status == wanted, "\(index) \(row.line): \(outcome.errors)")
                let isSilent = ["get", "contains", "info", "rm", "update"].contains { row.line.hasPrefix($0) }
                if wanted == 1, isSilent { #expect(outcome.errors.isEmpty, "\(index) \(row.line): \(outcome.errors)") }
                guard status != \.memory, wanted != 9, let output = row.output else { continue }
                #expect(String(decoding: outcome.output, as: UTF8.self) == output, "\(index) \(row.line)")
            }
        }

        private static let key = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----
            """
    }
#endif
