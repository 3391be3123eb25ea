// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI

extension CommandRun {
    /// `set`: stores a value.
    func set() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let selector = try Selector(parsed)
        let ifExists = try ifExists
        if settings.keySource == .fileDescriptor(io.input) {
            throw KeychainError(
                .invalidParameter,
                "Standard input cannot hold both the value and the passphrase. Use another descriptor, as in --key fd:3."
            )
        }
        let itemClass = try await storedType(of: selector)
        let target = try open(settings, creation: .ifMissing)
        if io.inputIsTerminal {
            // A wrong passphrase is to be noticed before a value is typed that would be lost with it.
            _ = try await target.details(of: selector, as: itemClass, limit: 1)
        }
        let value = try value(of: selector, settings, limit: target.driver.maximumValueSize)
        try await announcingCreation(of: target) { () async throws(KeychainError) in
            try await store(value, selector, as: itemClass, ifExists, target)
        }
        return .done
    }

    /// What happens to an item that is there.
    var ifExists: IfExists {
        get throws(KeychainError) {
            try parsed.choice(
                CommandTable.ifExists.name,
                ["replace-value": .replaceValue, "fail": .fail, "replace": IfExists.replace]
            ) ?? .replaceValue
        }
    }

    private func storedType(of selector: Selector) async throws(KeychainError) -> any SecStorable.Type {
        guard let type = selector.itemClass?.storableType else {
            throw KeychainError(.invalidParameter, "Items of this class cannot be stored.")
        }
        return type
    }

    private func store<Item: SecStorable>(
        _ value: SecureBytes,
        _ selector: Selector,
        as type: Item.Type,
        _ ifExists: IfExists,
        _ store: OpenStore
    ) async throws(KeychainError) {
        var query = selector.query(of: type)
        query[.accessible] = nil
        do throws(KeychainError) {
            try await store.keychain.store(value, query: query, accessPolicy: selector.accessPolicy, ifExists: ifExists)
        } catch let error where error.code == .duplicateItem {
            throw error.explained("The item exists already. To replace its value, leave ‘--if-exists fail’ out.")
        }
    }

    /// The value: from the terminal if standard input is one, else all of standard input.
    private func value(of selector: Selector, _ settings: Settings, limit: Int) throws(KeychainError) -> SecureBytes {
        if io.inputIsTerminal {
            guard settings.interaction.allowsPrompts else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The value cannot be asked for with --no-prompt. Give it on standard input, by a pipe or from a file."
                )
            }
            let prompt = TerminalPrompt(path: io.terminal, interrupt: io.interrupt, deadline: settings.deadline)
            return try prompt.askTwice("Value for \(TextEscaping.line(selector.title)): ")
        }
        // A store that cannot be reached yet names no limit of its own.
        return try io.readInput(
            limit: min(limit, 1 << 30),
            droppingNewline: !parsed.has("raw"),
            deadline: settings.deadline
        )
    }

    /// Runs a closure, and tells the person if a file store came into being by it.
    func announcingCreation(
        of store: OpenStore,
        _ body: () async throws(KeychainError) -> Void
    ) async throws(KeychainError) {
        let path = FileStorePath.path(of: store.driver.location)
        let existed = path.map(FileStorePath.exists) ?? true
        try await body()
        if let path, !existed, FileStorePath.exists(path) { note("created \(store.driver.location)") }
    }
}

/// The place of a file store.
enum FileStorePath {
    /// The path in the location of a file store; nil for another kind.
    static func path(of location: String) -> String? {
        guard let url = try? StoreURL(parsing: location), url.driver == "file" else { return nil }
        return url.path
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
