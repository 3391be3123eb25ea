// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import SwiftKeychain
import Testing

@testable import KeychainCommand

/// The commands on items, on a store in memory.
struct ItemCommandTests {
    private let bench = Bench()

    /// Runs a command that must succeed.
    @discardableResult
    private func succeed(_ arguments: String..., input: String = "") async throws -> String {
        let outcome = try await bench.run(arguments: arguments, input: Data(input.utf8))
        #expect(outcome.status == 0, "\(arguments) \(outcome.errors)")
        return outcome.text
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(arguments: [
        Data(), Data("s3cret".utf8), Data([0]), Data("a\0b\n\nc".utf8), Data([0xFF, 0xFE, 0x80]), Data("🔑".utf8),
        Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }), Data(repeating: 0x61, count: 8 << 20),
        Data(repeating: 0x62, count: 64 * 1024),
    ])
    func everyValueComesBackToTheByte(value: Data) async throws {
        #expect(try await bench.run("set", "svc", "bob", input: value).status == 0)
        let outcome = try await bench.run("get", "svc", "bob")
        #expect(outcome.status == 0)
        #expect(outcome.output == value)
        #expect(outcome.errors.isEmpty)
    }

    @Test(arguments: [("x\n", "x"), ("x\n\n", "x\n"), ("\n", ""), ("x\r\n", "x\r"), ("x", "x"), ("\nx", "\nx")])
    func exactlyOneNewlineIsDropped(input: String, stored: String) async throws {
        try await succeed("set", "svc", input: input)
        #expect(try await succeed("get", "svc") == stored)
        try await succeed("set", "svc", "--raw", input: input)
        #expect(try await succeed("get", "svc") == input)
    }

    @Test func namesOfEveryKind() async throws {
        for name in [
            "🔑 schlüssel", "a\tb\nc", "--json", "", "e\u{301}", "é", "../x", String(repeating: "x", count: 9000),
        ] {
            #expect(try await bench.run("set", "--", "svc", name, input: Data(name.utf8)).status == 0)
        }
        for name in [
            "🔑 schlüssel", "a\tb\nc", "--json", "", "e\u{301}", "é", "../x", String(repeating: "x", count: 9000),
        ] {
            #expect(try await bench.run("get", "--", "svc", name).output == Data(name.utf8))
        }
    }

    @Test func aMissingItemIsSilent() async throws {
        for command in ["get", "contains", "info", "rm"] {
            let outcome = try await bench.run(command, "svc")
            #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(command)")
            let verbose = try await bench.run("-v", command, "svc")
            #expect(verbose.status == 1 && verbose.errors.hasPrefix("keychainctl: No item matches"), "\(command)")
        }
        let update = try await bench.run("update", "svc", "--set-label=x")
        #expect(update.status == 1 && update.errors.isEmpty)
        let reference = try await bench.run("get", "--ref", UUID().uuidString)
        #expect(reference.status == 1 && reference.errors.isEmpty)
        #expect(try await bench.run("ls", "svc").status == 0)
    }

    @Test func whatHappensToAnItemThatIsThere() async throws {
        try await succeed("set", "svc", "--label=first", input: "1")
        let refused = try await bench.run("set", "svc", "--if-exists=fail", input: Data("2".utf8))
        #expect(refused.status == 3 && refused.errors.contains("--if-exists"))
        #expect(try await succeed("get", "svc") == "1")
        try await succeed("set", "svc", "--comment=c", input: "3")
        var info = try json(try await succeed("info", "svc", "--json"))
        #expect(info["label"] as? String == "first" && info["comment"] == nil)
        let reference = info["ref"] as? String
        #expect(
            try await bench.run("set", "svc", "--if-exists=replace", "--comment=c", input: Data("4".utf8)).status == 0
        )
        info = try json(try await succeed("info", "svc", "--json"))
        #expect(info["label"] == nil && info["comment"] as? String == "c" && info["ref"] as? String == reference)
        #expect(try await succeed("get", "svc") == "4")
        #expect(try await bench.run("set", "svc", "--if-exists=never").status == 2)
    }

    @Test func valuesAsJSON() async throws {
        try await succeed("set", "svc", "bob", input: "a\"\0\n")
        #expect(try json(try await succeed("get", "svc", "--json"))["value"] as? String == "a\"\0")
        #expect(try await bench.run("set", "bin", input: Data([0xFF, 0])).status == 0)
        let object = try json(try await succeed("get", "bin", "--json"))
        #expect(object["valueBase64"] as? String == "/wA=" && object["value"] == nil)
        #expect(object["service"] as? String == "bin" && object["class"] as? String == "generic-password")
    }

    @Test func theOldestMatchIsRead() async throws {
        try await succeed("set", "svc", "b", input: "1")
        try await succeed("set", "svc", "a", input: "2")
        #expect(try await succeed("get", "svc") == "1")
        #expect(try await succeed("get", "--account", "a") == "2")
        #expect(try await bench.run("get", "svc", "").status == 1)
    }

    @Test func everyClassAndReference() async throws {
        try await succeed("set", "--url", "https://example.com:8443/api", "bob", input: "web")
        #expect(
            try await bench.run("set", "--class", "key", "--tag", "t", "--key-class=private", input: Data("k".utf8))
                .status == 0
        )
        #expect(
            try await bench.run("set", "--class=certificate", "--issuer=YQ==", "--label=c", input: Data("c".utf8))
                .status == 0
        )
        #expect(try await succeed("get", "--url", "https://example.com:8443/api", "bob") == "web")
        #expect(try await succeed("get", "--url", "https://example.com:8443/api") == "web")
        // A port and a path that are left out are any.
        #expect(try await succeed("get", "--url", "https://example.com/") == "web")
        #expect(try await bench.run("get", "--class", "key", "--tag", "t").text == "k")
        #expect(try await bench.run("get", "--class", "certificate", "--label", "c").text == "c")
        let lines = try await succeed("ls", "--json").split(separator: "\n").map { try json(String($0)) }
        #expect(lines.map { $0["class"] as? String } == ["internet-password", "key", "certificate"])
        for (line, value) in zip(lines, ["web", "k", "c"]) {
            #expect(try await succeed("get", "--ref", try #require(line["ref"] as? String)) == value)
        }
        #expect(lines[1]["applicationTagBase64"] as? String == "dA==" && lines[1]["keyClass"] as? String == "private")
        #expect(lines[0]["port"] as? Int == 8443 && lines[0]["protocol"] as? String == "https")
    }

    @Test func anIdentityIsTheJoinOfACertificateAndAKey() async throws {
        #expect(
            try await bench.run(
                "set",
                "--class=key",
                "--application-label=YWI=",
                "--key-class=private",
                "--label=k",
                input: Data("k".utf8)
            ).status == 0
        )
        #expect(
            try await bench.run(
                "set",
                "--class=certificate",
                "--public-key-hash=YWI=",
                "--label=me",
                input: Data("c".utf8)
            )
            .status == 0
        )
        #expect(try await bench.run("get", "--class=identity", "--label=me").text == "c")
        #expect(try await bench.run("update", "--class=identity", "--label=me", "--set-label=x").status == 2)
        #expect(try await bench.run("rm", "--class=identity", "--label=me").status == 0)
        #expect(try await succeed("ls") == "")
    }

    @Test func aListingForPrograms() async throws {
        #expect(try await bench.run("set", "a\tb", "bob", "--label=l\n", input: Data("1".utf8)).status == 0)
        try await succeed("set", "--url", "https://[::1]:1/p", "eve", input: "2")
        let lines = try await succeed("ls").split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        #expect(lines.map(\.count) == [6, 6])
        #expect(lines[0].prefix(4) == ["generic-password", "a\\tb", "bob", "l\\n"])
        #expect(lines[1].prefix(4) == ["internet-password", "https://[::1]:1/p", "eve", ""])
        #expect(UUID(uuidString: String(lines[0][5])) != nil)
        #expect(lines[0][4].hasSuffix("Z"))
        #expect(try await bench.run("ls", "--account", "eve").text.split(separator: "\n").count == 1)
    }

    @Test func infoForPrograms() async throws {
        #expect(
            try await bench.run(
                "set",
                "svc",
                "--creator=abcd",
                "--is-invisible=yes",
                "--generic=AP8=",
                input: Data("hunter2".utf8)
            ).status == 0
        )
        let text = try await succeed("info", "svc")
        let rows = text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let fields = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        #expect(fields["class"] == "generic-password" && fields["service"] == "svc" && fields["creator"] == "abcd")
        #expect(fields["is-invisible"] == "yes" && fields["generic"] == "AP8=" && fields["synchronizable"] == "no")
        #expect(fields["accessible"] == "after-first-unlock" && fields["group"]?.isEmpty == true)
        #expect(!text.contains("hunter2"))
    }

    @Test func updating() async throws {
        try await succeed("set", "svc", "bob", input: "1")
        try await succeed("set", "svc", "eve", input: "2")
        #expect(
            try await bench.run("update", "svc", "bob", "--set-account=carl", "--set-label=l", "--set-comment=c").status
                == 0
        )
        #expect(try await succeed("get", "svc", "carl") == "1")
        #expect(try await bench.run("update", "svc", "carl", "--clear", "label", "--clear=comment").status == 0)
        let info = try json(try await succeed("info", "svc", "carl", "--json"))
        #expect(info["label"] == nil && info["comment"] == nil)
        let duplicate = try await bench.run("update", "svc", "carl", "--set-account=eve")
        #expect(duplicate.status == 3 && !duplicate.errors.contains("ifExists"))
        #expect(try await bench.run("update", "svc", "--set-label=both").status == 0)
        #expect(try await bench.run("ls", "--label=both").text.split(separator: "\n").count == 2)
        #expect(try await bench.run("update", "svc", "eve", "--set-synchronizable=yes").status == 0)
        #expect(try await bench.run("get", "svc", "eve").status == 1)
        #expect(try await bench.run("get", "svc", "eve", "--synchronizable=any").text == "2")
        for arguments in [
            ["update", "svc"], ["update", "svc", "--clear", "nothing"], ["update", "svc", "--set-port", "1"],
            ["update", "svc", "--set-label=a", "--clear=label"], ["update", "svc", "--clear=accessible"],
            ["update", "svc", "--set-accessible=when-passcode-set-this-device-only"],
        ] {
            let status = try await bench.run(arguments: arguments).status
            #expect(status == (arguments.last?.contains("passcode") == true ? 9 : 2), "\(arguments)")
        }
    }

    @Test func removingNeedsToBeUnambiguous() async throws {
        try await succeed("set", "svc", "a", input: "1")
        try await succeed("set", "svc", "b", input: "2")
        let refused = try await bench.run("rm", "svc")
        #expect(refused.status == 9 && refused.errors.contains("--all"))
        #expect(try await succeed("ls").split(separator: "\n").count == 2)
        try await succeed("rm", "svc", "a")
        try await succeed("set", "svc", "c", input: "3")
        try await succeed("rm", "svc", "--all")
        #expect(try await succeed("ls") == "")
        #expect(try await bench.run("rm", "svc", "--all").status == 1)
    }

    @Test func groupsAreApart() async throws {
        try await succeed("set", "svc", "-gx", input: "1")
        #expect(try await bench.run("get", "svc").status == 1)
        #expect(
            try await bench.run("get", "svc", environment: bench.environment.merging(["KEYCHAIN_GROUP": "x"]) { $1 })
                .text == "1"
        )
    }

    @Test func policies() async throws {
        #expect(
            try await bench.run("set", "svc", "--accessible=when-unlocked-this-device-only", input: Data("1".utf8))
                .status == 0
        )
        #expect(try await bench.run("get", "svc", "--accessible=when-unlocked-this-device-only").text == "1")
        #expect(try await bench.run("get", "svc", "--accessible=when-unlocked").status == 1)
        try await succeed("update", "svc", "--set-accessible=when-unlocked")
        #expect(try await bench.run("get", "svc", "--accessible=when-unlocked").text == "1")
        let refused = try await bench.run("set", "x", "--accessible=when-passcode-set-this-device-only")
        #expect(refused.status == 9)
    }

    @Test func outputToAFile() async throws {
        try await succeed("set", "svc", input: "s3cret")
        let path = "\(bench.folder)/value"
        let other = "\(bench.folder)/other"
        try Data("old".utf8).write(to: URL(filePath: other))
        #expect(chmod(other, 0o644) == 0)
        #expect(symlink(other, path) == 0)
        let outcome = try await bench.run("get", "svc", "--output", path)
        #expect(outcome.status == 0 && outcome.output.isEmpty)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "s3cret")
        #expect(Bench.mode(path) == 0o600)
        // The link was replaced, and what it led to was not touched.
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "old")
        #expect(try await bench.run("get", "nothing", "--output", path).status == 1)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "s3cret")
        #expect(try await bench.run("get", "svc", "--output", "\(bench.folder)/no/x").status == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder)
        #expect(!names.contains { $0.hasPrefix("value.") })
    }

    @Test func aDashIsStandardOutput() async throws {
        try await succeed("set", "svc", input: "s3cret")
        for arguments in [["--output", "-"], ["--output=-"], ["-o-"], ["-o", "-"]] {
            #expect(try await bench.run(arguments: ["get", "svc"] + arguments).output == Data("s3cret".utf8))
        }
        let line = try await bench.run("get", "svc", "--json", "-o", "-").text
        #expect(try json(line)["value"] as? String == "s3cret")
    }

    @Test func outputDoesNotReplaceAPipe() async throws {
        try await succeed("set", "svc", input: "s3cret")
        let pipe = "\(bench.folder)/pipe"
        let link = "\(bench.folder)/link"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(symlink(pipe, link) == 0)
        for path in [pipe, link] {
            #expect(try await bench.run("get", "svc", "--output", path).status == 9)
        }
        let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
        #expect(type != .typeRegular)
    }

    @Test func generating() async throws {
        #expect(try await succeed("generate").count == 21)
        #expect(try await succeed("generate", "--length", "40").count == 41)
        #expect(try await succeed("generate") != succeed("generate"))
        for length in ["2", "4097", "x", "-1", "+5", "0x10", " 5", "1e3", "99999999999999999999"] {
            #expect(try await bench.run("generate", "-n", length).status == 2)
        }
    }

    @Test func errorsAreOneLine() async throws {
        let outcome = try await bench.run("get", "svc", "--store", "nothing:bad\nurl")
        #expect(outcome.status == 6)
        #expect(outcome.errors.hasPrefix("keychainctl: ") && outcome.errors.split(separator: "\n").count == 1)
        let verbose = try await bench.run("-v", "get", "svc", "--store", "nothing:")
        #expect(verbose.status == 6 && verbose.errors.contains("unavailable: ") && verbose.errors.contains("nothing:"))
    }

    @Test func aValueThatIsTooLargeIsRefusedWithTheLimit() async throws {
        let memory = MemoryDriver(maximumValueSize: 8)
        let registry = DriverRegistry([
            DriverRegistration(identifier: "box", summary: "", priority: 1, probe: { _ in .available("") }) { (_, _) in
                memory
            }
        ])
        for (input, arguments, isTaken) in [
            ("12345678", [], true), ("12345678\n", [], true), ("1234567\n", ["--raw"], true), ("123456789", [], false),
            ("12345678\n\n", [], false), ("12345678\n", ["--raw"], false),
        ] as [(String, [String], Bool)] {
            let outcome = try await bench.run(
                arguments: ["set", "svc", "--store", "box:"] + arguments,
                input: Data(input.utf8),
                registry: registry
            )
            #expect(outcome.status == (isTaken ? 0 : 2), "\(input)")
            #expect(outcome.errors.contains("more than 8 bytes") == !isTaken, "\(input)")
        }
    }

    @Test func anAttributeThatIsTooLargeIsRefused() async throws {
        let long = String(repeating: "x", count: 65_537)
        #expect(try await bench.run("set", long).status == 2)
        #expect(try await bench.run("set", "svc", "--comment", long).status == 2)
        #expect(try await bench.run("get", "svc", "--group", long).status == 2)
    }

    @Test func theValueAndThePassphraseDoNotShareStandardInput() async throws {
        let parsed = try ArgumentParser.parse(["set", "svc", "-k", "fd:0"], environment: [:])
        let io = CommandIO(interrupt: try Interrupt())
        let run = CommandRun(parsed: parsed, io: io, environment: [:], registry: .init([]), start: .now)
        await #expect(throws: KeychainError(.invalidParameter, "")) { try await run.set() }
    }
}
