// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `completion`: prints the script for a shell, or, for that script, what could be the last word of a line.
    func completion() async throws(KeychainError) -> ExitCode {
        guard parsed.operands.count == 1 || parsed.operands[0] == "candidates" else {
            throw KeychainError(.invalidParameter, "There is an argument too many.")
        }
        switch parsed.operands[0] {
        case "bash": try io.print(CompletionScript.bash)
        case "zsh": try io.print(CompletionScript.zsh)
        case "fish": try io.print(CompletionScript.fish)
        case "candidates": try await printCandidates(Array(parsed.operands.dropFirst()))
        default:
            throw KeychainError(.invalidParameter, "‘completion’ takes the name of a shell: bash, zsh or fish.")
        }
        return .done
    }

    /// The first line is `files` or `words`; a line for each word follows, with a tab before what it means.
    private func printCandidates(_ words: [String]) async throws(KeychainError) {
        let (offer, options) = Candidates.offer(for: words)
        let rows: [(word: String, meaning: String)]
        switch offer {
        case .files: return try io.print("files\n")
        case .words(let words): rows = words
        case .labels(let prefix): rows = await names(.label, nil, options).map { (prefix + $0, "") }
        case .services: rows = await names(.service, nil, options).map { ($0, "") }
        case .accounts(let service): rows = await names(.account, service, options).map { ($0, "") }
        }
        // A word of more than one line, or that drives a terminal, cannot be offered.
        let lines = rows.filter { TextEscaping.line($0.word) == $0.word && !$0.word.isEmpty }.map { row in
            row.meaning.isEmpty ? row.word : "\(row.word)\t\(row.meaning)"
        }
        try io.print((["words"] + lines).joined(separator: "\n") + "\n")
    }

    /// What an attribute of the generic passwords of a store is, without ever asking, creating or waiting long.
    private func names(
        _ attribute: AttributeName,
        _ service: String?,
        _ options: [String: [String]]
    ) async -> [String] {
        let line = ParsedCommand(
            command: parsed.command,
            operands: [],
            program: [],
            options: options.merging(["no-prompt": [], "timeout": ["2"]]) { $1 },
            fallbacks: parsed.fallbacks
        )
        let run = CommandRun(parsed: line, io: io, environment: environment, registry: registry, start: start)
        do throws(KeychainError) {
            let store = try run.open(try run.settings(), creation: .never)
            var query = SecItemQuery<GenericPassword>()
            query.service = service
            query.synchronizable = .any
            let infos = try await store.keychain.infoAll(for: query)
            return Set(infos.map { ItemDetails($0).text(attribute) }).sorted()
        } catch {
            return []
        }
    }
}
