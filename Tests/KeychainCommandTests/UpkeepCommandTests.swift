// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import KeychainCommand

    /// `compact`, `check`, `repair`, and a file that was put back to a former state.
    struct UpkeepCommandTests {
        private let bench = Bench()
        private var path: String { "\(bench.folder)/a.keychain" }

        private func run(_ arguments: String..., input: String = "") async throws -> Bench.Outcome {
            try await bench.run(
                arguments: arguments,
                input: Data(input.utf8),
                environment: [
                    "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(path)",
                    "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
                ]
            )
        }

        private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

        private func put(_ bytes: Data) throws {
            try bytes.write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
        }

        private func rows(_ outcome: Bench.Outcome) -> [[String]] {
            outcome.text.split(separator: "\n").map {
                $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            }
        }

        init() async throws {
            for account in ["alice", "bob", "carol"] {
                #expect(try await run("-q", "set", "svc", account, input: "value of \(account)").status == 0)
            }
        }

        @Test func aWholeFileIsOk() async throws {
            let check = try await run("check")
            #expect(check.status == 0 && check.errors.isEmpty && check.text == "ok\t\t3 items intact\n")
            #expect(try await run("check", "--json").text == "{\"items\":3,\"status\":\"ok\"}\n")
        }

        @Test func compactingRemovesWhatWasRemoved() async throws {
            #expect(try await run("rm", "svc", "bob").status == 0)
            let before = try bytes()
            let compact = try await run("compact")
            #expect(compact.status == 0 && compact.output.isEmpty && compact.errors.isEmpty)
            let small = try bytes().count
            #expect(small < before.count)
            #expect(try await run("get", "svc", "carol").text == "value of carol")
            #expect(try await run("rm", "svc", "alice").status == 0)
            let large = try bytes().count
            let told = try await run("-v", "compact")
            let smallest = try bytes().count
            #expect(told.status == 0 && told.output.isEmpty && smallest < small)
            #expect(told.errors == "keychainctl: file:\(path) had \(large) bytes, and has \(smallest) now\n")
            let json = try await run("compact", "--json", "-v")
            #expect(json.text == "{\"after\":\(smallest),\"before\":\(smallest)}\n" && json.errors.isEmpty)
            #expect(try await run("-q", "-v", "compact").errors.isEmpty)
        }

        @Test func whatTheNextWriteMendsIsNoDamage() async throws {
            var damaged = try bytes()
            damaged[4096 + 100] ^= 1
            try put(damaged)
            let check = try await run("check")
            #expect(check.status == 0)
            #expect(rows(check).last == ["mendable", "4096+4096", "one of the two copies of the head differs"])
            #expect(try await run("set", "svc", "dave", input: "x").status == 0)
            #expect(try await run("check").text == "ok\t\t4 items intact\n")
        }

        @Test func aLostValueIsToldAndTheRestIsSaved() async throws {
            var damaged = try bytes()
            damaged[damaged.count - 1] ^= 1
            try put(damaged)
            let check = try await run("check")
            #expect(check.status == 7 && check.errors.isEmpty)
            #expect(rows(check).map(\.[0]) == ["ok", "damaged", "lost"])
            #expect(rows(check)[0][2] == "2 items intact")
            #expect(rows(check)[1][1] == "\(damaged.count - 48)+48")
            #expect(rows(check)[2][2] == "generic-password, svc, carol")
            let repair = try await run("repair")
            #expect(repair.status == 7)
            #expect(rows(repair).first == ["ok", "", "2 items saved in \(path).repaired"])
            #expect(rows(repair).dropFirst() == rows(check).dropFirst())
            #expect(repair.errors.contains("is as it was"))
            #expect(try bytes() == damaged)
            #expect(Bench.mode(path + ".repaired") == 0o600)
            #expect(try await run("repair").status == 3, "Nothing is written over.")
            #expect(try await run("ls", "--store", "file:\(path).repaired").text.split(separator: "\n").count == 2)
            // In the place of the damaged one it is not an older one.
            #expect(rename(path + ".repaired", path) == 0)
            #expect(try await run("check").text == "ok\t\t2 items intact\n")
            #expect(try await run("get", "svc", "bob").text == "value of bob")
        }

        @Test func whatADamagedValueKeepsFromBeingClearedAwayIsTold() async throws {
            var damaged = try bytes()
            damaged[damaged.count - 1] ^= 1
            try put(damaged)
            let value = String(repeating: "x", count: 90_000)
            for _ in 0..<3 { #expect(try await run("set", "svc", "bob", input: value).status == 0) }
            let check = try await run("check")
            #expect(check.status == 7)
            #expect(rows(check).map(\.[0]) == ["ok", "damaged", "lost", "growing"])
            #expect(rows(check)[3][2].contains("store the lost items anew"))
            #expect(try await run("check", "--json").text.contains("\"status\":\"growing\""))
            #expect(try await run("set", "svc", "carol", input: "new").status == 0)
            #expect(try await run("check").text == "ok\t\t3 items intact\n")
        }

        @Test func aDamagedRecordIsToldAsJSON() async throws {
            var damaged = try bytes()
            damaged[16384 + 60] ^= 1
            try put(damaged)
            #expect(try await run("get", "svc", "carol").text == "value of carol")
            #expect(try await run("ls").status == 7)
            let set = try await run("set", "svc", "dave", input: "x")
            #expect(set.status == 7 && set.errors.contains("at byte 16384"))
            let check = try await run("check", "--json")
            #expect(check.status == 7)
            let objects = try check.text.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.compactMap { $0["status"] as? String } == ["ok", "damaged", "unknown"])
            #expect(objects[0]["items"] as? Int == 2)
            #expect(objects[1]["offset"] as? Int == 16384)
        }

        @Test func aCutFileHasDoubtfulItems() async throws {
            try put(try bytes().dropLast(10))
            let other = "\(bench.folder)/saved.keychain"
            let repair = try await run("repair", "-o", other)
            #expect(repair.status == 7)
            #expect(rows(repair).map(\.[0]) == ["ok", "damaged", "doubtful", "doubtful", "unknown"])
            #expect(rows(repair)[2][2] == "generic-password, svc, alice")
            #expect(try await run("get", "svc", "alice", "--store", "file:\(other)").text == "value of alice")
        }

        @Test func aWholeFileIsSavedAsItIs() async throws {
            let repair = try await run("repair")
            #expect(repair.status == 0 && repair.errors.contains("Nothing was wrong"))
        }

        @Test func aFileThatIsNoneCannotBeChecked() async throws {
            try put(Data("garbage".utf8))
            for command in ["check", "repair", "compact"] {
                let outcome = try await run(command)
                #expect(outcome.status == 7 && outcome.output.isEmpty, "\(command)")
            }
            #expect(!FileManager.default.fileExists(atPath: path + ".repaired"))
        }

        @Test func aFormerStateIsTreatedAsDamage() async throws {
            let backup = try bytes()
            #expect(try await run("set", "svc", "dave", input: "x").status == 0)
            try put(backup)
            for arguments in [["get", "svc", "bob"], ["ls"], ["check"], ["key", "remove", "0"]] {
                let outcome = try await bench.run(
                    arguments: arguments,
                    environment: [
                        "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(path)",
                        "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
                    ]
                )
                #expect(outcome.status == 7 && outcome.errors.contains("former state"), "\(arguments)")
            }
            let check = try await run("check")
            #expect(
                rows(check) == [
                    ["ok", "", "3 items intact"], ["former", "", "the file is older than when it was last seen here"],
                ]
            )
            #expect(try await run("check", "--json").text.contains("\"status\":\"former\""))
            let repair = try await run("repair")
            #expect(repair.status == 7 && rows(repair).map(\.[0]) == ["ok", "former"])
            let saved = try Data(contentsOf: URL(filePath: path + ".repaired"))
            try put(saved)
            #expect(try await run("get", "svc", "bob").text == "value of bob")
            #expect(try await run("check").text == "ok\t\t3 items intact\n")
            try put(backup)
            try FileManager.default.removeItem(atPath: "\(bench.folder)/.local/state/swift-keychain/seen")
            #expect(try await run("get", "svc", "bob").text == "value of bob")
        }
    }
#endif
