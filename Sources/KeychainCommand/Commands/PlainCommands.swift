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
        try io.print(wantsJSON ? JSONLine.line(["value": .text(password)]) : password + "\n")
        return .done
    }

    /// `help`: explains a command.
    func help() throws(KeychainError) -> ExitCode {
        let name = parsed.operands.joined(separator: " ")
        let group = CommandTable.commands(inGroup: name)
        if name.isEmpty {
            try io.print(HelpText.overview)
        } else if !group.isEmpty {
            try io.print(HelpText.text(ofGroup: name, group))
        } else if let command = CommandTable.command(named: name) {
            try io.print(HelpText.text(of: command))
        } else {
            throw ArgumentParser.unknownCommand(name)
        }
        return .done
    }

    /// `version`: prints the version.
    func version() throws(KeychainError) -> ExitCode {
        let number = CommandTable.versionNumber
        try io.print(wantsJSON ? JSONLine.line(["version": .text(number)]) : "keychainctl \(number)\n")
        return .done
    }
}
