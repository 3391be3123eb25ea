// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import KeychainCommand

    /// What `doctor` says of an encrypted file that is named.
    struct FileExaminationTests {
        private let bench = Bench()
        private var folder: String { "\(bench.folder)/store" }
        private var path: String { "\(folder)/a.keychain" }

        /// Runs a command about the file, by default with its key.
        private func run(
            _ arguments: String...,
            key: String? = nil,
            state: [String: String]? = nil
        ) async throws -> Bench.Outcome {
            let key = try key ?? "keyfile:\(bench.keyFile())"
            return try await bench.run(
                arguments: arguments + ["--store", "file:\(path)"] + (key.isEmpty ? [] : ["--key", key]),
                input: Data("value".utf8),
                environment: state ?? ["HOME": bench.folder]
            )
        }

        /// The findings of `doctor` by what was looked at: the status, and the text.
        private func doctor(
            key: String? = nil,
            state: [String: String]? = nil,
            _ options: String...
        ) async throws -> [String: [String]] {
            let key = try key ?? "keyfile:\(bench.keyFile())"
            let outcome = try await bench.run(
                arguments: ["doctor", "--store", "file:\(path)"] + (key.isEmpty ? [] : ["--key", key]) + options,
                environment: state ?? ["HOME": bench.folder]
            )
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            let rows = outcome.text.split(separator: "\n").map { $0.components(separatedBy: "\t") }
            return Dictionary(rows.map { ($0[1], [$0[0], $0[2]]) }) { first, _ in first }
        }

        init() async throws {
            for service in ["one", "two"] { #expect(try await run("-q", "set", service).status == 0) }
        }

        private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

        private func put(_ bytes: Data) throws {
            try bytes.write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
        }

        @Test func aSoundFileIsOkAndLeftAsItIs() async throws {
            let before = try (bytes(), FileManager.default.subpathsOfDirectory(atPath: bench.folder + "/.local"))
            let findings = try await doctor()
            #expect(findings["store file"]?[0] == "ok" && findings["store file"]?[1].contains("mode 600") == true)
            #expect(findings["store folder"]?[0] == "ok" && findings["store folder"]?[1].contains("mode 700") == true)
            #expect(findings["store contents"] == ["ok", "2 items are intact."])
            #expect(findings["seen states"]?[0] == "ok")
            #expect(findings["seen states"]?[1].contains("\(bench.folder)/.local/state/swift-keychain/seen") == true)
            #expect(try bytes() == before.0)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: bench.folder + "/.local") == before.1)
        }

        @Test func withoutAKeyWhatCanBeToldIsTold() async throws {
            for key in ["", "prompt", "fd:0", "store:memory:"] {
                let contents = try await doctor(key: key)["store contents"]
                #expect(contents?[0] == "note" && contents?[1].contains("head of the file is intact") == true, "\(key)")
            }
            var damaged = try bytes()
            for place in [100, 4196] { damaged[place] ^= 1 }
            try put(damaged)
            #expect(try await doctor(key: "")["store contents"]?[0] == "problem")
            try put(Data("garbage".utf8))
            #expect(try await doctor(key: "")["store contents"]?[1].contains("not a keychain file") == true)
            try FileManager.default.removeItem(atPath: path)
            let missing = try await doctor()
            #expect(missing["store file"]?[0] == "note" && missing["store contents"] == nil)
        }

        @Test func damageAWrongKeyAndAFormerStateAreTold() async throws {
            let former = try bytes()
            #expect(try await run("set", "three").status == 0)
            let other = "\(bench.folder)/other"
            try Data(repeating: 9, count: 32).write(to: URL(filePath: other))
            #expect(chmod(other, 0o600) == 0)
            #expect(try await doctor(key: "keyfile:\(other)")["store contents"]?[0] == "problem")
            var damaged = try bytes()
            damaged[damaged.count - 1] ^= 1
            try put(damaged)
            let contents = try await doctor()["store contents"]
            #expect(contents?[0] == "problem")
            #expect(contents?[1] == "The file is damaged; 2 items are intact. See what is lost: keychainctl check")
            try put(former)
            let rolledBack = try await doctor()["store contents"]
            #expect(rolledBack?[0] == "problem" && rolledBack?[1].contains("former state") == true)
        }

        @Test func aFolderThatOthersCanWriteToIsTold() async throws {
            for mode: mode_t in [0o770, 0o707, 0o777] {
                #expect(chmod(folder, mode) == 0)
                let finding = try await doctor()["store folder"]
                #expect(finding?[0] == "problem" && finding?[1].contains("chmod go-w '\(folder)'") == true)
                #expect(try await doctor(key: nil, "--allow-shared-permissions")["store folder"]?[0] == "note")
            }
            for mode: mode_t in [0o1777, 0o755] {
                #expect(chmod(folder, mode) == 0)
                #expect(try await doctor()["store folder"]?[0] == "ok")
            }
            #expect(chmod(path, 0o640) == 0)
            let findings = try await doctor()
            #expect(findings["store file"]?[0] == "problem" && findings["store contents"] == nil)
        }

        @Test func whereNothingCanBeRememberedThatIsTold() async throws {
            #expect(try await doctor(state: [:])["seen states"]?[0] == "note")
            let file = try bench.keyFile()
            for state in [["HOME": file], ["XDG_STATE_HOME": file], ["XDG_STATE_HOME": "\(file)/below"]] {
                let finding = try await doctor(state: state)["seen states"]
                #expect(finding?[0] == "note" && finding?[1].contains("is not noticed") == true, "\(state)")
            }
        }

        @Test func itEndsAtTheDeadline() async throws {
            #expect(try await run("doctor", "--timeout", "0.000001").status == 8)
        }

        @Test func onlyANamedFileIsLookedAt() async throws {
            let outcome = try await bench.run("doctor", "--store", "memory:")
            #expect(!outcome.text.contains("\tstore file\t") && !outcome.text.contains("\tseen states\t"))
        }
    }
#endif
