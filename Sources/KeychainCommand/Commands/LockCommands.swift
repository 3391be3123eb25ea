// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `lock`: locks the store.
    func lock() async throws(KeychainError) -> ExitCode {
        try await open(try settings(), creation: .never).keychain.lock()
        return .done
    }

    /// `unlock`: unlocks the store.
    func unlock() async throws(KeychainError) -> ExitCode {
        try await open(try settings(), creation: .never).keychain.unlock()
        return .done
    }
}
