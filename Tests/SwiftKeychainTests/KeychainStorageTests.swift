// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Testing

extension KeychainKeys {
    fileprivate static let token = KeychainKey<String>("token", service: "app")
}

private struct Session {
    @KeychainStorage(.token) var token
    @Credential("OpenAI") var apiKey: String?
}

/// Properties that stand for items.
@Suite(.timeLimit(.minutes(1))) struct KeychainStorageTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }

    @Test func aPropertyIsWhatIsInTheStore() throws {
        try Keychain.withDefault(keychain) {
            let session = Session()
            #expect(session.token == nil && session.$token.fetchError == nil)
            try session.$token.store("1")
            #expect(try session.token == "1" && session.$token.fetch() == "1" && keychain.get(.token) == "1")
            try session.$token.store("2")
            #expect(session.token == "2")
            try session.$token.store(nil)
            #expect(try session.token == nil && !session.$token.remove())
        }
    }

    @Test func theAsynchronousFormsDoTheSame() async throws {
        try await Keychain.withDefault(keychain) {
            let session = Session()
            try await session.$apiKey.store("1")
            let value = try await session.$apiKey.fetch()
            let isRemoved = try await session.$apiKey.remove()
            try await session.$apiKey.store(nil)
            #expect(value == "1" && isRemoved)
        }
    }

    @Test func aCredentialIsThePasswordOfItsService() throws {
        let session = Session(
            token: KeychainStorage(.token, keychain: keychain),
            apiKey: Credential("OpenAI", keychain: keychain)
        )
        try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
        #expect(session.apiKey == "8e9c0a7f")
        try session.$apiKey.store("new")
        #expect(try keychain.retrieve(.credential(for: "OpenAI")) == "new")
        #expect(driver.records.count == 1)
    }

    @Test func whatCannotBeReadIsToldApart() throws {
        let storage = KeychainStorage(.token, keychain: keychain)
        try storage.store("secret text")
        driver.inject(.locked)
        #expect(storage.wrappedValue == nil && storage.fetchError?.code == .interactionNotAllowed)
        #expect(throws: KeychainError.self) { try storage.fetch() }
        driver.clearFaults()
        #expect(storage.wrappedValue == "secret text" && storage.fetchError == nil)
    }

    @Test func nothingPrintsTheValue() throws {
        let session = Session(
            token: KeychainStorage(.token, keychain: keychain),
            apiKey: Credential("OpenAI", keychain: keychain)
        )
        try session.$token.store("hidden")
        try session.$apiKey.store("hidden")
        var dumped = ""
        dump(session, to: &dumped)
        #expect(!dumped.contains("hidden") && !"\(session) \(session.$token)".contains("hidden"))
    }

    @Test func valuesAreFollowedWhoeverChangesThem() async throws {
        let storage = KeychainStorage(.token, keychain: keychain)
        var values = try await storage.values().makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        let other = Keychain(driver: driver)
        try await other.set("1", for: .token)
        #expect(try await values.next() == .some("1"))
        try await other.set("not this one", for: KeychainKey<String>("other", service: "app"))
        try await other.set("2", for: .token)
        #expect(try await values.next() == .some("2"))
        try await other.remove(.token)
        #expect(try await values.next() == .some(nil))
        // What could not be read is read at the next call, though nothing has changed.
        try await other.set("3", for: .token)
        driver.inject(.unavailable, afterCalls: 1, times: 1)
        await #expect(throws: KeychainError.self) { try await values.next() }
        #expect(try await values.next() == .some("3"))
    }
}
