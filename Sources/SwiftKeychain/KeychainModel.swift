// SPDX-License-Identifier: MIT

public import KeychainAPI
public import Observation
import Synchronization

/// The value of a key as a model that a user interface or a server observes: it follows every change, whoever makes it.
///
/// ```swift
/// let token = KeychainModel(.accessToken)
/// for await value in Observations({ token.value }) {
///     await connection.authenticate(value)
/// }
/// ```
///
/// It can be read from any thread, and never blocks: what it shows is what was read last. It tells of a change on the
/// thread that noticed it; a program with a main loop of its own, such as one with GTK, goes back to that first. It
/// follows the store for as long as someone holds it.
public final class KeychainModel<Value: Sendable>: Observable, Sendable {
    /// What is known of the value.
    public enum State: Sendable {
        /// Nothing was read yet.
        case loading
        /// The value; nil if there is none.
        case value(Value?)
        /// Why the value cannot be read at the moment. Unless the store cannot tell of changes (`unsupported`), it is
        /// tried again after a while.
        case failed(KeychainError)
    }

    /// The key.
    public let key: KeychainKey<Value>
    private let keychain: Keychain
    private let registrar = ObservationRegistrar()
    private let current = Mutex(State.loading)
    private let turn = Mutex<Task<KeychainError?, Never>?>(nil)
    private let following = Mutex<Task<Void, Never>?>(nil)

    /// Makes a model and begins to follow the store.
    ///
    /// The person is asked once at most, to unlock the store or to confirm: what is read after that is read without a
    /// question.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - keychain: Where its item is, nil for what `Keychain.default` is now.
    ///   - pause: How long to wait after a failure before the store is looked at again, at least a millisecond.
    public init(_ key: KeychainKey<Value>, keychain: Keychain? = nil, retryingAfter pause: Duration = .seconds(5)) {
        self.key = key
        self.keychain = keychain ?? .default
        let silent = self.keychain.with { $0.interaction = .never }
        let task = Task { [weak self, keychain = self.keychain] in
            var asking = keychain
            while !Task.isCancelled {
                let current = asking
                asking = silent
                do throws(KeychainError) {
                    let changes = try await silent.recordChanges([silent.selection(key)])
                    var iterator = RecordChanges.Iterator(changes)
                    try await self?.read(current)
                    while try await iterator.next() != nil {
                        guard let self else { return }
                        try await self.read(silent)
                    }
                    return
                } catch {
                    self?.show(.failed(error))
                    if error.code == .unsupported { return }
                }
                try? await Task.sleep(for: max(pause, .milliseconds(1)))
            }
        }
        following.withLock { $0 = task }
    }

    deinit {
        following.withLock { $0?.cancel() }
    }

    /// What is known of the value.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        return current.withLock { $0 }
    }

    /// The value; nil if there is none, nothing was read yet, or it cannot be read.
    public var value: Value? {
        if case .value(let value) = state { value } else { nil }
    }

    /// Why the value cannot be read at the moment.
    public var error: KeychainError? {
        if case .failed(let error) = state { error } else { nil }
    }

    /// Stores a value in the place of what is there, and shows it; nil removes it.
    ///
    /// - Parameter value: The value.
    /// - Throws: As `Keychain.set(_:for:)` and `Keychain.remove(_:)`.
    public func store(_ value: Value?) async throws(KeychainError) {
        try await inTurn { [keychain, key] () async throws(KeychainError) in
            if let value { try await keychain.set(value, for: key) } else { try await keychain.remove(key) }
            return value
        }
    }

    /// Reads the value and shows it.
    private func read(_ keychain: Keychain) async throws(KeychainError) {
        try await inTurn { [key] () async throws(KeychainError) in try await keychain.get(key) }
    }

    /// Shows what an operation gives, one operation after the other: so that no value that was read before another one was
    /// stored is shown after that.
    private func inTurn(
        _ operation: @escaping @Sendable () async throws(KeychainError) -> Value?
    ) async throws(KeychainError) {
        let task = turn.withLock { turn in
            let last = turn
            let task = Task { [weak self] () -> KeychainError? in
                _ = await last?.value
                do throws(KeychainError) {
                    let value = try await operation()
                    self?.show(.value(value))
                    return nil
                } catch {
                    return error
                }
            }
            turn = task
            return task
        }
        let error = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if let error { throw error }
    }

    private func show(_ state: State) {
        registrar.withMutation(of: self, keyPath: \.state) { current.withLock { $0 = state } }
    }
}

extension KeychainModel: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The account of the key; never the value.
    public var description: String { "KeychainModel(\(key.account))" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeychainModel.State: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What is known, without the value.
    public var description: String {
        switch self {
        case .loading: "loading"
        case .value(let value): value == nil ? "no value" : "a value"
        case .failed(let error): "failed: \(error)"
        }
    }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
