// SPDX-License-Identifier: MIT

import KeychainAPI

/// Takes a command line apart by the command table; a pure function of its arguments.
///
/// Accepted are `--name value`, `--name=value`, `-n value`, `-nvalue`, several one-letter options without values in one
/// (`-qv`), and `--`, after which nothing is an option. Options may stand before or after the command and its operands.
/// No value and no operand is ever repeated in an error, since it may be a secret that was put there by mistake.
struct ArgumentParser {
    private var command: CommandSpec?
    /// The first word of a command that has two.
    private var group: String?
    private var operands: [String] = []
    private var program: [String] = []
    private var options: [String: [String]] = [:]
    private var order: [OptionSpec] = []

    /// Takes a command line apart.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the name of the program.
    ///   - environment: Where variables of options are looked up.
    /// - Throws: `invalidParameter` with a sentence that names what is wrong.
    static func parse(
        _ arguments: [String],
        environment: [String: String]
    ) throws(KeychainError) -> ParsedCommand {
        var parser = ArgumentParser()
        try parser.read(arguments)
        return try parser.finish(environment)
    }

    /// The way out of a wrong command line: how the command is used, as far as it can be told which one is meant.
    static func usage(_ arguments: [String]) -> String {
        var parser = ArgumentParser()
        // What is wrong has been said.
        try? parser.read(arguments)
        guard let command = parser.command else {
            let group = parser.group.map { " \($0)" } ?? ""
            return
                "Usage: keychainctl\(group) COMMAND [ARGUMENTS] [OPTIONS]; ‘keychainctl help\(group)’ lists the commands"
        }
        return "\(HelpText.usage(of: command)); ‘keychainctl help \(command.name)’ explains it"
    }

    private mutating func read(_ arguments: [String]) throws(KeychainError) {
        var rest = arguments[...]
        var optionsHaveEnded = false
        while let argument = rest.popFirst() {
            if optionsHaveEnded || argument == "-" || !argument.hasPrefix("-") {
                try take(operand: argument)
            } else if argument == "--" {
                if command?.operands == .program {
                    program = Array(rest)
                    return
                }
                optionsHaveEnded = true
            } else if argument.hasPrefix("--") {
                try take(long: argument.dropFirst(2), &rest)
            } else {
                try take(short: argument.dropFirst(), &rest)
            }
        }
    }

    private mutating func take(operand: String) throws(KeychainError) {
        guard command == nil else { return operands.append(operand) }
        if group == nil, !CommandTable.commands(inGroup: operand).isEmpty {
            group = operand
            return
        }
        let name = group.map { "\($0) \(operand)" } ?? operand
        guard let found = CommandTable.command(named: name) else { throw Self.unknownCommand(name) }
        command = found
    }

    /// The error for a name that no command has; the name is not repeated.
    static func unknownCommand(_ name: String) -> KeychainError {
        KeychainError(
            .invalidParameter,
            "There is no such command."
                + Suggestion.sentence(for: name, among: CommandTable.commands.map(\.name))
        )
    }

    private mutating func take(
        long argument: Substring,
        _ rest: inout ArraySlice<String>
    ) throws(KeychainError) {
        let halves = argument.halves(at: "=")
        let name = halves?.before ?? String(argument)
        guard let spec = CommandTable.option(named: name) else { throw unknown("--", name) }
        switch (spec.placeholder, halves?.after) {
        case (nil, nil): try add(spec, nil)
        case (nil, _?): throw KeychainError(.invalidParameter, "‘--\(name)’ takes no value.")
        case (_?, let value?): try add(spec, value)
        case (let placeholder?, nil):
            guard let value = rest.popFirst() else { throw missing("--\(name)", placeholder) }
            try add(spec, value)
        }
    }

    private mutating func take(
        short argument: Substring,
        _ rest: inout ArraySlice<String>
    ) throws(KeychainError) {
        var letters = argument
        while let letter = letters.popFirst() {
            guard let spec = CommandTable.option(short: letter) else { throw unknown("-", String(letter)) }
            guard let placeholder = spec.placeholder else {
                try add(spec, nil)
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                throw missing("-\(letter)", placeholder)
            }
            return try add(spec, value)
        }
    }

    private mutating func add(_ spec: OptionSpec, _ value: String?) throws(KeychainError) {
        guard options[spec.name] == nil || spec.isRepeatable else {
            throw KeychainError(.invalidParameter, "‘--\(spec.name)’ was given twice.")
        }
        options[spec.name, default: []] += value.map { [$0] } ?? []
        order.append(spec)
    }

    private func missing(_ option: String, _ placeholder: String) -> KeychainError {
        KeychainError(.invalidParameter, "‘\(option)’ needs a value, as in \(option) \(placeholder).")
    }

    private func unknown(_ dashes: String, _ name: String) -> KeychainError {
        let names = dashes == "-" ? [] : command?.allOptions.map(\.name).sorted() ?? CommandTable.optionNames
        // Anything else may be a secret that begins with a dash.
        let looksLikeOption = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        return KeychainError(
            .invalidParameter,
            "There is no option \(looksLikeOption ? "‘\(dashes)\(name)’" : "of that name")."
                + Suggestion.sentence(for: name, among: names, prefix: dashes)
        )
    }

    private func finish(_ environment: [String: String]) throws(KeychainError) -> ParsedCommand {
        let command = try resolvedCommand()
        if options["help"] == nil, options["version"] == nil {
            for spec in order where !CommandTable.globalOptions.contains(spec) && !command.ownOptions.contains(spec) {
                throw KeychainError(
                    .invalidParameter,
                    "‘--\(spec.name)’ is no option of ‘\(command.name)’."
                )
            }
            try checkOperands(of: command)
        }
        var fallbacks: [String: String] = [:]
        for spec in CommandTable.globalOptions where options[spec.name] == nil {
            guard let variable = spec.variable, let text = environment[variable], !text.isEmpty else { continue }
            // A switch that is set to 0 is off.
            if spec.placeholder != nil || text != "0" { fallbacks[spec.name] = text }
        }
        // Help that is asked for a group is help with the group's name.
        let operands = command.name == CommandTable.help.name ? [group].compactMap { $0 } + operands : operands
        return ParsedCommand(
            command: command,
            operands: operands,
            program: program,
            options: options,
            fallbacks: fallbacks
        )
    }

    private func resolvedCommand() throws(KeychainError) -> CommandSpec {
        if options["version"] != nil { return CommandTable.version }
        if let command { return command }
        if options["help"] != nil { return CommandTable.help }
        if let group {
            let names = CommandTable.commands(inGroup: group).map { "‘\($0.name)’" }.joined(separator: ", ")
            throw KeychainError(.invalidParameter, "‘\(group)’ is the first word of a command: one of \(names).")
        }
        throw KeychainError(.invalidParameter, "A command is missing.")
    }

    private func checkOperands(of command: CommandSpec) throws(KeychainError) {
        let selectorCount =
            if options[SelectorOptions.url] != nil {
                1
            } else if options[SelectorOptions.reference] != nil || options[SelectorOptions.itemClass] != nil {
                0
            } else {
                2
            }
        let (least, most) =
            switch command.operands {
            case .none, .program: (0, 0)
            case .command: (0, 2)
            case .words(let words): (words.count, words.count)
            case .wordsAndMore(let words): (words.count, Int.max)
            case .anyNumber: (0, Int.max)
            case .selector: (0, selectorCount)
            case .fileAndSelector: (1, 1 + selectorCount)
            }
        if operands.count < least {
            let words = command.operandSummary.split(separator: " ")
            throw KeychainError(
                .invalidParameter,
                "‘\(command.name)’ needs \(words[operands.count]), as in: keychainctl \(command.name)\(command.operandSummary)"
            )
        }
        if command.operands == .program, program.isEmpty || !operands.isEmpty {
            throw KeychainError(.invalidParameter, "‘\(command.name)’ needs a command to run, and -- before it.")
        }
        guard operands.count > most else { return }
        if case .selector(.new) = command.operands {
            throw KeychainError(
                .invalidParameter,
                "There is an argument too many, and a value is never an argument: other users and the shell's history "
                    + "would see it. Give it on standard input, as in: keychainctl set SERVICE ACCOUNT < FILE"
            )
        }
        throw KeychainError(
            .invalidParameter,
            "There is an argument too many."
        )
    }
}
