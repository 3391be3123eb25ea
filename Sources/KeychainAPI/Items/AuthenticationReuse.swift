// SPDX-License-Identifier: MIT

import Synchronization

/// Remembers what a person has confirmed, for a while.
///
/// One for each ``AuthenticationContext``, which keeps it.
public final class AuthenticationReuse: Sendable {
    /// Nothing is remembered.
    public static let none = AuthenticationReuse(for: .zero)

    /// For how long a confirmation holds.
    public let duration: Duration
    private let turn = CallLock()
    private let confirmations = Mutex<[AccessPolicy.Options: ContinuousClock.Instant]>([:])

    /// Makes one that remembers nothing yet.
    ///
    /// - Parameter duration: For how long a confirmation holds, time in which the machine sleeps included.
    public init(for duration: Duration) {
        self.duration = duration
    }

    /// Forgets every confirmation, for example when the application's window is hidden.
    public func invalidate() {
        confirmations.withLock { $0 = [:] }
    }

    /// Asks, unless the same was confirmed within the duration; of several calls at once, one asks for all of them.
    func confirm(
        _ options: AccessPolicy.Options,
        _ call: CallContext,
        _ ask: () throws(KeychainError) -> Void
    ) throws(KeychainError) {
        guard duration > .zero else { return try ask() }
        try turn.withLock(call) { () throws(KeychainError) in
            if covers(options) { return }
            try ask()
            confirmations.withLock { $0[options] = .now }
        }
    }

    private func covers(_ options: AccessPolicy.Options) -> Bool {
        confirmations.withLock { confirmations in
            guard let instant = confirmations[options] else { return false }
            return ContinuousClock.now - instant < duration
        }
    }
}
