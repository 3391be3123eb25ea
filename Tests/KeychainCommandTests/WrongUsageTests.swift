// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import KeychainConformance
import Testing

@testable import KeychainCommand

/// What is said of a command line that cannot be right: one line of what is wrong, and one that shows the way.
struct WrongUsageTests {
    private let bench = Bench()

    private func lines(_ arguments: [String]) async throws -> [String] {
        let outcome = try await bench.run(arguments: arguments)
        #expect(outcome.status == 2, "\(arguments)")
        #expect(outcome.output.isEmpty, "\(arguments)")
        let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.count == 3 && lines.last == "", "\(arguments): \(outcome.errors)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("keychainctl: ") }, "\(arguments)")
        return lines
    }

    @Test(arguments: CommandTable.commands.map(\.name))
    func everyCommandShowsTheWay(name: String) async throws {
        let words = name.split(separator: " ").map(String.init)
        let command = try #require(CommandTable.command(named: name))
        for arguments in [
            words + ["--frobnicate"], ["--frobnicate"] + words, words + ["--timeout", "never", "--timeout"],
        ] {
            let lines = try await lines(arguments)
            // An option is looked at before what stands behind it is known.
            let knowsTheCommand = arguments.first != "--frobnicate"
            #expect(lines[1].contains(knowsTheCommand ? HelpText.usage(of: command) : "‘keychainctl help’"), "\(lines)")
        }
    }

    @Test func withoutACommandTheListIsShown() async throws {
        for arguments in [[], ["frobnicate"], ["-q"], ["--store", "memory:"]] {
            #expect(try await lines(arguments)[1].contains("‘keychainctl help’ lists the commands"))
        }
        #expect(try await lines(["key"])[1].contains("‘keychainctl help key’ lists the commands"))
        #expect(try await lines(["key", "frobnicate"])[1].contains("‘keychainctl help key’"))
    }

    @Test func whatIsFoundLaterShowsTheWayAsWell() async throws {
        for arguments in [
            ["get"], ["get", "svc", "--port", "x"], ["set", "svc", "--ref", "x"],
            ["get", "svc", "--store", "nonsense"],
            ["get", "svc", "--key", "nonsense"], ["get", "--url", "nonsense"], ["rm", "--class", "key"],
            ["get", "svc", "--timeout", "0"], ["get", "svc", "--server", "x"], ["generate", "--length", "x"],
        ] {
            #expect(try await lines(arguments)[1].contains("‘keychainctl help \(arguments[0])’"), "\(arguments)")
        }
    }

    /// Words of the table and others, so that many lines are nearly right.
    private static let words: [String] = names + options + others

    private static let names = CommandTable.commands.flatMap { $0.name.split(separator: " ").map(String.init) }

    private static let options: [String] = CommandTable.optionNames.compactMap(CommandTable.option(named:)).flatMap {
        spec in
        let long = ["--\(spec.name)", "--\(spec.name)=hunter2"]
        guard let letter = spec.short else { return long }
        return long + ["-\(letter)", "-\(letter)hunter2"]
    }

    private static let others: [String] = [
        "", "-", "--", "---", "-=", "--=", "=", "hunter2", "hunter2=hunter2", "--hunter2=x", "-qvj", "memory:",
        "file:/x",
        "https://example.com:8443/x?y#z", "https://", "http://[::1", "yes", "no", "any", "0x7fffffff", "-1",
        "99999999999999999999", "1e999", "nan", "generic-password", "certificate", "😀", "e\u{301}", "\u{202E}",
        "\u{FEFF}",
        "\n", "\t", "\u{1B}[2J", "%00", "%", String(repeating: "a", count: 70_000),
    ]

    @Test(arguments: 0..<20)
    func anyWordsAreTakenOrRefused(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            let count = Int.random(in: 0...7, using: &generator)
            var arguments = (0..<count).compactMap { _ in Self.words.randomElement(using: &generator) }
            if Bool.random(using: &generator), let command = CommandTable.commands.randomElement(using: &generator) {
                arguments.insert(contentsOf: command.name.split(separator: " ").map(String.init), at: 0)
            }
            do throws(KeychainError) {
                let parsed = try ArgumentParser.parse(arguments, environment: ["KEYCHAIN_TIMEOUT": "5"])
                _ = try Settings(parsed, start: .now)
                if parsed.command.selection != nil { _ = try Selector(parsed) }
            } catch {
                #expect(error.code == .invalidParameter, "\(arguments) \(error)")
                #expect(!error.message.isEmpty && !error.message.contains("hunter2"), "\(arguments)")
            }
            #expect(!ArgumentParser.usage(arguments).contains("hunter2"), "\(arguments)")
        }
    }
}
