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
    private struct State {
        var confirmations: [AccessPolicy.Options: ContinuousClock.Instant] = [:]
        /// How often everything was forgotten.
        var generation = 0
    }

    private let state = Mutex(State())

    /// Makes one that remembers nothing yet.
    ///
    /// - Parameter duration: For how long a confirmation holds, time in which the machine sleeps included.
    public init(for duration: Duration) {
        self.duration = duration
    }

    /// Forgets every confirmation, for example when the application's window is hidden.
    public func invalidate() {
        state.withLock { $0 = State(generation: $0.generation + 1) }
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
            let generation = state.withLock(\.generation)
            try ask()
            // Not if it was to be forgotten while the person was asked.
            state.withLock { if $0.generation == generation { $0.confirmations[options] = .now } }
        }
    }

    private func covers(_ options: AccessPolicy.Options) -> Bool {
        state.withLock { state in
            guard let instant = state.confirmations[options] else { return false }
            return ContinuousClock.now - instant < duration
        }
    }
}
