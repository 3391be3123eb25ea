// SPDX-License-Identifier: MIT

/// Everything that the window shows.
public struct AccountsState: Sendable, Equatable {
    /// The accounts, by server and name.
    public internal(set) var accounts: [Account] = []
    /// What went wrong and what to do next; nil if nothing did.
    public internal(set) var complaint: String?
    /// Whether a token is on its way to the store.
    public internal(set) var isSigningIn = false

    /// Makes the state of a window that has just opened.
    public init() {}
}
