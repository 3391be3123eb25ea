// SPDX-License-Identifier: MIT

import Synchronization

/// One call of a verb, as a driver sees it: what it is for, how long it may take, and whether it was cancelled.
public final class CallContext: Sendable {
    /// The verb.
    public let operation: KeychainOperation
    /// Whether the call may show a prompt.
    public let interaction: InteractionPolicy
    /// Whether one match is all that is asked for: a store that is damaged elsewhere may answer with one that is intact.
    public let isForOneMatch: Bool
    /// Whether labels and dates are of no interest, only the value: a store that has to ask for them need not.
    public let isForValue: Bool
    /// When the call must have ended, nil for no limit.
    public let deadline: ContinuousClock.Instant?

    private struct State {
        var isCancelled = false
        var nextHandler = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Makes the context of a call that begins now.
    ///
    /// - Parameters:
    ///   - operation: The verb.
    ///   - timeout: How long the call may take, nil for no limit.
    ///   - interaction: Whether it may show a prompt.
    ///   - isForOneMatch: Whether one match is all that is asked for.
    ///   - isForValue: Whether labels and dates are of no interest, only the value.
    public init(
        _ operation: KeychainOperation,
        timeout: Duration? = nil,
        interaction: InteractionPolicy = .allowed,
        isForOneMatch: Bool = false,
        isForValue: Bool = false
    ) {
        self.operation = operation
        self.interaction = interaction
        self.isForOneMatch = isForOneMatch
        self.isForValue = isForValue
        deadline = timeout.map { ContinuousClock.now + $0 }
    }

    /// The time that is left, never negative; nil for no limit.
    public var remaining: Duration? {
        deadline.map { max(.zero, $0 - ContinuousClock.now) }
    }

    /// Whether a store that is locked may ask the person to unlock it.
    ///
    /// Not for `info`: who lists a locked store is told that it is locked. A passphrase that an application's own
    /// ``PassphrasePrompt`` asks for when a store is opened goes by ``interaction`` alone.
    public var allowsUnlockPrompt: Bool { interaction.allowsPrompts && operation != .info }

    /// Whether the call was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Throws if the call should end.
    ///
    /// - Throws: `cancelled` after ``cancel()``, `timedOut` after the deadline.
    public func check() throws(KeychainError) {
        if isCancelled {
            throw Self.cancelled
        }
        if let deadline, ContinuousClock.now >= deadline {
            throw Self.timedOut
        }
    }

    /// What a call that has run out of time ends with.
    package static let timedOut = KeychainError(
        .timedOut,
        "The store did not answer in time. Try again, or allow more time (Keychain.timeout, --timeout)."
    )

    /// What a call that was cancelled ends with.
    package static let cancelled = KeychainError(
        .cancelled,
        "The call was cancelled; what had not been acknowledged was not done."
    )

    /// Cancels the call: runs the handlers, and lets ``check()`` throw from now on.
    public func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
    }

    /// Runs a closure, with a handler in place that a cancellation calls at once.
    ///
    /// - Parameters:
    ///   - handler: Is called at most once, on any thread; also if the call was cancelled before. A cancellation that
    ///     comes when the body ends may still call it a moment later, so it owns what it uses.
    ///   - body: What is to be interrupted.
    /// - Throws: What the body throws.
    public func withCancellationHandler<Result>(
        _ handler: @escaping @Sendable () -> Void,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let key: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.nextHandler += 1
            state.handlers[state.nextHandler] = handler
            return state.nextHandler
        }
        if key == nil { handler() }
        defer {
            // Carried out of the lock: what the handler holds may run code of its own when it is released.
            if let key { _ = state.withLock { $0.handlers.removeValue(forKey: key) } }
        }
        return try body()
    }
}
