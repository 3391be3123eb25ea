// SPDX-License-Identifier: MIT

/// What unlocks a store: a passphrase, from which a key is derived, or a key.
public enum KeyMaterial: Sendable, Equatable {
    /// A passphrase of any length, also an empty one.
    case passphrase(SecureBytes)
    /// 32 random bytes, used without a derivation.
    case key(SecureBytes)
}

/// Where the passphrase or key of a store comes from.
///
/// The text form is the one of the command's `--key` option and of the variable `KEYCHAIN_KEY`.
public enum KeySource: Sendable, Equatable {
    /// The person types it; see ``PassphrasePrompt``. Text form `prompt`.
    case prompt
    /// A passphrase in an environment variable. Text form `env:NAME`.
    case environment(String)
    /// A passphrase in a file. Text form `file:PATH`.
    case file(String)
    /// A passphrase from an open file descriptor. Text form `fd:N`.
    case fileDescriptor(Int32)
    /// A passphrase in a systemd credential (systemd.exec(5), `$CREDENTIALS_DIRECTORY`). Text form `credential:NAME`.
    case credential(String)
    /// A file of exactly 32 random bytes. Text form `keyfile:PATH`.
    case keyFile(String)
    /// A random key that another store keeps, for example the desktop's Secret Service. Text form `store:URL`.
    ///
    /// The key is made, and put into that store, when the source is added to a file or a file is created with it.
    case store(StoreURL)
    /// Material that the application has in its hands; has no text form.
    case material(KeyMaterial)

    /// The text form; nil for ``material(_:)``, which has none.
    public var text: String? {
        switch self {
        case .prompt: "prompt"
        case .environment(let name): "env:\(name)"
        case .file(let path): "file:\(path)"
        case .fileDescriptor(let number): "fd:\(number)"
        case .credential(let name): "credential:\(name)"
        case .keyFile(let path): "keyfile:\(path)"
        case .store(let url): "store:\(url)"
        case .material: nil
        }
    }

    /// Parses the text form.
    ///
    /// - Parameter text: For example `env:VAULT_PASSPHRASE`.
    /// - Throws: `invalidParameter` if it is none of the forms.
    public init(parsing text: String) throws(KeychainError) {
        guard !text.utf8.contains(0) else {
            throw KeychainError(.invalidParameter, "A key source cannot contain NUL.")
        }
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        let argument = colon.map { String(text[text.utf8.index(after: $0)...]) } ?? ""
        switch (colon.map { String(text[..<$0]) } ?? text, argument.isEmpty) {
        case ("prompt", true) where colon == nil: self = .prompt
        case ("env", false): self = .environment(argument)
        case ("file", false): self = .file(try Self.path(argument))
        case ("credential", false): self = .credential(argument)
        case ("keyfile", false): self = .keyFile(try Self.path(argument))
        case ("store", false): self = .store(try StoreURL(parsing: argument))
        case ("fd", false):
            // Digits alone: a sign is none, though Int32 takes it.
            guard argument.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(argument) else {
                throw KeychainError(.invalidParameter, "‘fd:’ takes the number of an open file descriptor, as in fd:3.")
            }
            self = .fileDescriptor(number)
        default:
            throw KeychainError(
                .invalidParameter,
                "A key source is one of prompt, env:NAME, file:PATH, fd:N, credential:NAME, keyfile:PATH and "
                    + "store:URL."
            )
        }
    }

    /// Refuses what a URL with a host leaves: as a path it would be one on this machine.
    private static func path(_ text: String) throws(KeychainError) -> String {
        guard !text.utf8.starts(with: "//".utf8) || text.utf8.starts(with: "///".utf8) else {
            throw KeychainError(
                .invalidParameter,
                "A key source takes a path and no host. Write file:PATH or keyfile:PATH, for example file:/srv/passphrase."
            )
        }
        return text
    }
}

/// Asks the person for a passphrase.
public protocol PassphrasePrompt: Sendable {
    /// Asks for the passphrase of a store, without showing what is typed.
    ///
    /// - Parameters:
    ///   - location: Where the store is.
    ///   - isNew: Whether the passphrase is being chosen, in which case it should be asked for twice.
    /// - Throws: `userCanceled`, or `interactionNotAllowed` if no one can be asked.
    func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes
}
