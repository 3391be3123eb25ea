// SPDX-License-Identifier: MIT

import SwiftKeychain
import Synchronization

/// Knows the token of the moment, for every thread.
final class Gate: Sendable {
    private let current = Mutex<SecureBytes?>(nil)

    /// The token; without one, no one is let in.
    var token: SecureBytes? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Whether a client said the token; the time that it takes does not tell how much of it was right.
    func lets(in said: SecureBytes) -> Bool { token == said }
}
