// SPDX-License-Identifier: MIT

import KeychainTesting
import SwiftKeychain
import Testing

@Suite(.keychain(.memory)) struct ExpectationTests {
    private let keychain = Keychain.default

    @Test func whatIsStoredIsFound() throws {
        try keychain.set(secret, for: .token)
        try keychain.set([1, 2], for: .numbers)
        try keychain.store([UInt8]([1, 2]), query: .example)
        expectStored(secret, for: .token)
        expectStored([1, 2], for: .numbers)
        expectStored([UInt8]([1, 2]), for: .example)
        try keychain.removeAll()
        expectNotStored(for: .token)
        expectNotStored(for: .numbers)
        expectNotStored(for: .example)
    }

    @Test func whatIsMissingIsAnIssue() {
        expectIssue("Nothing is stored for the key ‘token’.") { expectStored(secret, for: .token) }
        expectIssue("Nothing is stored for the query ‘generic password by service’.") {
            expectStored(secret, for: .example)
        }
    }

    @Test(arguments: [(secret, "other"), ("other", secret)])
    func whatDiffersIsAnIssueWithoutTheSecret(stored: String, expected: String) throws {
        try keychain.set(stored, for: .token)
        try keychain.store(stored, query: .example)
        expectIssue("‘token’ differs") { expectStored(expected, for: .token) }
        expectIssue("\(stored.utf8.count) bytes, \(expected.utf8.count) were expected") {
            expectStored(expected, for: .example)
        }
    }

    @Test func whatShouldNotBeThereIsAnIssueWithoutTheSecret() throws {
        try keychain.set(secret, for: .token)
        try keychain.store(secret, query: .example)
        expectIssue("‘token’") { expectNotStored(for: .token) }
        expectIssue("An item is stored") { expectNotStored(for: .example) }
        expectIssue("2 items are stored") { expectNotStored(for: SecItemQuery<GenericPassword>()) }
    }

    @Test func aValueOfAnotherTypeIsAnIssueWithoutTheSecret() throws {
        var query = SecItemQuery<GenericPassword>.credential(for: "com.example.app")
        query.account = "numbers"
        try keychain.store(secret, query: query)
        expectIssue("‘numbers’ exists, but its value") { expectStored([1], for: .numbers) }
    }

    @Test(arguments: ["token=\(secret)", secret, "ä\(secret)"]) func aSecretInATextIsAnIssueWithoutIt(text: String) {
        let (count, offset) = (secret.utf8.count, text.utf8.count - secret.utf8.count)
        expectIssue("contains the secret of \(count) bytes at byte \(offset).") { expectNoSecret(secret, in: text) }
    }

    @Test func aTextWithoutTheSecretIsNone() {
        expectNoSecret(secret, in: "")
        expectNoSecret(secret, in: String(secret.dropLast()))
        expectNoSecret([UInt8](secret.utf8), in: "token=***")
        expectIssue("The secret is empty") { expectNoSecret("", in: "text") }
    }
}
