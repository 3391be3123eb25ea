// SPDX-License-Identifier: MIT

public import SwiftKeychain

/// A client of a service for notes, which keeps its tokens in a keychain.
///
/// It takes the keychain rather than choosing one: the application decides where secrets are, and a test gives it memory.
public struct NotesClient: Sendable {
    private let account: KeychainKey<Tokens>
    private let keychain: Keychain
    private let server: any NotesServer

    /// Makes a client; nothing is read yet.
    ///
    /// - Parameters:
    ///   - account: Whose notes they are.
    ///   - server: Where they are.
    ///   - keychain: Where the tokens are.
    public init(account: String, server: any NotesServer, keychain: Keychain = .default) {
        self.account = KeychainKey(account, service: "notes.example.com", codec: .json)
        self.server = server
        self.keychain = keychain
    }

    /// Whether there are tokens.
    ///
    /// - Throws: Why the keychain could not be read: then it is not known.
    public var isSignedIn: Bool {
        get async throws(KeychainError) { try await keychain.get(account) != nil }
    }

    /// Exchanges a password for tokens, and keeps those.
    ///
    /// - Parameter password: The password; it is not kept.
    /// - Throws: What the server throws, and why the tokens could not be kept.
    public func signIn(password: String) async throws {
        try await keychain.set(try await server.tokens(password: password), for: account)
    }

    /// Forgets the tokens; without any, nothing happens.
    ///
    /// - Throws: Why they could not be removed: then they are still there.
    public func signOut() async throws(KeychainError) {
        try await keychain.remove(account)
    }

    /// The titles of the notes.
    ///
    /// Tokens that have expired are exchanged for new ones, which are kept before they are used: the old ones are of no use
    /// any more, and a program that ends here must find the new ones.
    ///
    /// - Throws: `NotesError.signedOut` if there are no tokens, or what is kept are none; a `KeychainError` if the keychain
    ///   could not be read or written, which never signs anyone out; and what the server throws.
    public func titles() async throws -> [String] {
        guard let tokens = try await readTokens() else { throw NotesError.signedOut }
        do {
            return try await server.titles(access: tokens.access)
        } catch NotesError.expired {
            let new = try await server.tokens(refresh: tokens.refresh)
            try await keychain.set(new, for: account)
            return try await server.titles(access: new.access)
        }
    }

    /// What is kept; nil if it is nothing, or nothing that can be understood.
    ///
    /// Only `decode` says that the item was read and holds no tokens: they are lost, and signing in again mends it. Everything
    /// else says that the keychain could not look; that is for the application to tell the person.
    private func readTokens() async throws(KeychainError) -> Tokens? {
        do throws(KeychainError) {
            return try await keychain.get(account)
        } catch {
            guard error.code == .decode else { throw error }
            return nil
        }
    }
}
