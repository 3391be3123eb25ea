// SPDX-License-Identifier: MIT

import KeychainAPI

/// The global options of a command that opens a store.
struct Settings: Sendable {
    /// The store that `--store` names; `KEYCHAIN_STORE` is left to the registry.
    private(set) var store: StoreURL?
    /// Where the passphrase or key comes from.
    private(set) var keySource: KeySource?
    /// The access group.
    let group: AccessGroup
    /// Whether anything may be asked.
    let interaction: InteractionPolicy
    /// What is asked of the permissions of a store's and a key's file.
    let permissions: StoreOptions.Permissions
    /// When the command must have ended.
    let deadline: ContinuousClock.Instant?

    /// Reads the global options.
    ///
    /// - Parameters:
    ///   - parsed: The command line.
    ///   - start: When the command began.
    /// - Throws: `invalidParameter` for a value that is none.
    init(_ parsed: ParsedCommand, start: ContinuousClock.Instant) throws(KeychainError) {
        store = try Self.namedStore(parsed)
        keySource = try parsed.value("key").map { (text) throws(KeychainError) in try KeySource(parsing: text) }
        group = parsed.value("group").map(AccessGroup.init(rawValue:)) ?? .default
        interaction = parsed.has("no-prompt") ? .never : .allowed
        permissions = Self.permissions(parsed)
        deadline = try Self.timeout(parsed).map { start + $0 }
    }

    /// The same for another store.
    func directed(to store: StoreURL, _ keySource: KeySource?) -> Settings {
        var settings = self
        settings.store = store
        settings.keySource = keySource
        return settings
    }

    /// What is asked of the permissions of files.
    static func permissions(_ parsed: ParsedCommand) -> StoreOptions.Permissions {
        parsed.has("allow-shared-permissions") ? .any : .ownerOnly
    }

    /// The time that is left, nil for no limit.
    var remaining: Duration? {
        deadline.map { max(.zero, $0 - ContinuousClock.now) }
    }

    /// The store that `--store` names.
    ///
    /// - Throws: `invalidParameter` if that is no URL, and if it is left out and `KEYCHAIN_STORE` is none.
    static func namedStore(_ parsed: ParsedCommand) throws(KeychainError) -> StoreURL? {
        if let text = parsed.options["store"]?.first { return try url(text, "‘--store’") }
        if let text = parsed.fallbacks["store"] { _ = try url(text, "KEYCHAIN_STORE") }
        return nil
    }

    private static func url(_ text: String, _ source: String) throws(KeychainError) -> StoreURL {
        do throws(KeychainError) {
            return try StoreURL(parsing: text)
        } catch {
            throw KeychainError(error.code, "\(source): \(error.message)")
        }
    }

    private static func timeout(_ parsed: ParsedCommand) throws(KeychainError) -> Duration? {
        guard let text = parsed.value("timeout") else { return nil }
        // A year is no limit for a person, and a number that a clock can hold.
        guard let seconds = DecimalText.fraction(text), seconds > 0, seconds <= 31_536_000 else {
            throw KeychainError(
                .invalidParameter,
                "‘--timeout’ (or KEYCHAIN_TIMEOUT) takes a number of seconds above 0 and up to 31536000, as in 2.5."
            )
        }
        return .seconds(seconds)
    }
}
