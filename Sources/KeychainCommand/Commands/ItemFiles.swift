// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import KeychainX509

    /// What importing and exporting have in common.
    extension CommandRun {
        /// The form that `--format` names, nil if it is left out.
        var format: ItemFile.Format? {
            get throws(KeychainError) {
                try parsed.choice("format", ["pem": .pem, "der": .der, "pkcs12": ItemFile.Format.pkcs12])
            }
        }

        /// The passphrase of a file: what `--passphrase` names, else what is typed on the terminal.
        ///
        /// - Parameters:
        ///   - path: The file.
        ///   - isNew: Whether it is being chosen.
        ///   - settings: The global options.
        /// - Throws: `interactionNotAllowed` if there is neither, and as for a store's passphrase.
        func filePassphrase(_ path: String, isNew: Bool, _ settings: Settings) throws(KeychainError) -> SecureBytes {
            let source = try passphraseSource ?? .prompt
            guard source != .prompt || settings.interaction.allowsPrompts else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The file takes a passphrase, and nothing may be asked. Give it with --passphrase, for example env:NAME."
                )
            }
            let material = try source.material(
                prompt: TerminalPrompt(path: io.terminal, interrupt: io.interrupt, deadline: settings.deadline),
                location: path == "-" ? "the file" : path,
                isNew: isNew,
                permissions: settings.permissions,
                environment: environment,
                call: CallContext(.open, timeout: settings.remaining)
            )
            guard case .passphrase(let passphrase) = material else {
                throw KeychainError(
                    .invalidParameter,
                    "‘--passphrase’ takes a passphrase; a key file unlocks a store, and no other file."
                )
            }
            return passphrase
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

        /// All of a file of keys and certificates.
        ///
        /// - Throws: `dataTooLarge` beyond 16 MiB, or the system's error.
        func contents(of path: String, _ settings: Settings) throws(KeychainError) -> SecureBytes {
            let limit = 16 << 20
            guard path != "-" else {
                return try io.readInput(limit: limit, droppingNewline: false, deadline: settings.deadline)
            }
            let action = "The file ‘\(path)’ could not be read"
            let file = try FileDescriptor(path, O_RDONLY, action: action)
            let input = CommandIO(input: file.number, interrupt: io.interrupt)
            do throws(KeychainError) {
                return try input.readInput(limit: limit, droppingNewline: false, deadline: settings.deadline)
            } catch {
                if error.code == .dataTooLarge {
                    throw KeychainError(.dataTooLarge, "The file ‘\(path)’ has more than \(limit) bytes.")
                }
                // What it says speaks of standard input.
                guard let number = error.underlying.map({ Int32($0.code) }), number > 0 else { throw error }
                throw .system(number, action)
            }
        }
    }
#endif
