// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainArchive
    import KeychainSystem

    extension CommandRun {
        /// Writes what is selected, or everything, into an archive.
        func exportArchive(to path: String, _ settings: Settings) async throws(KeychainError) -> ExitCode {
            let selector = try Selector(parsed)
            guard selector.itemClass != .identity else {
                throw KeychainError(
                    .invalidParameter,
                    "An identity is a certificate and a key; name these with --class certificate and --class key."
                )
            }
            _ = try passphraseSource
            let store = try open(settings, creation: .never)
            let keychain = store.keychain
            let selections = try await selections(selector, store)
            let call = keychain.exporting()
            let bar = progressBar
            defer { bar.clear() }
            let outgoing = try await CallExecutor.run(call) { () throws(KeychainError) in
                try keychain.outgoing(selections, call) { bar.show($0) }
            }
            bar.clear()
            let key = try fileKey(path, isNew: true, settings)
            if let weakness = key.weakness {
                note("The passphrase of the archive is easy to guess: \(weakness). It is used all the same.")
            }
            let writing = keychain.exporting()
            let summary = try await CallExecutor.run(writing) { [io] () throws(KeychainError) in
                guard path != "-" else { return try KeychainArchive.write(outgoing, key: key, to: io.write) }
                return try PrivateFile.create(path) { (file) throws(KeychainError) in
                    try KeychainArchive.write(outgoing, key: key) { (bytes) throws(KeychainError) in
                        try writing.check()
                        try file.write(bytes, action: "The file ‘\(path)’ could not be written")
                    }
                }
            }
            if summary.keptOnDevice > 0 { note(Self.leftOut(summary.keptOnDevice)) }
            try reportExport(of: summary.archived, to: path)
            return .done
        }

        /// What is selected: without a selector everything, of every group unless one is named.
        private func selections(
            _ selector: Selector,
            _ store: OpenStore
        ) async throws(KeychainError) -> [RecordSelection] {
            let isEverything =
                selector.itemClass == nil && selector.reference == nil && selector.attributes.isEmpty
                && selector.synchronizable == nil
            if isEverything {
                return [
                    RecordSelection(accessGroup: parsed.value("group") == nil ? nil : store.settings.group.rawValue)
                ]
            }
            let types =
                selector.reference == nil
                ? selector.classes.map(\.itemType) : [try await store.itemType(of: selector)]
            return try types.map { (type) throws(KeychainError) in try selection(selector, as: type, store.keychain) }
        }

        /// Stores the items of an archive.
        func importArchive(_ input: ImportInput, _ settings: Settings) async throws(KeychainError) -> ExitCode {
            if let option = ["label", SelectorOptions.tag].first(where: { parsed.value($0) != nil }) {
                throw KeychainError(
                    .invalidParameter,
                    "‘--\(option)’ is for keys and certificates; the items of an archive have their own. Leave it out."
                )
            }
            let conflict: MigrationConflict =
                parsed.value(CommandTable.ifExists.name) == nil ? .failIfDifferent : MigrationConflict(try ifExists)
            let items = try KeychainArchive.read(
                key: { () throws(KeychainError) in try fileKey(input.path, isNew: false, settings) },
                from: input.read(into:)
            )
            let target = try open(settings, creation: .ifMissing)
            let keychain = target.keychain
            let scope: MigrationScope = parsed.value("group") == nil ? .everyGroup : .group
            let incoming = KeychainArchive.incoming(items, scope, keychain)
            let call = keychain.importing()
            let bar = progressBar
            defer { bar.clear() }
            var summary = MigrationSummary()
            try await announcingCreation(of: target) { () async throws(KeychainError) in
                do throws(KeychainError) {
                    summary = try await CallExecutor.run(call) { () throws(KeychainError) in
                        try keychain.receive(incoming, ifExists: conflict, call) { bar.show($0) }
                    }
                } catch {
                    guard error.code == .duplicateItem else { throw error }
                    throw error.explained(
                        "An item is there already with another value, or two would become one, and nothing was imported. "
                            + "To replace what is there, add --if-exists replace-value."
                    )
                }
            }
            bar.clear()
            let known = summary.skipped > 0 ? "; \(summary.skipped) were there already" : ""
            try reportImport(
                ["imported": summary.migrated, "skipped": summary.skipped],
                "imported \(Self.items(summary.migrated))\(known)"
            )
            return .done
        }
    }
#endif
