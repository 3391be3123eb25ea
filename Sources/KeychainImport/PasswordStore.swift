// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI

/// A store of `pass`, the standard Unix password manager: a folder of files that GnuPG has encrypted.
///
/// It is read, and never written; what is decrypted is in memory alone.
public struct PasswordStore: Sendable {
    /// What becomes the value of an item.
    public enum ValueForm: Sendable, Hashable {
        /// The first line, as `pass` has it.
        ///
        /// The lines `user:`, `login:` or `username:` and `url:` give the account and the server. An entry with more than
        /// one line comes as a second item as well, whose value is all of it, so that nothing is lost and nothing of
        /// it stands in clear where attributes do.
        case firstLine
        /// All of the file.
        case wholeFile
    }

    /// What a store holds.
    public struct Contents: Sendable {
        /// The items, by the names of their entries.
        public let items: [ImportedItem]
        /// What is named like an entry and is none: symbolic links, which are not followed, and special files.
        public let skipped: [String]
    }

    /// The folder.
    public let path: String
    private let environment: [String: String]

    /// Names a store; nothing is read yet.
    ///
    /// - Parameters:
    ///   - path: The folder, nil for `PASSWORD_STORE_DIR`, else `~/.password-store`.
    ///   - environment: Where folder, home and GnuPG are looked up and what GnuPG is given, nil for the environment of the
    ///     process.
    /// - Throws: `unavailable` if neither a folder nor a home is known.
    public init(path: String? = nil, environment: [String: String]? = nil) throws(KeychainError) {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let named = path ?? environment["PASSWORD_STORE_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        guard let found = named ?? environment["HOME"].map({ "\($0)/.password-store" }) else {
            throw KeychainError(.unavailable, "No password store is known. Set PASSWORD_STORE_DIR, or name its folder.")
        }
        self.path = found
        self.environment = environment
    }

    /// Decrypts every entry: all of them, or none.
    ///
    /// - Parameters:
    ///   - form: What becomes the value of an item.
    ///   - interaction: Whether GnuPG's agent may ask for the passphrase of a key.
    /// - Throws: `unavailable` without the folder or GnuPG; `authenticationFailed` without the key of an entry or with a
    ///   wrong passphrase; `interactionNotAllowed` if the agent had to ask and could or may not; `userCanceled` if it was
    ///   dismissed; `corrupt` for a file that is no encrypted message; `dataTooLarge` for one of more than 64 MiB. Each
    ///   names the file.
    public func contents(
        _ form: ValueForm = .firstLine,
        interaction: InteractionPolicy = .allowed
    ) throws(KeychainError) -> Contents {
        try contents(form, CallContext(.migrate, interaction: interaction))
    }

    /// Decrypts every entry: all of them, or none.
    ///
    /// - Parameters:
    ///   - form: What becomes the value of an item.
    ///   - interaction: Whether GnuPG's agent may ask for the passphrase of a key.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func contents(
        _ form: ValueForm = .firstLine,
        interaction: InteractionPolicy = .allowed
    ) async throws(KeychainError) -> Contents {
        let call = CallContext(.migrate, interaction: interaction)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try contents(form, call) }
    }

    private func contents(_ form: ValueForm, _ call: CallContext) throws(KeychainError) -> Contents {
        let program = try GPG(environment: environment)
        let folder = try PasswordStoreFolder(path)
        var items: [ImportedItem] = []
        for entry in folder.entries {
            try call.check()
            let text = try program.decrypt(folder.open(entry), entry.name, call)
            items += PasswordStoreEntry(name: entry.name, text: text).items(form)
        }
        return Contents(items: items, skipped: folder.skipped)
    }
}
