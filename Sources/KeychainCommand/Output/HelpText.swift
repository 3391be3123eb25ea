// SPDX-License-Identifier: MIT

import KeychainAPI

/// The help, made from the command table.
enum HelpText {
    private static let width = 80

    /// The help of the whole command.
    static var overview: String {
        var lines = ["keychainctl - store and read secrets", ""]
        lines += ["Usage: keychainctl [GLOBAL OPTIONS] COMMAND [ARGUMENTS] [OPTIONS]", "", "Commands:"]
        lines += table(CommandTable.commands.map { ($0.name, $0.summary) })
        lines += ["", "SELECTOR names items:"]
        lines += table(selectors)
        lines += ["", "Global options:"] + table(CommandTable.globalOptions.map(row))
        lines += ["", "A store URL is one of:"] + table(stores)
        lines += ["", "A key source is one of:"] + table(keys)
        lines += ["", "Exit status:"] + table(ExitCode.allCases.map { ("\($0.rawValue)", $0.summary) })
        lines += ["", "Run ‘keychainctl help COMMAND’ for the options of a command."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The help of the commands whose name begins with the same word.
    static func text(ofGroup name: String, _ commands: [CommandSpec]) -> String {
        let lines =
            ["Usage: keychainctl \(name) COMMAND [ARGUMENTS] [OPTIONS]", "", "Commands:"]
            + table(commands.map { ($0.name + $0.operandSummary, $0.summary) })
            + ["", "Run ‘keychainctl help \(name) COMMAND’ for the options of a command."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// How a command is used, in one line.
    static func usage(of command: CommandSpec) -> String {
        "Usage: keychainctl \(command.name)\(command.operandSummary)\(command.hasOptions ? " [OPTIONS]" : "")"
    }

    /// The help of one command.
    static func text(of command: CommandSpec) -> String {
        var lines = ["keychainctl \(command.name) - \(command.summary)", ""]
        lines.append(usage(of: command))
        for paragraph in command.discussion { lines += [""] + wrap(paragraph, indent: 0) }
        if let selection = command.selection {
            lines += ["", "SELECTOR names items:"] + table(selection == .new ? selectors.dropLast() : selectors)
        }
        if command.hasOptions {
            let own = command.options.filter { !$0.isAttributeChange }.map(row)
            let changes =
                command.options.contains(where: \.isAttributeChange)
                ? [("--set-ATTRIBUTE VALUE", "set an attribute; for each one below there is this option")] : []
            lines += ["", "Options:"] + table(changes + own + command.selectorOptions.map(row))
        }
        if !command.attributeOptions.isEmpty {
            lines += ["", "Attributes, and the classes that have them:"] + table(command.attributeOptions.map(row))
        }
        let codes = command.exitCodes.sorted { $0.rawValue < $1.rawValue }
        lines += ["", "Exit status:"] + table(codes.map { ("\($0.rawValue)", $0.summary) })
        lines += ["", "Run ‘keychainctl help’ for the global options."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The forms of a selector.
    static let selectors = [
        ("SERVICE [ACCOUNT]", "a generic password; \"\" is the account that is left out"),
        ("--url URL [ACCOUNT]", "an internet password; what is left out, as the path, matches any"),
        ("--class CLASS", "another class, with --label, --tag and other attributes"),
        ("--ref UUID", "one item of any class, by the reference that ‘ls’ shows"),
    ]

    /// The forms of a store URL.
    static let stores = [
        ("file:PATH", "an encrypted file; file: is the default one"),
        ("secret-service:", "the desktop's keyring; secret-service:COLLECTION is another collection"),
        ("memory:", "lost when the process ends"),
    ]

    /// The forms of a key source.
    static let keys = [
        ("prompt", "ask on the terminal"),
        ("env:NAME", "a variable"),
        ("file:PATH", "a file"),
        ("fd:N", "an open file descriptor"),
        ("credential:NAME", "a systemd credential"),
        ("keyfile:PATH", "32 random bytes instead of a passphrase"),
        ("store:URL", "a random key that another store keeps"),
    ]

    /// An option and what it does.
    static func row(_ spec: OptionSpec) -> (String, String) {
        let short = spec.short.map { "-\($0), " } ?? ""
        let value = spec.placeholder.map { " \($0)" } ?? ""
        let variable = spec.variable.map { " (\($0))" } ?? ""
        return ("\(short)--\(spec.name)\(value)", spec.summary + variable)
    }

    /// Two columns; a text that does not fit is continued below itself.
    private static func table(_ rows: [(String, String)]) -> [String] {
        let widest = rows.map(\.0.count).max() ?? 0
        let column = min(widest, 30) + 4
        return rows.flatMap { name, text in
            let lines = wrap(text, indent: column)
            let start = "  \(name)"
            guard start.count + 2 <= column, let first = lines.first else { return [start] + lines }
            return [start + first.dropFirst(start.count)] + lines.dropFirst()
        }
    }

    private static func wrap(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(margin + line) }
        return lines
    }
}
