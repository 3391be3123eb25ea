// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@testable import KeychainCommand

/// `cp`, `mv` and `migrate`.
struct TransferCommandTests {
    private let bench = Bench()
    private let other = "memory:\(UUID().uuidString)"

    private func run(_ line: String, input: String = "", in store: String? = nil) async throws -> Bench.Outcome {
        var arguments = line.split(separator: " ").map(String.init)
        if let store { arguments += ["--store", store] }
        return try await bench.run(arguments: arguments, input: Data(input.utf8))
    }

    @Test func cpCopiesEveryMatchAndLeavesTheOriginals() async throws {
        for account in ["a", "b"] { #expect(try await run("set svc \(account)", input: account).status == 0) }
        #expect(try await run("set else a", input: "x").status == 0)
        let outcome = try await run("cp svc --to \(other)")
        #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        #expect(try await run("get svc b", in: other).text == "b")
        #expect(try await run("get else a", in: other).status == 1)
        #expect(try await run("get svc a").text == "a")
    }

    @Test func mvRemovesTheOriginals() async throws {
        _ = try await run("set svc bob --label L", input: "v")
        #expect(try await run("mv svc bob --to \(other)").status == 0)
        #expect(try await run("get svc bob").status == 1)
        #expect(try await run("get svc bob", in: other).text == "v")
        #expect(try await run("info svc bob", in: other).text.contains("label\tL"))
    }

    @Test func whatIsThereIsTreatedAsWasSaid() async throws {
        _ = try await run("set svc --label new", input: "new")
        _ = try await run("set svc --label old", input: "old", in: other)
        for command in ["cp svc", "mv svc", "migrate"] {
            let refused = try await run("\(command) --to \(other) --if-exists fail")
            #expect(refused.status == 3 && refused.errors.contains("--if-exists"), "\(refused.errors)")
            #expect(try await run("get svc", in: other).text == "old")
            #expect(try await run("get svc").text == "new")
        }
        #expect(try await run("cp svc --to \(other)").status == 0)
        #expect(try await run("get svc", in: other).text == "new")
        #expect(try await run("info svc", in: other).text.contains("label\told"))
        #expect(try await run("mv svc --to \(other) --if-exists replace").status == 0)
        #expect(try await run("info svc", in: other).text.contains("label\tnew"))
    }

    @Test func nothingToDoIsNotFound() async throws {
        for command in ["cp svc", "mv svc", "migrate"] {
            let outcome = try await run("\(command) --to \(other)")
            #expect(outcome.status == 1 && outcome.errors.isEmpty, "\(command) \(outcome.errors)")
        }
    }

    @Test func wrongUse() async throws {
        _ = try await run("set svc", input: "v")
        #expect(try await run("cp svc").status == 2)
        #expect(try await run("cp svc --to garbage").status == 2)
        #expect(try await run("cp svc --to nothing:").status == 6)
        #expect(try await run("cp --to \(other)").status == 2)
        #expect(try await run("cp --class identity --label x --to \(other)").status == 2)
        #expect(try await run("migrate svc --to \(other)").status == 2)
    }

    @Test func theClassIsThatOfTheSelector() async throws {
        _ = try await run("set --url https://example.com bob --label L", input: "internet")
        _ = try await run("set other --label L", input: "generic")
        #expect(try await run("mv --label L --to \(other)").status == 0)
        #expect(try await run("get other", in: other).text == "generic")
        #expect(try await run("get --url https://example.com", in: other).status == 1)
        #expect(try await run("mv --class internet-password --label L --to \(other)").status == 0)
        #expect(try await run("get --url https://example.com", in: other).text == "internet")
    }

    @Test func whatBelongsToThisDeviceStays() async throws {
        _ = try await run("set svc a --accessible when-unlocked-this-device-only", input: "stays")
        let refused = try await run("cp svc --to \(other)")
        #expect(refused.status == 9 && refused.errors.contains("this device"), "\(refused.errors)")
        _ = try await run("set svc b", input: "goes")
        let noted = try await run("mv svc --to \(other)")
        #expect(noted.status == 0)
        #expect(noted.errors == "keychainctl: 1 item belongs to this device only, and was left out\n")
        #expect(try await run("get svc a").text == "stays")
        #expect(try await run("get svc b").status == 1)
        let migrated = try await run("migrate --to \(other)")
        #expect(migrated.status == 9, "\(migrated.errors)")
    }

    @Test func migrateTakesEveryClassAndGroup() async throws {
        _ = try await run("set svc", input: "1")
        _ = try await run("set svc --group team", input: "2")
        _ = try await run("set --url https://example.com bob", input: "3")
        let outcome = try await run("migrate --to \(other)")
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.errors)")
        #expect(outcome.errors == "keychainctl: migrated 3 items to \(other)\n")
        #expect(try await run("get svc --group team", in: other).text == "2")
        #expect(try await run("get --url https://example.com bob", in: other).text == "3")
        #expect(try await run("get svc").text == "1", "The originals stay.")
        let third = "memory:\(UUID().uuidString)"
        let quiet = try await run("migrate -q --group team --to \(third)")
        #expect(quiet.status == 0 && quiet.errors.isEmpty)
        #expect(try await run("get svc", in: third).status == 1)
        #expect(try await run("get svc --group team", in: third).text == "2")
    }

    #if File
        @Test func betweenFilesWithKeysOfTheirOwn() async throws {
            let (first, second) = ("\(bench.folder)/a.keychain", "\(bench.folder)/b.keychain")
            let environment = ["HOME": bench.folder, "ONE": "a long passphrase", "TWO": "another passphrase"]
            func run(_ line: String, _ input: String = "") async throws -> Bench.Outcome {
                let arguments = line.split(separator: " ").map(String.init)
                return try await bench.run(arguments: arguments, input: Data(input.utf8), environment: environment)
            }
            _ = try await run("-q --store file:\(first) --key env:ONE set svc", "v")
            let moved = try await run("--store file:\(first) --key env:ONE mv svc --to file:\(second) --to-key env:TWO")
            #expect(moved.status == 0 && moved.errors == "keychainctl: created file:\(second)\n", "\(moved.errors)")
            #expect(try await run("--store file:\(second) --key env:TWO get svc").text == "v")
            #expect(try await run("--store file:\(second) --key env:ONE get svc").status == 5)
            #expect(try await run("--store file:\(first) --key env:ONE get svc").status == 1)
            let wrong = try await run("--store file:\(second) --key env:TWO cp svc --to file:\(first) --to-key env:TWO")
            #expect(wrong.status == 5)
        }
    #endif

    @Test func theBarIsDrawn() {
        #expect(
            ProgressBar.text("Reading", 1, of: 2, columns: 80)
                == "Reading [###############...............] 1 of 2"
        )
        #expect(ProgressBar.text("Storing", 0, of: 0, columns: 80).hasSuffix("] 0 of 0"))
        #expect(ProgressBar.text("Reading", 1, of: 2, columns: 24) == "Reading [###...] 1 of 2")
        #expect(ProgressBar.text("Reading", 1, of: 2, columns: 18) == "Reading 1 of 2")
    }
}
