// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `doctor`: says what is wrong on this machine, and how to mend it.
    func doctor() async throws(KeychainError) -> ExitCode {
        // What is wrong with the settings is among what is found.
        let call = CallContext(.info, timeout: (try? settings())?.remaining, interaction: .never)
        let examination = Examination(
            environment: environment,
            survey: registry.survey(),
            choice: chosenStore(),
            keySource: parsed.value("key"),
            permissions: Settings.permissions(parsed),
            call: call
        )
        let findings = try await CallExecutor.run(call) { () throws(KeychainError) in
            examination.findings + certificates(examination)
        }
        if wantsJSON {
            var lines = ""
            for finding in findings {
                lines += try JSONLine.line([
                    "check": .text(finding.subject), "status": .text(finding.status.rawValue),
                    "message": .text(finding.message), "remedy": .text(finding.remedy),
                ])
            }
            try io.print(lines)
            return .done
        }
        let rows = findings.map { finding in
            [
                finding.status.rawValue, finding.subject,
                [finding.message, finding.remedy].filter { !$0.isEmpty }
                    .joined(separator: " "),
            ]
        }
        let heading = ["STATUS", "CHECK", "FINDING"]
        try io.print(io.outputIsTerminal ? TextTable.aligned(heading, rows) : TextTable.tabSeparated(rows))
        return .done
    }
}

/// One line of `doctor`.
struct Finding: Sendable, Hashable {
    enum Status: String, Sendable {
        case ok
        case note
        case problem
    }

    /// How bad it is.
    let status: Status
    /// What was looked at.
    let subject: String
    /// What was found.
    let message: String
    /// What to do about it; `""` if there is nothing to do.
    let remedy: String

    init(_ status: Status, _ subject: String, _ message: String, remedy: String = "") {
        self.status = status
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }
}
