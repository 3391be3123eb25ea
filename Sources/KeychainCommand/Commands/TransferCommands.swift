// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `cp` and `mv`: bring every match to another store.
    func transfer(removingOriginals: Bool) async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let selector = try Selector(parsed)
        let ifExists = try ifExists
        let target = try open(target(settings), creation: .ifMissing)
        let source = try open(settings, creation: .never)
        if removingOriginals, try target.isInMemory, try !source.isInMemory {
            throw KeychainError(
                .unsupported,
                "A store in memory ends with this command, and the items would be lost with it. Nothing was moved; name "
                    + "another store with --to."
            )
        }
        guard let type = try await source.itemType(of: selector).itemClass.storableType else {
            throw KeychainError(
                .invalidParameter,
                "An identity is a certificate and a key; name these with --class certificate and --class key."
            )
        }
        try await announcingCreation(of: target) { () async throws(KeychainError) in
            try await transfer(selector, as: type, from: source, to: target, ifExists, removingOriginals)
        }
        return .done
    }

    private func transfer<Item: SecStorable>(
        _ selector: Selector,
        as type: Item.Type,
        from source: OpenStore,
        to target: OpenStore,
        _ ifExists: IfExists,
        _ removingOriginals: Bool
    ) async throws(KeychainError) {
        let query = selector.query(of: type)
        let found = try await source.keychain.retrieveAll(.persistentReference, query: query).count
        let bar = progressBar
        defer { bar.clear() }
        let done: Int
        do throws(KeychainError) {
            let (from, to) = (source.keychain, target.keychain)
            done =
                if removingOriginals {
                    try await from.move(query, to: to, ifExists: ifExists) { bar.show($0) }
                } else {
                    try await from.copy(query, to: to, ifExists: ifExists) { bar.show($0) }
                }
        } catch {
            throw Self.explained(error)
        }
        bar.clear()
        if isTalkative {
            note("\(removingOriginals ? "moved" : "copied") \(Self.items(done)) to \(target.driver.location)")
        }
        try reportTransfer(removingOriginals ? "moved" : "copied", done, keptOnDevice: found - done)
    }

    /// Says what was brought to the other store, and what was not.
    private func reportTransfer(_ verb: String, _ count: Int, keptOnDevice: Int) throws(KeychainError) {
        if keptOnDevice > 0 { note(Self.leftOut(keptOnDevice)) }
        try printJSON([verb: .number(Int64(count)), "keptOnDevice": .number(Int64(keptOnDevice))])
    }

    /// `migrate`: copies a whole store into another one.
    func migrate() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let conflict = MigrationConflict(try ifExists)
        let target = try open(target(settings), creation: .ifMissing)
        let source = try open(settings, creation: .never)
        let bar = progressBar
        defer { bar.clear() }
        var summary = MigrationSummary()
        try await announcingCreation(of: target) { () async throws(KeychainError) in
            do throws(KeychainError) {
                summary = try await Keychain.migrate(
                    from: source.keychain,
                    to: target.keychain,
                    scope: parsed.value("group") == nil ? .everyGroup : .group,
                    ifExists: conflict,
                    progress: { bar.show($0) }
                )
            } catch {
                throw Self.explained(error)
            }
        }
        bar.clear()
        note("migrated \(Self.items(summary.migrated)) to \(target.driver.location)")
        try reportTransfer("migrated", summary.migrated, keptOnDevice: summary.keptOnDevice)
        return .done
    }

    /// The global options for the store that `--to` names.
    private func target(_ settings: Settings) throws(KeychainError) -> Settings {
        guard let text = parsed.value("to") else {
            throw KeychainError(.invalidParameter, "‘--to’ is missing: it names the other store, as in --to file:PATH.")
        }
        let key = try parsed.value("to-key").map { (text) throws(KeychainError) in try KeySource(parsing: text) }
        do throws(KeychainError) {
            return settings.directed(to: try StoreURL(parsing: text), key)
        } catch {
            throw KeychainError(error.code, "‘--to’: \(error.message)")
        }
    }

    private static func explained(_ error: KeychainError) -> KeychainError {
        switch error.code {
        case .duplicateItem:
            error.explained(
                "An item is there already, or two would become one, and nothing was done. Leave ‘--if-exists fail’ out to replace "
                    + "what is there."
            )
        case .unsupported where error.operation != .open:
            error.explained("The items belong to this device only, and stay where they are.")
        default: error
        }
    }
}
