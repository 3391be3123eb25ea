// SPDX-License-Identifier: MIT

public import KeychainAPI

/// How the conformance suite reaches the stores of one driver.
///
/// Two functions are enough to begin with. Each power that a harness adds lets more checks run:
///
/// ```swift
/// struct MyHarness: ConformanceHarness {
///     func makeKeychain() async throws -> Keychain {
///         Keychain(driver: try MyDriver(folder: makeTemporaryFolder()), accessGroup: AccessGroup(rawValue: "check"))
///     }
///     func discard(_ keychain: Keychain) async throws { try removeFolder(of: keychain) }
/// }
/// ```
///
/// A check touches nothing but the keychain's group and groups whose names begin with that name and a dot, and
/// empties them at the end, so that the suite can also run on a store that is in use.
public protocol ConformanceHarness: Sendable {
    /// What the harness can do; by default nothing more.
    var powers: HarnessPowers { get }

    /// How long a check waits for what must happen at once, before it fails; by default ten seconds.
    var patience: Duration { get }

    /// Makes an empty keychain: a store of its own, or at least a group of its own with a name that is not empty.
    ///
    /// - Throws: Why it could not be made; the check then fails.
    func makeKeychain() async throws -> Keychain

    /// Gives back what ``makeKeychain()`` made; is always called, also after a failure.
    ///
    /// - Parameter keychain: The keychain; its groups are empty unless the harness makes fresh stores.
    /// - Throws: Why it could not be given back; the check then fails.
    func discard(_ keychain: Keychain) async throws

    /// Opens the store of a keychain again, with a new instance of the driver. Needs ``HarnessPowers/reopen``.
    ///
    /// - Parameter keychain: The keychain; it stays in use.
    /// - Returns: A keychain with the same store and group.
    /// - Throws: Why it could not be opened.
    func reopen(_ keychain: Keychain) throws -> Keychain

    /// Locks the store of a keychain, so that no one can read it without a prompt. Needs ``HarnessPowers/lock``.
    ///
    /// - Parameter keychain: The keychain.
    /// - Throws: Why it could not be locked.
    func lock(_ keychain: Keychain) throws

    /// Unlocks the store of a keychain again. Needs ``HarnessPowers/lock``.
    ///
    /// - Parameter keychain: The keychain.
    /// - Throws: Why it could not be unlocked.
    func unlock(_ keychain: Keychain) throws

    /// The program that opens the store from another process. Needs ``HarnessPowers/processes``.
    ///
    /// - Parameter keychain: The keychain.
    /// - Returns: A program whose main function is ``ConformanceWorker/main(arguments:openDriver:)``.
    func workerCommand(for keychain: Keychain) -> WorkerCommand?
}

extension ConformanceHarness {
    /// None.
    public var powers: HarnessPowers { [] }

    /// Ten seconds.
    public var patience: Duration { .seconds(10) }

    /// Throws `unsupported`.
    public func reopen(_ keychain: Keychain) throws -> Keychain { throw Self.cannot }

    /// Throws `unsupported`.
    public func lock(_ keychain: Keychain) throws { throw Self.cannot }

    /// Throws `unsupported`.
    public func unlock(_ keychain: Keychain) throws { throw Self.cannot }

    /// None.
    public func workerCommand(for keychain: Keychain) -> WorkerCommand? { nil }

    private static var cannot: KeychainError {
        KeychainError(.unsupported, "The harness cannot do this. Leave the power out of its powers, or implement it.")
    }
}
