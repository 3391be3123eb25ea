// SPDX-License-Identifier: MIT

@testable import KeychainCommand

/// The manual page keychainctl(1) in the roff language of man(7), made from the command table.
enum ManPage {
    /// The page.
    static var text: String {
        var lines = [
            #".\" SPDX-License-Identifier: MIT"#,
            #".\" Made from the table of commands; see Tests/KeychainCommandTests/HelpTests.swift."#,
            #".TH KEYCHAINCTL 1 "2026-12-01" "keychainctl \#(CommandTable.versionNumber)" "User Commands""#, ".SH NAME",
            #"keychainctl \- store and read secrets"#, ".SH SYNOPSIS", ".B keychainctl",
            "[\\fIGLOBAL OPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]", ".SH DESCRIPTION",
        ]
        lines += paragraphs([
            "keychainctl keeps secrets in an encrypted file, in the keyring of the desktop (the Secret Service), or for the time of "
                + "one process in memory; each command does the same in every one of them.",
            "Nothing but what was asked for is printed on standard output, every message on standard error, and no secret is ever "
                + "an argument. Options may stand anywhere; -- ends them.",
        ])
        lines += [".SS Selectors", "SELECTOR names items:"] + entries(HelpText.selectors)
        lines += [".SS Stores", "A store URL is one of:"] + entries(HelpText.stores)
        lines += [".SS Keys", "A key source is one of:"] + entries(HelpText.keys)
        lines += [".SH OPTIONS"] + entries(CommandTable.globalOptions.map(HelpText.row))
        lines.append(".SH COMMANDS")
        for command in CommandTable.commands { lines += section(command) }
        lines += [
            ".SH ATTRIBUTES", "An attribute filters in reading and is set in writing. It belongs to these classes:",
        ]
        lines += entries(AttributeOption.specs.map(HelpText.row))
        lines += [".SH EXIT STATUS"] + entries(ExitCode.allCases.map { ("\($0.rawValue)", $0.summary) })
        lines += [".SH ENVIRONMENT"]
        lines += entries(
            CommandTable.globalOptions.compactMap { option in
                option.variable.map { ($0, "what --\(option.name) says, where it is left out") }
            }
        )
        lines +=
            [".SH FILES"]
            + entries([
                (
                    "$XDG_DATA_HOME/swift-keychain/default.keychain",
                    "the default file, below ~/.local/share without the variable"
                ),
                (
                    "$XDG_STATE_HOME/swift-keychain",
                    "what was seen of files, so that an older copy is noticed; below ~/.local/state"
                ),
            ])
        lines += [
            ".SH EXAMPLES", ".nf", #"printf s3cret | keychainctl set example.com bob"#,
            "keychainctl get example.com bob",
            "keychainctl run \\-\\-env \\(aqTOKEN=example.com bob\\(aq \\-\\- ./deploy",
            "keychainctl export backup.archive",
            #"git config \-\-global credential.helper \(aq!keychainctl git\-credential\(aq"#, ".fi",
            ".SH SEE ALSO", ".BR secret\\-tool (1),", ".BR gitcredentials (7),", ".BR systemd\\-creds (1)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ command: CommandSpec) -> [String] {
        var lines = [
            ".SS \(escaped(command.name))",
            "\\fB\(escaped("keychainctl " + command.name))\\fR\(escaped(command.operandSummary))",
        ]
        lines += [".PP", escaped(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")]
        if !command.discussion.isEmpty { lines += [".PP"] + paragraphs(command.discussion) }
        let options = command.options.filter { !$0.isAttributeChange } + command.selectorOptions
        if !options.isEmpty { lines += entries(options.map(HelpText.row)) }
        return lines
    }

    private static func paragraphs(_ texts: [String]) -> [String] {
        [escaped(texts[0])] + texts.dropFirst().flatMap { [".PP", escaped($0)] }
    }

    private static func entries(_ rows: [(String, String)]) -> [String] {
        rows.flatMap { [".TP", "\\fB\(escaped($0))\\fR", escaped($1)] }
    }

    /// Text in which nothing is an instruction of roff (groff_char(7)): typed characters stay what they are.
    private static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            case "\"": result += "\\(dq"
            case "‘": result += "\\(oq"
            case "’": result += "\\(cq"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
