// SPDX-License-Identifier: MIT

import KeychainAPI
import Testing

@testable import KeychainCommand

struct ArgumentParserTests {
    private func parse(_ arguments: String..., environment: [String: String] = [:]) throws -> ParsedCommand {
        try ArgumentParser.parse(arguments, environment: environment)
    }

    private func failure(_ arguments: String...) -> KeychainError? {
        do throws(KeychainError) {
            _ = try ArgumentParser.parse(arguments, environment: [:])
            return nil
        } catch {
            return error
        }
    }

    @Test func everyFormOfAValue() throws {
        for arguments in [
            ["get", "svc", "--output", "f"], ["get", "svc", "--output=f"], ["get", "svc", "-o", "f"],
            ["get", "svc", "-of"], ["--output", "f", "get", "svc"], ["-qof", "get", "svc"],
        ] {
            let parsed = try ArgumentParser.parse(arguments, environment: [:])
            #expect(parsed.command.name == "get")
            #expect(parsed.operands == ["svc"])
            #expect(parsed.value("output") == "f")
        }
    }

    @Test func aValueMayLookLikeAnOption() throws {
        #expect(try parse("get", "svc", "--output", "-q").value("output") == "-q")
        #expect(try parse("get", "svc", "--output=").value("output") == "")
        #expect(try parse("get", "svc", "--output=a=b").value("output") == "a=b")
    }

    @Test func severalLettersInOne() throws {
        let parsed = try parse("-qv", "get", "svc")
        #expect(parsed.has("quiet") && parsed.has("verbose") && !parsed.has("json"))
    }

    @Test func nothingIsAnOptionAfterTwoDashes() throws {
        let parsed = try parse("get", "--", "--json", "-x")
        #expect(parsed.operands == ["--json", "-x"])
        #expect(!parsed.has("json"))
        #expect(try parse("get", "-").operands == ["-"])
    }

    @Test func emptyOperandsAreKept() throws {
        #expect(try parse("get", "svc", "").operands == ["svc", ""])
    }

    @Test func anUnknownOptionIsRefusedWithASuggestion() {
        #expect(failure("get", "svc", "--lable", "x")?.code == .invalidParameter)
        #expect(failure("get", "svc", "--lable=x")?.message.contains("‘--label’") == true)
        #expect(failure("get", "svc", "-z")?.message.contains("‘-z’") == true)
        #expect(failure("gte", "svc")?.message.contains("‘get’") == true)
        #expect(failure("frobnicate")?.message == "There is no such command.")
    }

    @Test func anOptionOfAnotherCommandIsRefused() {
        #expect(failure("get", "svc", "--raw")?.message.contains("‘get’") == true)
        #expect(failure("generate", "--label", "x")?.code == .invalidParameter)
        #expect(failure("set", "svc", "--ref", "x")?.code == .invalidParameter)
    }

    @Test func aRepeatedOptionIsRefused() throws {
        #expect(failure("get", "svc", "--output", "a", "-o", "b")?.message.contains("twice") == true)
        #expect(failure("get", "svc", "-q", "--quiet")?.message.contains("twice") == true)
        #expect(
            try parse("update", "svc", "--clear", "label", "--clear=comment").values("clear") == ["label", "comment"]
        )
    }

    @Test func aMissingValueIsRefused() {
        #expect(failure("get", "svc", "--output")?.message.contains("FILE") == true)
        #expect(failure("get", "svc", "-o")?.message.contains("FILE") == true)
        #expect(failure("get", "svc", "--json=yes")?.message.contains("no value") == true)
    }

    @Test func aMissingCommandIsRefused() {
        #expect(failure()?.code == .invalidParameter)
        #expect(failure("-q")?.code == .invalidParameter)
    }

    @Test func aSecretInTheWrongPlaceIsNotRepeated() {
        let secret = "hunter2"
        for arguments in [
            ["set", "svc", "bob", secret], ["set", "svc", "bob", "--", secret], ["set", "svc", "bob", "--\(secret)"],
            ["set", "svc", "bob", "--value=\(secret)"], ["set", "svc", "bob", "--raw=\(secret)"],
            ["set", "--url", "https://h", "bob", secret], ["get", "svc", "bob", secret], [secret],
            ["generate", secret],
        ] {
            let error = #expect(throws: KeychainError.self) { try ArgumentParser.parse(arguments, environment: [:]) }
            #expect(error?.code == .invalidParameter, "\(arguments)")
            #expect(error?.debugDescription.contains(secret) == false, "\(arguments)")
        }
        #expect(failure("set", "svc", "bob", secret)?.message.contains("never an argument") == true)
    }

    @Test func helpAndVersionNeedNothingElse() throws {
        #expect(try parse("--help").command.name == "help")
        #expect(try parse("--version").command.name == "version")
        #expect(try parse("get", "--version").command.name == "version")
        #expect(try parse("get", "-h", "a", "b", "c").has("help"))
    }

    @Test func theEnvironmentFillsIn() throws {
        let environment = [
            "KEYCHAIN_GROUP": "g", "KEYCHAIN_TIMEOUT": "3", "KEYCHAIN_NO_PROMPT": "1", "KEYCHAIN_KEY": "",
        ]
        let parsed = try parse("get", "svc", "--group", "h", environment: environment)
        #expect(parsed.value("group") == "h")
        #expect(parsed.value("timeout") == "3")
        #expect(parsed.has("no-prompt"))
        #expect(parsed.value("key") == nil)
        #expect(try !parse("get", "svc", environment: ["KEYCHAIN_NO_PROMPT": "0"]).has("no-prompt"))
    }

    @Test func aNameMeansTheSameInEveryCommand() {
        for command in CommandTable.commands {
            let specs = command.allOptions
            #expect(Set(specs.map(\.name)).count == specs.count, "\(command.name)")
            #expect(Set(specs.compactMap(\.short)).count == specs.compactMap(\.short).count, "\(command.name)")
            for spec in specs { #expect(CommandTable.option(named: spec.name) == spec, "\(command.name) \(spec.name)") }
        }
    }

    @Test(arguments: [
        ("kitten", "kitten", 0), ("get", "gte", 1), ("", "abc", 3), ("label", "lable", 1), ("rm", "ls", 2),
    ])
    func distances(left: String, right: String, expected: Int) {
        #expect(Suggestion.distance(left, right) == expected)
        #expect(Suggestion.distance(right, left) == expected)
    }
}
