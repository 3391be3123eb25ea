// SPDX-License-Identifier: MIT

import KeychainAPI
import SwiftKeychain
public import Testing

/// Gives each test, and each case of a parameterized one, a keychain of its own as `Keychain.default`.
///
/// ```swift
/// @Suite(.keychain(.memory)) struct SignInTests {
///     @Test func signsIn() async throws {
///         try await signIn()                                   // uses Keychain.default
///         expectStored("8e9c0a7f", for: .accessToken)
///     }
/// }
/// ```
///
/// A trait of a suite holds for all that is in it. Where several are in force, the innermost decides. What the test needs
/// besides the keychain is ``KeychainTest/current``.
public struct KeychainTrait: SuiteTrait, TestTrait, TestScoping {
    /// Where the keychains come from.
    public let store: KeychainTestStore

    /// True: each test of a suite has a keychain of its own.
    public var isRecursive: Bool { true }

    /// Runs a test with a new keychain.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case of the test.
    ///   - function: Runs it.
    /// - Throws: What the test throws, and why the store could not be made or removed.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await store.provide { keychain in
            let current = KeychainTest(keychain)
            try await KeychainTest.$scoped.withValue(current) {
                try await Keychain.withDefault(current.keychain) { try await function() }
            }
        }
    }
}

extension Trait where Self == KeychainTrait {
    /// Gives each test, and each case of a parameterized one, a keychain of its own as `Keychain.default`.
    ///
    /// - Parameter store: Where the keychains come from.
    public static func keychain(_ store: KeychainTestStore) -> KeychainTrait { KeychainTrait(store: store) }
}
