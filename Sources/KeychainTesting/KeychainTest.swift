// SPDX-License-Identifier: MIT

public import BackendMemory
public import KeychainAPI
import KeychainSpy

/// The keychain of a test, what was asked of it, and what is to go wrong with it.
public final class KeychainTest: Sendable {
    @TaskLocal static var scoped: KeychainTest?

    /// The keychain, which is also `Keychain.default` while the test runs.
    public let keychain: Keychain
    /// The same store past the recorder and the faults: what the expectations look at.
    let unwatched: Keychain
    private let recorder = CallRecorder()

    init(_ keychain: Keychain) {
        unwatched = keychain
        let driver = SpyDriver(over: keychain.driver, watcher: recorder)
        self.keychain = Keychain(driver: driver, configuration: keychain.configuration)
    }

    /// The one of the test that is running.
    ///
    /// - Throws: `unavailable` outside of a test with the trait, and in a detached task, which knows nothing of its test.
    public static var current: KeychainTest {
        get throws(KeychainError) {
            guard let scoped else {
                throw KeychainError(
                    .unavailable,
                    "This test has no keychain of its own. Give it or its suite the trait .keychain(.memory), and ask before "
                        + "a task is detached."
                )
            }
            return scoped
        }
    }

    // MARK: What was asked

    /// The verbs that have reached the store, in the order in which they did.
    ///
    /// What the test asks of ``keychain`` itself is among them; what the expectations of this module look at is not.
    public var calls: [RecordedCall] { recorder.calls }

    /// The verbs that have changed the store.
    public var writes: [RecordedCall] { calls.filter(\.isWrite) }

    /// The verbs of a kind that were about a query.
    ///
    /// - Parameters:
    ///   - operation: The verb.
    ///   - query: What they looked for, or what they read or changed matches.
    public func calls<Item: SecItem>(_ operation: KeychainOperation, for query: SecItemQuery<Item>) -> [RecordedCall] {
        calls(operation, unwatched.selection(query))
    }

    /// The verbs of a kind that were about a key.
    ///
    /// - Parameters:
    ///   - operation: The verb.
    ///   - key: What they looked for, read or changed.
    public func calls<Value>(_ operation: KeychainOperation, for key: KeychainKey<Value>) -> [RecordedCall] {
        calls(operation, unwatched.selection(key))
    }

    private func calls(_ operation: KeychainOperation, _ selection: RecordSelection) -> [RecordedCall] {
        calls.filter { $0.operation == operation && $0.isAbout(selection) }
    }

    /// Forgets the calls so far, for example those that prepared the test.
    public func clearCalls() {
        recorder.clear()
    }

    // MARK: What goes wrong

    /// Lets calls fail, so that the test sees what its program does then.
    ///
    /// - Parameters:
    ///   - fault: What happens.
    ///   - operation: The verb that it happens to, nil for all.
    ///   - afterCalls: How many calls of that verb succeed before.
    ///   - times: How many calls it happens to, nil for all until ``clearFaults()``.
    public func inject(
        _ fault: MemoryFault,
        into operation: KeychainOperation? = nil,
        afterCalls: Int = 0,
        times: Int? = nil
    ) {
        recorder.faults.inject(fault, into: operation, afterCalls: afterCalls, times: times)
    }

    /// Lets calls succeed again.
    public func clearFaults() {
        recorder.faults.clear()
    }
}
