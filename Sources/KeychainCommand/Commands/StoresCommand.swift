// SPDX-License-Identifier: MIT

import KeychainAPI
import SwiftKeychain

extension CommandRun {
    /// `stores`: says which drivers there are, which store is used, and why.
    func stores() throws(KeychainError) -> ExitCode {
        let survey = registry.survey()
        let choice = chosenStore()
        if wantsJSON {
            var lines = ""
            for report in survey {
                lines += try JSONLine.line([
                    "driver": .text(report.identifier.rawValue),
                    "summary": .text(report.summary),
                    "status": .text(report.availability.word),
                    "reason": .text(report.availability.reason),
                ])
            }
            switch choice {
            case .success(let choice):
                lines += try JSONLine.line(["default": .text(choice.url.description), "reason": .text(choice.reason)])
            case .failure(let error):
                lines += try JSONLine.line([
                    "default": .text(""), "code": .text(error.code.rawValue), "reason": .text(error.message),
                ])
            }
            try io.print(lines)
            return .done
        }
        var rows = survey.map { [$0.identifier.rawValue, $0.availability.word, $0.availability.reason] }
        switch choice {
        case .success(let choice): rows.append(["default", choice.url.description, choice.reason])
        case .failure(let error): rows.append(["default", "none", error.message])
        }
        let heading = ["DRIVER", "STATUS", "REASON"]
        try io.print(io.outputIsTerminal ? TextTable.aligned(heading, rows) : TextTable.tabSeparated(rows))
        return .done
    }

    /// The store that a command with these options would use, or why there is none.
    func chosenStore() -> Result<DriverRegistry.Choice, KeychainError> {
        Result { () throws(KeychainError) in
            if let url = try Settings.namedStore(parsed) {
                return try registry.choose(explicit: url, environment: environment)
            }
            return try DefaultDriver.choose(registry: registry, environment: environment)
        }
    }
}

extension DriverAvailability {
    /// The case in a word.
    var word: String {
        switch self {
        case .available: "available"
        case .unavailable: "unavailable"
        case .unreachable: "unreachable"
        }
    }
}
