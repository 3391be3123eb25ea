// SPDX-License-Identifier: MIT

/// Passwords that programs share with the web browser.
///
/// On the Secret Service they lie where GNOME Web looks for the passwords that it fills in, and those that it stored are
/// found. Every other store keeps them as the internet passwords that they are:
/// ``SecItemQuery/webCredential(for:account:)`` is the query, for all other verbs.
///
/// GNOME Web fills in a password where the fields of the form have the names that it was stored with. One that is stored
/// here has the names `username` and `password`; it is suggested and listed everywhere on the site.
public enum SharedWebCredential {
    /// Stores the password of an account of a website.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account.
    ///   - password: The password.
    ///   - keychain: Where it is stored.
    ///   - ifExists: What happens if the account has a password there.
    /// - Throws: `invalidParameter` for what is no website, and as ``Keychain``'s `store`.
    public static func store(
        _ site: String,
        account: String,
        password: some SecDataConvertible,
        in keychain: Keychain,
        ifExists: IfExists = .fail
    ) throws(KeychainError) {
        try keychain.store(password, query: .webCredential(for: site, account: account), ifExists: ifExists)
    }

    /// Stores the password of an account of a website.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account.
    ///   - password: The password.
    ///   - keychain: Where it is stored.
    ///   - ifExists: What happens if the account has a password there.
    /// - Throws: As the synchronous form, and `cancelled`.
    public static func store(
        _ site: String,
        account: String,
        password: some SecDataConvertible,
        in keychain: Keychain,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) {
        try await keychain.store(password, query: .webCredential(for: site, account: account), ifExists: ifExists)
    }

    /// The password of an account of a website, nil if there is none.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account; left out, that of the oldest item.
    ///   - keychain: Where it is looked for.
    /// - Throws: `invalidParameter` for what is no website, and as ``Keychain``'s `retrieve`.
    public static func retrieve<Password: SecDataConvertible>(
        _ site: String,
        account: String? = nil,
        from keychain: Keychain
    ) throws(KeychainError) -> Password? {
        try keychain.retrieve(.webCredential(for: site, account: account))
    }

    /// The password of an account of a website, nil if there is none.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account; left out, that of the oldest item.
    ///   - keychain: Where it is looked for.
    /// - Throws: As the synchronous form, and `cancelled`.
    public static func retrieve<Password: SecDataConvertible>(
        _ site: String,
        account: String? = nil,
        from keychain: Keychain
    ) async throws(KeychainError) -> Password? {
        try await keychain.retrieve(.webCredential(for: site, account: account))
    }

    /// Removes the password of an account of a website.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account.
    ///   - keychain: Where it is removed.
    /// - Returns: Whether there was one.
    /// - Throws: `invalidParameter` for what is no website, and as ``Keychain``'s `remove`.
    @discardableResult
    public static func remove(
        _ site: String,
        account: String,
        from keychain: Keychain
    ) throws(KeychainError) -> Bool {
        try keychain.remove(.webCredential(for: site, account: account))
    }

    /// Removes the password of an account of a website.
    ///
    /// - Parameters:
    ///   - site: The host, or an origin such as `https://example.com:8443`.
    ///   - account: The account.
    ///   - keychain: Where it is removed.
    /// - Returns: Whether there was one.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public static func remove(
        _ site: String,
        account: String,
        from keychain: Keychain
    ) async throws(KeychainError) -> Bool {
        try await keychain.remove(.webCredential(for: site, account: account))
    }

    /// A password for a new account, as in `kPz-7mq-Wd4-xNb`: about 69 bits.
    ///
    /// The same as ``PasswordGenerator/website`` gives.
    public static func generatePassword() -> String { PasswordGenerator.website.next() }
}
