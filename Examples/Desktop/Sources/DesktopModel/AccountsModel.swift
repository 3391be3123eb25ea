// SPDX-License-Identifier: MIT

public import SwiftKeychain

/// The accounts in a keychain, as a window shows them; it knows nothing of windows.
///
/// Every verb is the asynchronous one: an actor's thread is not blocked either while the store takes its time or asks the
/// person to unlock it.
public actor AccountsModel {
    private let keychain: Keychain
    private let pause: Duration
    private let publish: @Sendable (AccountsState) -> Void
    private var state = AccountsState() {
        didSet { if state != oldValue { publish(state) } }
    }

    /// Makes a model; nothing is read yet.
    ///
    /// - Parameters:
    ///   - keychain: Where the tokens are.
    ///   - pause: How long it waits before it looks again at a store that could not be looked at.
    ///   - publish: Is called with each new state, in order, on any thread.
    public init(
        keychain: Keychain,
        pause: Duration = .seconds(2),
        publish: @escaping @Sendable (AccountsState) -> Void
    ) {
        self.keychain = keychain
        self.pause = pause
        self.publish = publish
    }

    /// Keeps the list up to date with what any program changes, until the task is cancelled.
    public func follow() async {
        while !Task.isCancelled {
            do throws(KeychainError) {
                // Watched before it is looked at, so that nothing is missed in between.
                var changes = try await keychain.changes(matching: Account.all).makeAsyncIterator()
                try await list()
                state.complaint = nil
                while try await changes.next() != nil { try await list() }
                return
            } catch {
                state.complaint = error.message
            }
            // The store may be unlocked meanwhile, or started.
            try? await Task.sleep(for: pause)
        }
    }

    /// Keeps a token, in the place of the one that is there.
    ///
    /// - Parameters:
    ///   - account: Whose token it is.
    ///   - token: The token.
    /// - Returns: Whether it is kept; if not, the state says why.
    @discardableResult
    public func signIn(_ account: Account, token: SecureBytes) async -> Bool {
        guard !account.server.isEmpty, !account.name.isEmpty, !token.isEmpty else {
            state.complaint = "Fill in the server, the account and the token."
            return false
        }
        state.isSigningIn = true
        defer { state.isSigningIn = false }
        return await complaining { () async throws(KeychainError) in
            try await keychain.store(token, query: account.query, ifExists: .replaceValue)
        }
    }

    /// Forgets an account and its token.
    ///
    /// - Parameter account: The account.
    /// - Returns: Whether it is forgotten; if not, the state says why.
    @discardableResult
    public func remove(_ account: Account) async -> Bool {
        await complaining { () async throws(KeychainError) in _ = try await keychain.remove(account.query) }
    }

    private func list() async throws(KeychainError) {
        let accounts = try await keychain.infoAll(for: Account.all).map {
            Account(server: $0.server ?? "", name: $0.account ?? "")
        }
        state.accounts = accounts.sorted { ($0.server, $0.name) < ($1.server, $1.name) }
    }

    private func complaining(_ action: () async throws(KeychainError) -> Void) async -> Bool {
        do throws(KeychainError) {
            try await action()
            state.complaint = nil
            return true
        } catch {
            // One that dismisses a prompt knows what happened.
            state.complaint = error.code == .userCanceled ? nil : error.message
            return false
        }
    }
}
