// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `git-credential`: a credential helper of Git (gitcredentials(7)).
    func gitCredential() async throws(KeychainError) -> ExitCode {
        let action = parsed.operands[0]
        // A helper ignores what it does not know: later versions of Git may ask for more.
        guard ["get", "store", "erase"].contains(action) else { return .done }
        let settings = try settings()
        let input = try io.readInput(limit: 1 << 20, droppingNewline: false, deadline: settings.deadline)
        let credential = try GitCredential(input.text)
        guard let query = credential.query else { return .done }
        switch action {
        case "get": try await give(query, try open(settings, creation: .never))
        case "store":
            guard let password = credential.password, credential.username != nil, !credential.isEphemeral else {
                return .done
            }
            let lines = [password] + credential.extraLines
            let target = try open(settings, creation: .ifMissing)
            try await announcingCreation(of: target) { () async throws(KeychainError) in
                try await keep(SecureBytes(Array(lines.joined(separator: "\n").utf8)), query, credential.label, target)
            }
        default: try await forget(credential, query, try open(settings, creation: .never))
        }
        return .done
    }

    /// Prints the oldest credential that can be used; nothing if there is none.
    private func give(
        _ query: SecItemQuery<InternetPassword>,
        _ store: OpenStore
    ) async throws(KeychainError) {
        for item in try await store.keychain.items(query) {
            let secret = try GitSecret(item.value)
            guard !secret.isExpired else { continue }
            let account = item.info.account ?? ""
            let lines = ["username=\(account)", "password=\(secret.password)"] + secret.extraLines
            guard account.scalarLines.count == 1 else { continue }
            return try io.print(lines.joined(separator: "\n") + "\n")
        }
    }

    /// Stores the value, and keeps the label of an item that is there.
    private func keep(
        _ value: SecureBytes,
        _ query: SecItemQuery<InternetPassword>,
        _ label: String,
        _ store: OpenStore
    ) async throws(KeychainError) {
        var new = query
        new.label = label
        try await store.keychain.store(value, query: new, ifExists: .replaceValue)
    }

    /// Removes what matches; if Git names a password, only what has that one: another may have been stored meanwhile.
    private func forget(
        _ credential: GitCredential,
        _ query: SecItemQuery<InternetPassword>,
        _ store: OpenStore
    ) async throws(KeychainError) {
        for item in try await store.keychain.items(query) {
            if let password = credential.password, try GitSecret(item.value).password != password { continue }
            var one = SecItemQuery<InternetPassword>()
            one.persistentReference = item.info.persistentReference
            try await store.keychain.remove(one)
        }
    }
}
