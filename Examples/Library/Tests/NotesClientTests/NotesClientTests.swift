// SPDX-License-Identifier: MIT

import NotesClient
import SwiftKeychain
import Testing

@Suite struct NotesClientTests {
    let driver = MemoryDriver()
    let server = ScriptedServer()

    private var keychain: Keychain { Keychain(driver: driver) }
    private var client: NotesClient { NotesClient(account: "bob", server: server, keychain: keychain) }

    @Test func keepsTokensAndForgetsThem() async throws {
        #expect(try await !client.isSignedIn)
        try await client.signIn(password: "correct horse")
        #expect(try await client.titles() == ["Shopping"])
        #expect(driver.records.map(\.attributes[.account]) == [.text("bob")])
        #expect(try await !NotesClient(account: "carol", server: server, keychain: keychain).isSignedIn)
        try await client.signOut()
        #expect(driver.records.isEmpty)
        await #expect(throws: NotesError.signedOut) { try await client.titles() }
    }

    /// The application's code says `NotesClient(account:server:)`; the test decides what the default keychain is.
    @Test func usesTheDefaultKeychain() async throws {
        try await Keychain.withDefault(keychain) {
            try await NotesClient(account: "bob", server: server).signIn(password: "correct horse")
        }
        #expect(driver.records.count == 1)
    }

    @Test func keepsNewTokensBeforeItUsesThem() async throws {
        try await client.signIn(password: "correct horse")
        server.expire()
        #expect(try await client.titles() == ["Shopping"])
        // Another start of the program finds the new ones: the old refresh token would not be taken again.
        server.expire()
        #expect(try await client.titles() == ["Shopping"])
    }

    /// A keyring that is locked is no sign-out: the tokens are still there when it is unlocked.
    @Test func aLockedKeyringSignsNoOneOut() async throws {
        try await client.signIn(password: "correct horse")
        driver.inject(.locked)
        let reading = await #expect(throws: KeychainError.self) { try await client.titles() }
        #expect(reading?.code == .interactionNotAllowed)
        let asking = await #expect(throws: KeychainError.self) { try await client.isSignedIn }
        #expect(asking?.code == .interactionNotAllowed)
        let leaving = await #expect(throws: KeychainError.self) { try await client.signOut() }
        #expect(leaving?.code == .interactionNotAllowed)
        driver.clearFaults()
        #expect(try await client.titles() == ["Shopping"])
    }

    /// Refused tokens are never lost: what could not be kept is told, and the person is not taken for signed in.
    @Test func aKeyringThatLocksDuringSignInIsTold() async throws {
        driver.inject(.locked, times: 1)
        let error = await #expect(throws: KeychainError.self) { try await client.signIn(password: "correct horse") }
        #expect(error?.code == .interactionNotAllowed)
        #expect(try await !client.isSignedIn)
    }

    /// What an older version or another program has left there are no tokens: the person signs in again, over it.
    @Test(arguments: ["", "no JSON", #"{"access":"only one"}"#])
    func aValueThatIsNoTokensAsksToSignIn(_ value: String) async throws {
        try await client.signIn(password: "correct horse")
        var query = SecItemQuery<GenericPassword>.credential(for: "notes.example.com")
        query.account = "bob"
        try await keychain.store(value, query: query, ifExists: .replaceValue)
        await #expect(throws: NotesError.signedOut) { try await client.titles() }
        try await client.signIn(password: "correct horse")
        #expect(try await client.titles() == ["Shopping"])
    }

    /// A store that is damaged may hold tokens that a repair saves: nothing is written over them.
    @Test func aDamagedStoreIsToldAndLeftAsItIs() async throws {
        try await client.signIn(password: "correct horse")
        let before = driver.records
        driver.inject(.failing(.corrupt))
        let error = await #expect(throws: KeychainError.self) { try await client.titles() }
        #expect(error?.code == .corrupt)
        #expect(driver.records == before)
    }

    @Test func aSlowKeyringEndsWithItsTimeLimit() async throws {
        driver.inject(.slow(.seconds(60)))
        let impatient = keychain.with { $0.timeout = .milliseconds(50) }
        let client = NotesClient(account: "bob", server: server, keychain: impatient)
        let error = await #expect(throws: KeychainError.self) { try await client.titles() }
        #expect(error?.code == .timedOut)
    }
}
