// SPDX-License-Identifier: MIT

import NotesClient
import Synchronization

/// A server that gives numbered tokens, and honours only the latest.
final class ScriptedServer: NotesServer {
    private let number = Mutex(0)

    /// Lets the access token that was given last expire.
    func expire() { number.withLock { $0 += 1 } }

    func tokens(password: String) -> Tokens { next() }

    func tokens(refresh: String) throws -> Tokens {
        // That of the tokens that have just expired.
        guard refresh == "refresh \(number.withLock { $0 } - 1)" else { throw NotesError.signedOut }
        return next()
    }

    func titles(access: String) throws -> [String] {
        guard access == "access \(number.withLock { $0 })" else { throw NotesError.expired }
        return ["Shopping"]
    }

    private func next() -> Tokens {
        number.withLock { number in
            number += 1
            return Tokens(access: "access \(number)", refresh: "refresh \(number)")
        }
    }
}
