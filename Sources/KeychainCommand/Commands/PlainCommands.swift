// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `generate`: prints a random password.
    func generate() throws(KeychainError) -> ExitCode {
        var length = 20
        if let text = parsed.value("length") {
            guard let number = DecimalText.integer(text) else {
                throw KeychainError(.invalidParameter, "‘--length’ takes a whole number, as in --length 20.")
            }
            length = Int(number)
        }
        let password = try PasswordGenerator(length: length).next()
        try io.print(wantsJSON ? JSONLine.line(["value": password]) : password + "\n")
        return .done
    }

    /// `help`: explains a command.
    func help() throws(KeychainError) -> ExitCode {
        guard let name = parsed.operands.first else {
            try io.print(HelpText.overview)
            return .done
        }
        guard let command = CommandTable.command(named: name) else {
            throw KeychainError(
                .invalidParameter,
                "There is no such command."
                    + Suggestion.sentence(
                        for: name,
                        among: CommandTable.commands.map(\.name),
                        "Run ‘keychainctl help’ for a list."
                    )
            )
        }
        try io.print(HelpText.text(of: command))
        return .done
    }

    /// `version`: prints the version.
    func version() throws(KeychainError) -> ExitCode {
        let number = CommandTable.versionNumber
        try io.print(wantsJSON ? JSONLine.line(["version": number]) : "keychainctl \(number)\n")
        return .done
    }
}
