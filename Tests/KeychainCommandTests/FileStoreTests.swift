// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import KeychainCommand

    /// The command on an encrypted file.
    struct FileStoreTests {
        private let bench = Bench()
        private var path: String { "\(bench.folder)/a.keychain" }

        private func run(_ arguments: String..., input: String = "", key: String? = nil) async throws -> Bench.Outcome {
            try await bench.run(
                arguments: arguments + ["--store", "file:\(path)", "--key", key ?? "keyfile:\(try bench.keyFile())"],
                input: Data(input.utf8)
            )
        }

        @Test func setCreatesTheFileAndSaysSoOnce() async throws {
            let first = try await run("set", "svc", input: "1")
            #expect(first.status == 0 && first.output.isEmpty)
            #expect(first.errors == "keychainctl: created file:\(path)\n")
            #expect(Bench.mode(path) == 0o600)
            let second = try await run("set", "svc", input: "2")
            #expect(second.status == 0 && second.errors.isEmpty)
            #expect(try await run("get", "svc").text == "2")
        }

        @Test func quietMeansNoNote() async throws {
            #expect(try await run("-q", "set", "svc", input: "1").errors.isEmpty)
        }

        @Test func onlySetAndInitCreateAFile() async throws {
            for arguments in [
                ["get", "svc"], ["contains", "svc"], ["info", "svc"], ["ls"], ["rm", "svc"],
                ["update", "svc", "--set-label=x"], ["conformance"],
            ] {
                let outcome = try await bench.run(
                    arguments: arguments + ["--store", "file:\(path)", "--key", "keyfile:\(try bench.keyFile())"]
                )
                #expect(outcome.status == 6, "\(arguments)")
                #expect(!FileManager.default.fileExists(atPath: path), "\(arguments)")
            }
        }

        @Test func initRefusesAFileThatExists() async throws {
            let first = try await run("init")
            #expect(first.status == 0 && first.errors == "keychainctl: created file:\(path)\n")
            #expect(try await run("set", "svc", input: "1").status == 0)
            let before = try Data(contentsOf: URL(filePath: path))
            #expect(try await run("init").status == 3)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            #expect(try await run("get", "svc").text == "1")
        }

        @Test func aWrongKeyIsNoDamage() async throws {
            _ = try await run("set", "svc", input: "1")
            let other = "\(bench.folder)/other"
            try Data(repeating: 9, count: 32).write(to: URL(filePath: other))
            #expect(chmod(other, 0o600) == 0)
            let before = try Data(contentsOf: URL(filePath: path))
            for command in ["get", "rm", "set"] {
                #expect(try await run(command, "svc", key: "keyfile:\(other)").status == 5, "\(command)")
            }
            #expect(try await run("get", "svc", key: "garbage").status == 2)
            #expect(try await run("get", "svc", key: "file:\(bench.folder)/missing").status == 6)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }

        @Test func damageIsNoMissingItem() async throws {
            try Data("garbage".utf8).write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
            for command in ["get", "contains", "rm", "set"] {
                #expect(try await run(command, "svc").status == 7, "\(command)")
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("garbage".utf8))
        }

        @Test func aFileThatOthersCanReadIsRefused() async throws {
            _ = try await run("set", "svc", input: "1")
            #expect(chmod(path, 0o644) == 0)
            #expect(try await run("get", "svc").status == 9)
        }

        @Test func noPromptMeansLocked() async throws {
            _ = try await run("set", "svc", input: "1", key: "file:\(try bench.keyFile())")
            for command in ["get", "contains", "info", "ls"] {
                let outcome = try await run(command, "svc", "--no-prompt", key: "prompt")
                #expect(outcome.status == 4, "\(command)")
            }
            // There is no terminal either.
            #expect(try await run("get", "svc", key: "prompt").status == 4)
        }

        @Test func theDefaultStoreIsTheOneOfTheLibrary() async throws {
            let environment = ["HOME": bench.folder, "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())"]
            func run(_ arguments: String..., input: String = "") async throws -> Bench.Outcome {
                try await bench.run(arguments: arguments, input: Data(input.utf8), environment: environment)
            }
            let file = "\(bench.folder)/.local/share/swift-keychain/default.keychain"
            let remembered = "\(bench.folder)/.local/state/swift-keychain/default-store"
            #expect(try await run("get", "svc").status == 6)
            #expect(!FileManager.default.fileExists(atPath: remembered))
            #expect(try await run("set", "svc", input: "1").errors == "keychainctl: created file:\(file)\n")
            #expect(try String(contentsOfFile: remembered, encoding: .utf8) == "file:\n")
            #expect(try await run("get", "svc").text == "1")
            #expect(try await run("stores").text.contains("default\tfile:\tYour items have been stored there before."))
            // A store that has vanished is not an empty one.
            try FileManager.default.removeItem(atPath: file)
            #expect(try await run("set", "svc", input: "2").status == 6)
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try await run("init").status == 0)
            #expect(try await run("set", "svc", input: "3").status == 0)
        }

        @Test func initRemembersTheDefaultStore() async throws {
            let environment = ["HOME": bench.folder, "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())"]
            #expect(try await bench.run("init", environment: environment).status == 0)
            let remembered = "\(bench.folder)/.local/state/swift-keychain/default-store"
            #expect(try String(contentsOfFile: remembered, encoding: .utf8) == "file:\n")
        }

        @Test func doctorLooksAtTheDefaultFile() async throws {
            let folder = "\(bench.folder)/.local/share/swift-keychain"
            let environment = ["HOME": bench.folder, "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())"]
            #expect(try await bench.run("set", "svc", input: Data("1".utf8), environment: environment).status == 0)
            let well = try await bench.run("doctor", environment: environment).text
            #expect(well.contains("ok\tdefault folder\t") && well.contains("ok\tdefault file\t"))
            #expect(!well.contains("problem\t"))
            #expect(chmod(folder, 0o755) == 0)
            #expect(chmod(folder + "/default.keychain", 0o640) == 0)
            let ill = try await bench.run("doctor", environment: environment).text
            #expect(ill.contains("problem\tdefault folder\t") && ill.contains("chmod 700 '\(folder)'"))
            #expect(ill.contains("problem\tdefault file\t") && ill.contains("chmod 600 '\(folder)/default.keychain'"))
        }
    }
#endif
