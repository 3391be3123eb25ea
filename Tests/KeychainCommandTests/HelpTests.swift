// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KeychainCommand

/// The help texts and the scripts of shells as they are printed.
///
/// `KEYCHAIN_UPDATE_SNAPSHOTS=1 swift test --filter HelpTests` writes them anew.
struct HelpTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots")

    @Test(arguments: ["keychainctl"] + CommandTable.commands.map(\.name))
    func snapshot(name: String) throws {
        let command = CommandTable.command(named: name)
        let text = command.map(HelpText.text(of:)) ?? HelpText.overview
        try expect(text, in: Self.folder.appending(path: Self.fileName(name)))
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test func theManualPage() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/keychainctl.1").standardized
        try expect(ManPage.text, in: file)
    }

    private static let scripts = [
        "completion.bash": CompletionScript.bash, "completion.fish": CompletionScript.fish,
        "completion.zsh": CompletionScript.zsh,
    ]

    @Test(arguments: scripts) func theScriptOfAShell(name: String, text: String) throws {
        try expect(text, in: Self.folder.appending(path: name))
    }

    private func expect(_ text: String, in file: URL) throws {
        if ProcessInfo.processInfo.environment["KEYCHAIN_UPDATE_SNAPSHOTS"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test func thereIsASnapshotOfNothingElse() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
        let helps = (["keychainctl"] + CommandTable.commands.map(\.name)).map(Self.fileName)
        #expect(Set(names) == Set(helps).union(Self.scripts.keys))
    }

    private static func fileName(_ command: String) -> String {
        command.replacingOccurrences(of: " ", with: "-") + ".txt"
    }

    @Test func everyWayToAskForHelp() async throws {
        let bench = Bench()
        let overview = try await bench.run("help")
        #expect(overview.text == HelpText.overview && overview.status == 0 && overview.errors.isEmpty)
        #expect(try await bench.run("--help").text == HelpText.overview)
        #expect(try await bench.run("-h").text == HelpText.overview)
        for command in CommandTable.commands where command.name != "help" {
            let text = HelpText.text(of: command)
            let words = command.name.components(separatedBy: " ")
            #expect(try await bench.run(arguments: ["help"] + words).text == text)
            #expect(try await bench.run(arguments: words + ["--help"]).text == text)
        }
        let group = try await bench.run("help", "key")
        #expect(group.status == 0 && group.text.contains("key rotate [SOURCE...]"))
        #expect(try await bench.run("key", "--help").text == group.text)
        #expect(try await bench.run("help", "key", "frobnicate").status == 2)
        #expect(try await bench.run("help", "get", "key").status == 2)
        let unknown = try await bench.run("help", "gte")
        #expect(unknown.status == 2 && unknown.output.isEmpty && unknown.errors.contains("‘get’"))
    }

    @Test func version() async throws {
        let bench = Bench()
        #expect(try await bench.run("version").text == "keychainctl 0.1.0\n")
        #expect(try await bench.run("--version").text == "keychainctl 0.1.0\n")
        #expect(try await bench.run("version", "--json").text == "{\"version\":\"0.1.0\"}\n")
    }

    @Test func aGarbledEnvironmentDoesNotKeepFromHelp() async throws {
        let environment = ["KEYCHAIN_STORE": "garbage", "KEYCHAIN_TIMEOUT": "x", "KEYCHAIN_KEY": "?"]
        for command in ["help", "version", "generate", "stores", "doctor"] {
            #expect(try await Bench().run(command, environment: environment).status == 0, "\(command)")
        }
    }
}
