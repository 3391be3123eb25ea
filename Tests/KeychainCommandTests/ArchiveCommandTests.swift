// SPDX-License-Identifier: MIT

#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import KeychainCommand

    /// `export` and `import` of archives.
    struct ArchiveCommandTests {
        private let bench = Bench()
        private let other = "memory:\(UUID().uuidString)"

        private var archive: String { "\(bench.folder)/backup.archive" }

        /// Runs a line whose words have no spaces; the archive is `ARCHIVE`, and a key file opens it.
        private func run(_ line: String, input: Data = Data(), in store: String? = nil) async throws -> Bench.Outcome {
            var arguments = line.split(separator: " ").map {
                $0 == "ARCHIVE" ? archive : $0 == "KEY" ? "keyfile:\(bench.folder)/key" : String($0)
            }
            _ = try bench.keyFile()
            if let store { arguments += ["--store", store] }
            return try await bench.run(arguments: arguments, input: input)
        }

        private func fill() async throws {
            for (line, value) in [
                ("set svc bob --label L", "1"), ("set svc --group team", "2"),
                ("set --url https://example.com/x alice", "3"),
                ("set svc eve --synchronizable yes", "4"), ("set own --accessible when-unlocked-this-device-only", "5"),
            ] {
                #expect(try await run(line, input: Data(value.utf8)).status == 0)
            }
        }

        @Test func theWholeStoreGoesThroughAFile() async throws {
            try await fill()
            let exported = try await run("export ARCHIVE --passphrase KEY")
            #expect(exported.status == 0 && exported.output.isEmpty)
            #expect(
                exported.errors
                    == "keychainctl: 1 item belongs to this device only, and was left out\nkeychainctl: exported 4 items\n"
            )
            #expect(Bench.mode(archive) == 0o600)
            let imported = try await run("import ARCHIVE --passphrase KEY", in: other)
            #expect(imported.status == 0 && imported.errors == "keychainctl: imported 4 items\n", "\(imported.errors)")
            #expect(try await run("get svc bob", in: other).text == "1")
            #expect(try await run("info svc bob", in: other).text.contains("label\tL"))
            #expect(try await run("get svc --group team", in: other).text == "2")
            #expect(try await run("get --url https://example.com/x", in: other).text == "3")
            #expect(try await run("get svc eve --synchronizable yes", in: other).text == "4")
            #expect(try await run("get own", in: other).status == 1)
        }

        @Test func aSelectorNarrowsIt() async throws {
            try await fill()
            for (line, count) in [
                ("svc", 1), ("--class generic-password --synchronizable any", 2), ("--url https://example.com", 1),
                ("--label L", 1), ("--group team", 1), ("svc --group team", 1),
            ] {
                let store = "memory:\(UUID().uuidString)"
                #expect(try await run("-q export ARCHIVE --passphrase KEY \(line)").status == 0, "\(line)")
                let imported = try await run("--json import ARCHIVE --passphrase KEY", in: store)
                #expect(imported.text == "{\"imported\":\(count),\"skipped\":0}\n", "\(line)")
                try FileManager.default.removeItem(atPath: archive)
            }
            let reference = try await run("ls --label L").text.split(separator: "\t").last ?? ""
            #expect(
                try await run("export ARCHIVE --passphrase KEY --ref \(reference)".trimmingCharacters(in: .newlines))
                    .status == 0
            )
        }

        @Test func nothingToExportLeavesNoFile() async throws {
            #expect(try await run("export ARCHIVE --passphrase KEY").status == 1)
            #expect(try await run("export ARCHIVE --passphrase KEY nothing").status == 1)
            _ = try await run("set own --accessible when-unlocked-this-device-only", input: Data("5".utf8))
            #expect(try await run("export ARCHIVE --passphrase KEY").status == 9)
            #expect(!FileManager.default.fileExists(atPath: archive))
        }

        @Test func aPipeThatNobodyWritesToEndsAtTheDeadline() async throws {
            #expect(mkfifo(archive, 0o600) == 0)
            #expect(try await run("import ARCHIVE --passphrase KEY --timeout 0.2").status == 8)
        }

        @Test func aPipeServesAsWell() async throws {
            try await fill()
            let exported = try await run("--json export - --format archive --passphrase KEY svc")
            #expect(exported.status == 0 && exported.output.starts(with: Data("kcarchiv".utf8)))
            let imported = try await run("import - --passphrase KEY", input: exported.output, in: other)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(try await run("get svc bob", in: other).text == "1")
            #expect(try await run("export - --passphrase KEY svc").status == 2, "The form is not known.")
        }

        @Test func whatIsThereIsNotLostByDefault() async throws {
            try await fill()
            _ = try await run("export ARCHIVE --passphrase KEY")
            let again = try await run("import ARCHIVE --passphrase KEY")
            #expect(again.status == 0 && again.errors == "keychainctl: imported 0 items; 4 were there already\n")
            _ = try await run("set svc bob", input: Data("newer".utf8))
            let refused = try await run("import ARCHIVE --passphrase KEY")
            #expect(refused.status == 3 && refused.errors.contains("--if-exists replace-value"), "\(refused.errors)")
            #expect(try await run("get svc bob").text == "newer")
            #expect(try await run("import ARCHIVE --passphrase KEY --if-exists fail").status == 3)
            #expect(try await run("import ARCHIVE --passphrase KEY --if-exists replace").status == 0)
            #expect(try await run("get svc bob").text == "1")
        }

        @Test func aGroupTakesAllOfIt() async throws {
            _ = try await run("set a", input: Data("1".utf8))
            _ = try await run("set b --group team", input: Data("2".utf8))
            _ = try await run("export ARCHIVE --passphrase KEY")
            #expect(try await run("import ARCHIVE --passphrase KEY --group both", in: other).status == 0)
            #expect(try await run("ls --group both", in: other).text.split(separator: "\n").count == 2)
            #expect(try await run("get a", in: other).status == 1)
        }

        @Test func wrongKeysAndDamageHaveStatusesOfTheirOwn() async throws {
            try await fill()
            _ = try await run("export ARCHIVE --passphrase KEY")
            func imported(_ source: String) async throws -> Int32 {
                let environment = bench.environment.merging(["PW": "x", "EMPTY": ""]) { $1 }
                return try await bench.run(
                    "import",
                    archive,
                    "--passphrase",
                    source,
                    "--store",
                    other,
                    environment: environment
                ).status
            }
            #expect(try await imported("env:PW") == 5)
            #expect(try await imported("env:NONE") == 6)
            #expect(try await run("import ARCHIVE --no-prompt", in: other).status == 4)
            #expect(try await run("import ARCHIVE", in: other).status == 4, "There is no terminal.")
            var bytes = try Data(contentsOf: URL(filePath: archive))
            bytes[bytes.count - 20] ^= 1
            try bytes.write(to: URL(filePath: archive))
            #expect(try await run("import ARCHIVE --passphrase KEY", in: other).status == 7)
            #expect(try await run("ls", in: other).text.isEmpty)
        }

        @Test func wrongUse() async throws {
            try await fill()
            _ = try await run("export ARCHIVE --passphrase KEY")
            #expect(try await run("export ARCHIVE --passphrase KEY").status == 3, "It exists.")
            for line in [
                "export \(bench.folder)/x.zip --passphrase KEY", "export \(bench.folder)/x.archive --format zip",
                "export \(bench.folder)/x.archive --class identity --passphrase KEY",
                "export \(bench.folder)/none/x.archive --passphrase KEY",
                "export \(bench.folder)/x.archive --passphrase nonsense",
                "import ARCHIVE --passphrase KEY --label x", "import ARCHIVE --passphrase KEY --tag x", "import",
                "import ARCHIVE --passphrase fd:7 --key fd:7",
            ] {
                #expect(try await run(line).status == 2, "\(line)")
            }
        }
    }
#endif
