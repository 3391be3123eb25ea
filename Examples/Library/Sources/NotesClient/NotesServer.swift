// SPDX-License-Identifier: MIT

/// The server, as the client sees it; in an application, calls over HTTP.
public protocol NotesServer: Sendable {
    /// Exchanges a password for tokens.
    ///
    /// - Parameter password: The password.
    /// - Throws: Why the server gives none.
    func tokens(password: String) async throws -> Tokens

    /// Exchanges a refresh token, which is of no use from then on, for new tokens.
    ///
    /// - Parameter refresh: The refresh token.
    /// - Throws: `NotesError.signedOut` if it is of no use.
    func tokens(refresh: String) async throws -> Tokens

    /// The titles of the notes.
    ///
    /// - Parameter access: The access token.
    /// - Throws: `NotesError.expired` if the token is of no use any more.
    func titles(access: String) async throws -> [String]
}

/// What a server gives for a password.
public struct Tokens: Codable, Sendable, Equatable {
    /// What a call is made with, for a short time.
    public let access: String
    /// What new tokens are asked for with, once.
    public let refresh: String

    /// Makes tokens.
    ///
    /// - Parameters:
    ///   - access: What a call is made with.
    ///   - refresh: What new tokens are asked for with.
    public init(access: String, refresh: String) {
        self.access = access
        self.refresh = refresh
    }
}

/// What keeps a client from its notes, other than its keychain.
public enum NotesError: Error {
    /// The access token has expired.
    case expired
    /// No one is signed in; ask for the password.
    case signedOut
}
