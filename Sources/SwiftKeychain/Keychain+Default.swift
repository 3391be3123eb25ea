// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI

extension Keychain {
    @TaskLocal private static var override: Keychain?

    private static let standard = Keychain(
        driver: DefaultDriver(registry: .standard, environment: ProcessInfo.processInfo.environment)
    )

    /// The keychain of this user on this machine.
    ///
    /// Which store it is is decided by the first call: the one that `KEYCHAIN_STORE` names, else the one that earlier
    /// programs of this user have written to, else the desktop's Secret Service if it answers, else the encrypted
    /// file. The choice is kept, and is never silently another one: a store that held items before and cannot be
    /// reached is an `unavailable` error.
    ///
    /// Inside `withDefault(_:_:)` it is the keychain that was given there.
    public static var `default`: Keychain { override ?? standard }

    /// Lets ``default`` be another keychain for the duration of a closure and the tasks that it starts.
    ///
    /// Tests that run in parallel each see their own.
    ///
    /// - Parameters:
    ///   - keychain: What ``default`` is meanwhile.
    ///   - body: Runs with it.
    /// - Throws: What the closure throws.
    public static func withDefault<Result>(_ keychain: Keychain, _ body: () throws -> Result) rethrows -> Result {
        try $override.withValue(keychain, operation: body)
    }

    /// Lets ``default`` be another keychain for the duration of a closure and the tasks that it starts.
    ///
    /// - Parameters:
    ///   - keychain: What ``default`` is meanwhile.
    ///   - body: Runs with it.
    /// - Throws: What the closure throws.
    public static func withDefault<Result>(
        _ keychain: Keychain,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $override.withValue(keychain, operation: body)
    }
}
