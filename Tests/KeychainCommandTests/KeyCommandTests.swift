// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import KeychainCommand

    /// `key` and what is said when a passphrase is chosen.
    struct KeyCommandTests {
        private let bench = Bench()
        private var path: String { "\(bench.folder)/a.keychain" }

        private var environment: [String: String] {
            [
                "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(path)", "ONE": "first passphrase",
                "TWO": "second passphrase",
            ]
        }

        private func run(
            _ arguments: String...,
            key: String? = nil,
            input: String = "",
            more: [String: String] = [:]
        ) async throws -> Bench.Outcome {
            let key = try key ?? "keyfile:\(bench.keyFile())"
            return try await bench.run(
                arguments: arguments + (key.isEmpty ? [] : ["--key", key]),
                input: Data(input.utf8),
                environment: environment.merging(more) { $1 }
            )
        }

        private func opens(_ key: String, more: [String: String] = [:]) async throws -> Int32 {
            try await run("get", "svc", key: key, more: more).status
        }

        init() async throws {
            #expect(try await run("set", "svc", input: "1").status == 0)
        }

        @Test func keysAreAddedListedChangedAndRemoved() async throws {
            let added = try await run("key", "add", "env:ONE")
            #expect(added.status == 0 && added.output.isEmpty && added.errors == "keychainctl: added key slot 1\n")
            #expect(try await opens("env:ONE") == 0)
            let list = try await run("key", "list", key: "")
            #expect(list.status == 0 && list.errors.isEmpty)
            #expect(list.text == "0\tkey\t\t\t\n1\tpassphrase\t\t64 MiB, 2 passes\t\n")
            let changed = try await run("key", "change", "1", "env:TWO")
            #expect(changed.status == 0 && changed.output.isEmpty && changed.errors.contains("changed key slot 1"))
            #expect(try await opens("env:ONE") == 5)
            #expect(try await opens("env:TWO") == 0)
            let removed = try await run("-q", "key", "remove", "1")
            #expect(removed.status == 0 && removed.output.isEmpty && removed.errors.isEmpty)
            #expect(try await opens("env:TWO") == 5)
            #expect(try await run("key", "remove", "0").status == 9)
            #expect(try await run("get", "svc").text == "1")
        }

        @Test func aListIsJSONToo() async throws {
            #expect(try await run("key", "add", "env:ONE").status == 0)
            let list = try await run("key", "list", "--json", key: "")
            #expect(
                list.text == """
                    {"kind":"key","slot":0}
                    {"kind":"passphrase","memory":67108864,"passes":2,"slot":1}

                    """
            )
        }

        @Test func theListMarksTheSlotThatTheKeyOpens() async throws {
            #expect(try await run("key", "add", "env:ONE").status == 0)
            for (key, mark) in [("keyfile:\(try bench.keyFile())", 0), ("env:ONE", 1)] {
                let list = try await run("key", "list", key: key)
                #expect(list.status == 0 && list.errors.isEmpty)
                let rows = list.text.split(separator: "\n").map {
                    $0.split(separator: "\t", omittingEmptySubsequences: false)
                }
                #expect(rows.map(\.count) == [5, 5])
                #expect(rows.map { $0[4] } == (mark == 0 ? ["*", ""] : ["", "*"]))
                let lines = try await run("key", "list", "--json", key: key).text.split(separator: "\n")
                #expect(lines.map { $0.contains("\"opens\":true") } == [mark == 0, mark == 1])
                #expect(lines.map { $0.contains("\"opens\":false") } == [mark == 1, mark == 0])
            }
            // What there is can be listed whatever the key is.
            let plain = try await run("key", "list", key: "")
            for (key, status) in [("env:TWO", Int32(0)), ("env:NONE", 6), ("prompt", 4)] {
                let list = try await run("key", "list", key: key)
                #expect(list.status == status && list.output == plain.output && !list.errors.isEmpty, "\(key)")
            }
            #expect(try await run("key", "list", key: "env:TWO").errors.contains("opens none of them"))
            #expect(try await run("key", "list", "--json", key: "env:TWO").text.contains("\"opens\":false"))
        }

        @Test func aKeyThatOpensASlotIsNotAddedAgain() async throws {
            #expect(try await run("key", "add", "env:ONE").status == 0)
            let before = try Data(contentsOf: URL(filePath: path))
            for (source, slot) in [("keyfile:\(try bench.keyFile())", 0), ("env:ONE", 1)] {
                let again = try await run("key", "add", source)
                #expect(again.status == 3 && again.output.isEmpty)
                #expect(again.errors.contains("opens key slot \(slot) already"), "\(again.errors)")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }

        @Test func aDescriptorIsReadOnceForTheList() async throws {
            try Data("first passphrase\n".utf8).write(to: URL(filePath: "\(bench.folder)/one"))
            #expect(try await run("key", "add", "env:ONE").status == 0)
            let (folder, path) = (bench.folder, path)
            let outcome = try await onThread {
                try Program.shell(
                    "$K key list --key fd:3 3<$HOME/one | cut -f5",
                    environment: ["HOME": folder, "KEYCHAIN_STORE": "file:\(path)"]
                )
            }
            #expect(outcome.output == Data("\n*\n".utf8), "\(outcome.errors)")
        }

        @Test func theListShowsWhereASecretIsFoundAndItIsFoundThere() async throws {
            let more = ["CREDENTIALS_DIRECTORY": bench.folder]
            try Data("a passphrase for the service\n".utf8).write(to: URL(filePath: "\(bench.folder)/db-key"))
            #expect(try await run("key", "add", "credential:db-key", more: more).status == 0)
            #expect(try await run("key", "add", "store:memory:", more: more).status == 2, "It would not last.")
            let sources = try await run("key", "list", key: "").text.split(separator: "\n").map {
                $0.split(separator: "\t", omittingEmptySubsequences: false)[2]
            }
            #expect(sources == ["", "credential:db-key"])
            #expect(try await opens("", more: more) == 0)
        }

        @Test func aWrongKeyChangesNoKeys() async throws {
            let before = try Data(contentsOf: URL(filePath: path))
            for arguments in [
                ["key", "add", "env:TWO"], ["key", "change", "0", "env:TWO"], ["key", "remove", "0"],
                ["key", "rotate"],
            ] {
                let outcome = try await bench.run(
                    arguments: arguments + ["--key", "env:ONE"],
                    environment: environment
                )
                #expect(outcome.status == 5, "\(arguments)")
            }
            #expect(try await run("key", "add", "env:NONE").status == 6)
            #expect(try await run("key", "change", "3", "env:ONE").status == 2)
            #expect(try await run("key", "remove", "3").status == 2)
            #expect(try await run("key", "add", "prompt").status == 4, "There is no terminal.")
            #expect(try await run("key", "add", "prompt", "--no-prompt").status == 4)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }

        @Test func wrongUsageIsRefused() async throws {
            for arguments in [
                ["key"], ["key", "frobnicate"], ["key", "add"], ["key", "add", "garbage"],
                ["key", "add", "env:ONE", "env:TWO"],
                ["key", "change", "0"], ["key", "change", "x", "env:ONE"], ["key", "remove"], ["key", "remove", "-1"],
                ["key", "remove", "0x0"], ["key", "remove", "99999999999999999999"], ["key", "list", "x"],
                ["key", "rotate", "garbage"], ["key", "generate"], ["key", "generate", "-"], ["key", "generate", ""],
                ["check", "x"], ["compact", "x"], ["repair", "x"], ["repair", "--output", "-"],
                ["key", "list", "--raw"],
            ] {
                let outcome = try await bench.run(
                    arguments: arguments,
                    environment: environment.merging(["KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())"]) { $1 }
                )
                #expect(outcome.status == 2, "\(arguments): \(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            #expect(try await run("key", "list", "--help").status == 0)
            #expect(try await run("kye", "list").errors.contains("keychainctl help"))
            #expect(try await run("key", "lst").errors.contains("‘key list’"))
            #expect(try await run("key", "hunter2").errors.contains("hunter2") == false)
        }

        @Test func aDescriptorIsReadOnce() async throws {
            for arguments in [["key", "add", "fd:0"], ["key", "rotate", "fd:0", "fd:1"]] {
                let outcome = try await bench.run(arguments: arguments + ["--key", "fd:0"], environment: environment)
                #expect(outcome.status == 2 && outcome.errors.contains("only once"), "\(arguments)")
            }
        }

        @Test func rotatingLosesNoKeyUnasked() async throws {
            #expect(try await run("key", "add", "env:ONE").status == 0)
            let before = try Data(contentsOf: URL(filePath: path))
            for arguments in [["key", "rotate"], ["key", "rotate", "env:TWO"]] {
                let refused = try await bench.run(
                    arguments: arguments + ["--key", "keyfile:\(try bench.keyFile())"],
                    environment: environment
                )
                #expect(refused.status == 9 && refused.errors.contains("1 (passphrase)"), "\(arguments)")
                #expect(refused.errors.contains("0 (key)") == (arguments.count == 3), "\(arguments)")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            let all = try await run("key", "rotate", "keyfile:\(try bench.keyFile())", "env:TWO")
            #expect(all.status == 0 && all.output.isEmpty)
            #expect(try await opens("env:ONE") == 5)
            #expect(try await opens("env:TWO") == 0)
            let dropped = try await run("key", "rotate", "--drop-others")
            #expect(dropped.status == 0)
            #expect(try await opens("env:TWO") == 5)
            #expect(try await run("get", "svc").text == "1")
            #expect(try await run("key", "rotate").status == 0, "There are no others.")
            #expect(try await run("key", "list", key: "").text == "0\tkey\t\t\t\n")
        }

        @Test func whatAHintOpenedIsKeptByARotation() async throws {
            let more = ["CREDENTIALS_DIRECTORY": bench.folder]
            try Data("a passphrase for the service\n".utf8).write(to: URL(filePath: "\(bench.folder)/db-key"))
            #expect(try await run("key", "change", "0", "credential:db-key", more: more).status == 0)
            #expect(try await run("key", "rotate", key: "", more: more).status == 0)
            #expect(try await run("key", "list", key: "").text.contains("credential:db-key"))
            #expect(try await opens("", more: more) == 0)
        }

        @Test func aKeyFileIsMadeOnceForItsOwnerAlone() async throws {
            let key = "\(bench.folder)/new.key"
            let made = try await bench.run("key", "generate", key, environment: ["HOME": bench.folder])
            #expect(made.status == 0 && made.output.isEmpty && made.errors.isEmpty)
            let bytes = try Data(contentsOf: URL(filePath: key))
            #expect(bytes.count == 32 && Set(bytes).count > 8)
            #expect(Bench.mode(key) == 0o600)
            #expect(try await run("key", "generate", key).status == 3)
            #expect(symlink("\(bench.folder)/nothing", "\(bench.folder)/link") == 0)
            #expect(try await run("key", "generate", "\(bench.folder)/link").status == 3)
            #expect(try await run("key", "generate", "\(bench.folder)/none/new.key").status == 2)
            #expect(try Data(contentsOf: URL(filePath: key)) == bytes)
            #expect(try await run("key", "add", "keyfile:\(key)").status == 0)
            #expect(try await opens("keyfile:\(key)") == 0)
        }

        @Test func otherStoresHaveNoKeysAndNeedNoUpkeep() async throws {
            for arguments in [
                ["key", "list"], ["key", "add", "env:ONE"], ["key", "change", "0", "env:ONE"], ["key", "remove", "0"],
                ["key", "rotate"], ["compact"], ["check"], ["repair"],
            ] {
                for store in [["--store", bench.store], []] {
                    let outcome = try await bench.run(
                        arguments: arguments + store,
                        environment: ["HOME": bench.folder, "KEYCHAIN_STORE": bench.store, "ONE": "x"]
                    )
                    #expect(outcome.status == 9, "\(arguments)")
                    #expect(outcome.errors.contains("encrypted file"), "\(arguments)")
                }
                let missing = try await bench.run(
                    arguments: arguments + [
                        "--store", "file:\(bench.folder)/none", "--key", "keyfile:\(try bench.keyFile())",
                    ],
                    environment: environment
                )
                #expect(missing.status == 6, "\(arguments)")
            }
        }

        // What is said of a passphrase.

        @Test func aWeakPassphraseIsNotedWhereItIsChosen() async throws {
            let weak = ["WEAK": "hunter2", "WEAKER": "hunter"]
            let note = "easy to guess: it is shorter than 12 bytes"
            for (arguments, key) in [
                (["set", "svc", "--store", "file:\(bench.folder)/b"], "env:WEAK"),
                (["init", "--store", "file:\(bench.folder)/c"], "env:WEAK"), (["key", "add", "env:WEAK"], nil),
                (["key", "change", "1", "env:WEAK"], nil), (["key", "rotate", "env:WEAK", "env:ONE"], nil),
            ] {
                let outcome = try await bench.run(
                    arguments: arguments + ["--key", key ?? "keyfile:\(try bench.keyFile())"],
                    environment: environment.merging(weak) { $1 }
                )
                #expect(outcome.status == 0 && outcome.output.isEmpty, "\(arguments)")
                #expect(outcome.errors.components(separatedBy: note).count == 2, "\(arguments): \(outcome.errors)")
                #expect(!outcome.errors.contains("hunter2"))
            }
            for arguments in [
                ["get", "svc"], ["set", "svc"], ["key", "add", "env:TWO"], ["-q", "key", "add", "env:WEAKER"],
            ] {
                let outcome = try await bench.run(
                    arguments: arguments + ["--key", "env:WEAK"],
                    environment: environment.merging(weak) { $1 }
                )
                #expect(outcome.status == 0 && !outcome.errors.contains("guess"), "\(arguments)")
            }
        }

        // Permissions.

        @Test func sharedPermissionsAreTakenWhenThatIsSaid() async throws {
            let key = try bench.keyFile()
            for file in [path, key] {
                #expect(chmod(file, 0o644) == 0)
                for arguments in [["get", "svc"], ["key", "list"], ["check"]]
                where file == path || arguments[0] == "get" {
                    #expect(
                        try await bench.run(arguments: arguments + ["-k", "keyfile:\(key)"], environment: environment)
                            .status == 9
                    )
                    #expect(
                        try await bench.run(
                            arguments: arguments + ["-k", "keyfile:\(key)", "--allow-shared-permissions"],
                            environment: environment
                        ).status == 0
                    )
                    let variable = ["KEYCHAIN_ALLOW_SHARED_PERMISSIONS": "1", "KEYCHAIN_KEY": "keyfile:\(key)"]
                    #expect(
                        try await bench.run(arguments: arguments, environment: environment.merging(variable) { $1 })
                            .status == 0
                    )
                    let off = ["KEYCHAIN_ALLOW_SHARED_PERMISSIONS": "0", "KEYCHAIN_KEY": "keyfile:\(key)"]
                    #expect(
                        try await bench.run(arguments: arguments, environment: environment.merging(off) { $1 }).status
                            == 9
                    )
                }
                #expect(chmod(file, 0o600) == 0)
            }
        }
    }
#endif
