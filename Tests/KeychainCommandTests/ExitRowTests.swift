// SPDX-License-Identifier: MIT
#if File && SecretService
    import Foundation
    import SecretServiceFixture
    import Testing

    @testable import KeychainCommand

    /// Every exit status of the built program on every kind of store, on pipes and on a terminal.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct ExitRowTests {
        private static let phrases = ["PHRASE": "correct horse", "WRONG": "battery staple"]

        /// Scripts that end with an exit status, on a file or GNOME Keyring that has two items of a service, and in memory.
        private static let rows: [(status: ExitCode, file: String, service: String, memory: String)] = [
            (.done, "$K get svc a", "$K get svc a", "printf x | $K set svc"),
            (.notFound, "$K get other", "$K get other", "$K get svc a"),
            (.usage, "$K get", "$K get svc a --nonsense", "$K get svc --timeout never"),
            (
                .duplicate, "printf x | $K set svc a --if-exists fail", "printf x | $K set svc a --if-exists fail",
                "$K key generate $HOME/key"
            ),
            (
                .locked, "$K --key prompt --no-prompt get svc a", "$K lock; $K --no-prompt get svc a",
                "$K --no-prompt import $HOME/a.archive"
            ),
            (
                .wrongKey, "$K --key env:WRONG get svc a", "$K import $HOME/a.archive --passphrase env:WRONG",
                "$K import $HOME/a.archive --passphrase env:WRONG"
            ),
            (
                .unavailable, "$K -s file:$HOME/missing get svc a",
                "DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/none $K get svc a", "$K -s nothing: get svc a"
            ),
            (
                .damaged, "cp $KEYCHAIN_STORE_PATH $HOME/b; \(damage("b")); $K -s file:$HOME/b get svc b",
                "cp $HOME/a.archive $HOME/b.archive; \(damage("b.archive")); $K import $HOME/b.archive --passphrase env:PHRASE",
                "cp $HOME/a.archive $HOME/b.archive; \(damage("b.archive")); $K import $HOME/b.archive --passphrase env:PHRASE"
            ),
            (.interrupted, late, late, late),
            (.refused, "$K rm svc", "$K mv svc --to memory:", "$K check"),
            (.failed, "$K get svc a > /dev/full", "$K get svc a > /dev/full", "$K generate > /dev/full"),
        ]

        /// Writes over the last bytes of a file in the home folder.
        private static func damage(_ name: String) -> String {
            "truncate -s -4 $HOME/\(name); printf XXXX >> $HOME/\(name)"
        }

        private static let late = "rm -f $HOME/in; mkfifo $HOME/in; exec 3<> $HOME/in; $K --timeout 0.2 set svc <&3"

        @Test func noStatusIsLeftOut() {
            #expect(Self.rows.map(\.status) == ExitCode.allCases)
        }

        @Test func onAFile() async throws {
            let bench = Bench()
            let environment = try await filled(bench, try bench.fileEnvironment())
            for row in Self.rows { try await expect(row.status, row.file, environment) }
        }

        @Test func onGNOMEKeyring() async throws {
            let bench = Bench()
            let keyring = try PrivateKeyring.start()
            let environment = try await filled(bench, try Self.environment(of: keyring, bench))
            for row in Self.rows {
                try await expect(row.status, row.service, environment)
                if try keyring.isLocked() { try keyring.unlock() }
            }
        }

        @Test func inMemory() async throws {
            let bench = Bench()
            let environment = try await filled(bench, try bench.fileEnvironment())
            for row in Self.rows {
                try await expect(row.status, row.memory, environment.merging(["KEYCHAIN_STORE": "memory:"]) { $1 })
            }
        }

        /// The bars and the summaries are a person's: none of it is there with `--quiet`, nor where no terminal is.
        @Test(arguments: [false, true])
        func aPersonSeesHowFarItIs(onGNOMEKeyring: Bool) async throws {
            let bench = Bench()
            let keyring = onGNOMEKeyring ? try PrivateKeyring.start() : nil
            let environment = try await filled(
                bench,
                try keyring.map { try Self.environment(of: $0, bench) } ?? bench.fileEnvironment()
            )
            var rows = [
                ("cp svc --to file:$HOME/o1", ["Reading [", "Storing [##", "copied 2 items to file:"]),
                ("migrate --to file:$HOME/o2", ["Reading [", "Storing [##", "migrated 2 items to file:"]),
                ("export $HOME/c.archive --passphrase env:PHRASE", ["Reading [##", "exported 2 items"]),
                ("import $HOME/c.archive --passphrase env:PHRASE", ["Storing [##", "imported 0 items; 2 were there"]),
                ("mv svc a --to file:$HOME/o3", ["Storing [##", "Removing [##", "moved 1 item to file:"]),
                ("get svc b", ["two\r\n"]),
                ("ls", ["CLASS", "NAME", "svc"]),
            ]
            if !onGNOMEKeyring {
                rows += [
                    ("check", ["Checking [##", "STATUS", "1 item intact"]),
                    ("repair -o $HOME/r", ["Checking [##", "1 item saved", "Nothing was wrong"]),
                ]
            }
            for (line, wanted) in rows {
                let shown = try await onTerminal("$K \(line); echo END", environment)
                for text in wanted { #expect(shown.contains(text), "\(line): \(shown)") }
            }
            for line in ["-q cp svc --to file:$HOME/o1", "-q mv svc --to file:$HOME/o1"] {
                #expect(try await onTerminal("$K \(line); echo END", environment) == "END", "\(line)")
            }
        }

        /// What a terminal shows of a script, up to `END`.
        private func onTerminal(_ script: String, _ environment: [String: String]) async throws -> String {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            async let outcome = onThread { try Program.shell(script, environment: environment, terminal: path) }
            let shown = try await onThread { try terminal.wait(for: "END") }
            #expect(try await outcome.status == 0, "\(script): \(shown)")
            return shown
        }

        private func expect(_ status: ExitCode, _ script: String, _ environment: [String: String]) async throws {
            let outcome = try await onThread { try Program.shell(script, environment: environment) }
            #expect(outcome.status == status.rawValue, "\(script): \(outcome.errors)")
            if status == .done || status == .notFound {
                #expect(outcome.errors.isEmpty, "\(script): \(outcome.errors)")
            } else {
                #expect(outcome.errors.hasPrefix("keychainctl: ") && outcome.output.isEmpty, "\(script)")
            }
            let lines = outcome.errors.split(separator: "\n").count
            #expect(status == .usage ? lines == 2 : lines <= 1, "\(script): \(outcome.errors)")
        }

        /// The environment of a store with two items, and an archive of them.
        private func filled(_ bench: Bench, _ environment: [String: String]) async throws -> [String: String] {
            let environment = environment.merging(Self.phrases) { $1 }.merging([
                "KEYCHAIN_STORE_PATH": "\(bench.folder)/a.keychain"
            ]) { $1 }
            let outcome = try await onThread {
                try Program.shell(
                    """
                    set -e; printf one | $K -q set svc a; printf two | $K -q set svc b
                    $K -q export $HOME/a.archive --passphrase env:PHRASE
                    """,
                    environment: environment
                )
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            return environment
        }

        private static func environment(of keyring: PrivateKeyring, _ bench: Bench) throws -> [String: String] {
            try bench.fileEnvironment().merging(keyring.environment) { $1 }.merging([
                "HOME": bench.folder, "KEYCHAIN_STORE": "secret-service:",
            ]) { $1 }
        }

        // MARK: Many at once

        /// Two hundred processes at once, which store, read, change and remove.
        private static let crowd = """
            for n in $(seq 10); do printf old | $K -q set kept $n; printf x | $K -q set gone $n; done
            running=()
            start() { "$@" <&0 & running+=($!); }
            for n in $(seq 100); do start $K set new $n <<< "value $n"; done
            for n in $(seq 10) $(seq 10) $(seq 10) $(seq 10) $(seq 10) $(seq 10) $(seq 10) $(seq 10); do
                start $K get kept $n > /dev/null
            done
            for n in $(seq 10); do start $K update kept $n --set-label changed; start $K rm gone $n; done
            failed=0; for process in ${running[@]}; do wait $process || { failed=$?; echo "status $failed"; }; done
            $K ls new | wc -l; $K ls kept --label changed | wc -l; $K ls gone | wc -l
            for n in $(seq 100); do [ "$($K get new $n)" = "value $n" ] || echo "$n is another"; done
            echo ${#running[@]} $failed
            """

        @Test func aCrowdOnOneFile() async throws {
            let bench = Bench()
            let environment = try bench.fileEnvironment()
            let outcome = try await onThread { try Program.shell(Self.crowd, environment: environment) }
            #expect(String(decoding: outcome.output, as: UTF8.self) == "100\n10\n0\n200 0\n", "\(outcome.errors)")
            #expect(try await onThread { try Program.shell("$K check", environment: environment) }.status == 0)
        }

        @Test func aCrowdOnOneKeyring() async throws {
            let bench = Bench()
            let keyring = try PrivateKeyring.start()
            // GNOME Keyring writes its file anew for each of them: the last ones wait longer than a call does by itself.
            let environment = try Self.environment(of: keyring, bench).merging(["KEYCHAIN_TIMEOUT": "180"]) { $1 }
            let outcome = try await onThread { try Program.shell(Self.crowd, environment: environment) }
            #expect(String(decoding: outcome.output, as: UTF8.self) == "100\n10\n0\n200 0\n", "\(outcome.errors)")
        }
    }
#endif
