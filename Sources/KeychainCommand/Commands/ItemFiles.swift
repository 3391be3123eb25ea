// SPDX-License-Identifier: MIT
#if X509 || File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem
    #if X509
        import KeychainX509
    #endif

    /// The form of a file of items, as `--format` names it.
    enum ItemFileFormat: Sendable, Hashable {
        #if File
            case archive
        #endif
        #if X509
            case cryptography(ItemFile.Format)
        #endif

        /// The words for the forms.
        static var words: KeyValuePairs<String, ItemFileFormat> {
            #if File && X509
                [
                    "archive": .archive, "pem": .cryptography(.pem), "der": .cryptography(.der),
                    "pkcs12": .cryptography(.pkcs12),
                ]
            #elseif File
                ["archive": .archive]
            #else
                ["pem": .cryptography(.pem), "der": .cryptography(.der), "pkcs12": .cryptography(.pkcs12)]
            #endif
        }

        /// The form that the extension of a file says, nil if it says none.
        init?(extensionOf path: String) {
            let name = path.lastPathComponent
            switch name.contains(".") ? name.split(separator: ".").last?.lowercased() ?? "" : "" {
            #if File
                case "archive": self = .archive
            #endif
            #if X509
                case "pem", "crt", "key": self = .cryptography(.pem)
                case "der", "cer": self = .cryptography(.der)
                case "p12", "pfx": self = .cryptography(.pkcs12)
            #endif
            default: return nil
            }
        }
    }

    /// What importing and exporting have in common.
    extension CommandRun {
        /// `export`: writes items to a file.
        func export() async throws(KeychainError) -> ExitCode {
            let settings = try settings()
            let path = parsed.operands[0]
            guard let format = try format ?? ItemFileFormat(extensionOf: path) else {
                let words = ItemFileFormat.words.map(\.key).joined(separator: ", ")
                throw KeychainError(
                    .invalidParameter,
                    "The name of the file does not say which form it has. Add --format and one of \(words)."
                )
            }
            if path != "-", FileStorePath.exists(path) {
                throw KeychainError(.duplicateItem, "There is a file at ‘\(path)’ already. It was left as it is.")
            }
            switch format {
            #if File
                case .archive: return try await exportArchive(to: path, settings)
            #endif
            #if X509
                case .cryptography(let format): return try await exportCryptography(to: path, format, settings)
            #endif
            }
        }

        /// `import`: stores the items of a file.
        func importFile() async throws(KeychainError) -> ExitCode {
            let settings = try settings()
            let format = try format
            _ = try passphraseSource
            let input = try ImportInput(parsed.operands[0], io, settings)
            #if File
                if format == .archive || format == nil && input.isArchive {
                    return try await importArchive(input, settings)
                }
            #endif
            #if X509
                if case .cryptography(let format) = format {
                    return try await importCryptography(input, format, settings)
                }
                return try await importCryptography(input, nil, settings)
            #else
                return try await importArchive(input, settings)
            #endif
        }

        /// The form that `--format` names, nil if it is left out.
        private var format: ItemFileFormat? {
            get throws(KeychainError) { try parsed.choice("format", ItemFileFormat.words) }
        }

        /// Says how many items were exported: nothing of it goes into the file.
        func reportExport(of count: Int, to path: String) throws(KeychainError) {
            if path != "-" { try printJSON(["exported": .number(Int64(count))]) }
            note("exported \(Self.items(count))")
        }

        /// Says what was imported.
        func reportImport(_ counts: [String: Int], _ text: String) throws(KeychainError) {
            try printJSON(counts.mapValues { .number(Int64($0)) })
            note(text)
        }

        /// The passphrase of a file: what `--passphrase` names, else what is typed on the terminal.
        ///
        /// - Parameters:
        ///   - path: The file.
        ///   - isNew: Whether it is being chosen.
        ///   - settings: The global options.
        /// - Throws: `interactionNotAllowed` if there is neither, `invalidParameter` for a key file, and as for a store's
        ///   passphrase.
        func filePassphrase(_ path: String, isNew: Bool, _ settings: Settings) throws(KeychainError) -> SecureBytes {
            guard case .passphrase(let passphrase) = try fileKey(path, isNew: isNew, settings) else {
                throw KeychainError(
                    .invalidParameter,
                    "‘--passphrase’ takes a passphrase; a key file unlocks stores and archives, and no other file."
                )
            }
            return passphrase
        }

        /// What encrypts a file: what `--passphrase` names, else what is typed on the terminal.
        ///
        /// - Parameters:
        ///   - path: The file.
        ///   - isNew: Whether it is being chosen.
        ///   - settings: The global options.
        /// - Throws: `interactionNotAllowed` if there is neither, and as for a store's passphrase.
        func fileKey(_ path: String, isNew: Bool, _ settings: Settings) throws(KeychainError) -> KeyMaterial {
            let source = try passphraseSource ?? .prompt
            guard source != .prompt || settings.interaction.allowsPrompts else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The file takes a passphrase, and nothing may be asked. Give it with --passphrase, for example env:NAME."
                )
            }
            return try source.material(
                prompt: TerminalPrompt(path: io.terminal, interrupt: io.interrupt, deadline: settings.deadline),
                location: path == "-" ? "the file" : path,
                isNew: isNew,
                permissions: settings.permissions,
                environment: environment,
                call: CallContext(.open, timeout: settings.remaining)
            )
        }

        /// What `--passphrase` names.
        ///
        /// - Throws: `invalidParameter` for what is none, and for a source that is read elsewhere already.
        var passphraseSource: KeySource? {
            get throws(KeychainError) {
                guard let text = parsed.value("passphrase") else { return nil }
                let source = try KeySource(parsing: text)
                if case .fileDescriptor = source,
                    parsed.value("key") == text || source == .fileDescriptor(io.input) && parsed.operands[0] == "-"
                {
                    throw KeychainError(
                        .invalidParameter,
                        "A descriptor can be read only once. Use another one, as in --passphrase fd:3."
                    )
                }
                return source
            }
        }
    }
#endif
