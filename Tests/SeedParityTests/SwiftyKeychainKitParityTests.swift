// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Testing

extension KeychainKeys {
    fileprivate static let accessToken = KeychainKey<String>("accessToken", service: "com.swifty.keychain")
    fileprivate static let attempts = KeychainKey<Int>("attempts")
    fileprivate static let ratio = KeychainKey<Double>("ratio")
    fileprivate static let weight = KeychainKey<Float>("weight")
    fileprivate static let isPaired = KeychainKey<Bool>("isPaired")
    fileprivate static let blob = KeychainKey<Data>("blob")
    fileprivate static let session = KeychainKey<Session>("session", codec: .json)
}

private struct Session: Codable, Equatable, Sendable {
    var user: String
    var expires: Date
}

/// What SwiftyKeychainKit (andriyslyusar/SwiftyKeychainKit) shows in its README and tests, written for this library.
@Suite struct SwiftyKeychainKitParityTests {
    private let keychain = Keychain(driver: MemoryDriver(), applicationIdentifier: "com.example.app")

    // SwiftyKeychainKit, Usage, Basic.
    @Test func basic() throws {
        try keychain.set("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", for: .accessToken)
        try keychain.set("another", for: .accessToken)
        let value = try keychain.get(.accessToken)
        #expect(value == "another")
        try keychain.remove(.accessToken)
        #expect(try keychain.get(.accessToken) == nil)
        try keychain.removeAll()
    }

    // SwiftyKeychainKit, get with a default, subscripts and the dynamic call.
    @Test func otherWaysToRead() throws {
        #expect(try keychain.get(.accessToken, default: "none") == "none")
        #expect(try keychain[.accessToken].get() == nil)
        #expect(try keychain[.accessToken, default: "none"].get() == "none")
        try keychain.set("token", for: .accessToken)
        #expect(try keychain(.accessToken) == "token")
        #expect(try keychain[.accessToken].get() == "token")
        #expect(try keychain.contains(.accessToken))
    }

    // SwiftyKeychainKit, Supported types.
    @Test func supportedTypes() throws {
        try keychain.set(3, for: .attempts)
        try keychain.set(0.1, for: .ratio)
        try keychain.set(0.25, for: .weight)
        try keychain.set(true, for: .isPaired)
        try keychain.set(Data([0, 1, 0xFF]), for: .blob)
        let session = Session(user: "bob", expires: Date(timeIntervalSince1970: 1_800_000_000))
        try keychain.set(session, for: .session)
        #expect(try keychain.get(.attempts) == 3)
        #expect(try keychain.get(.ratio) == 0.1)
        #expect(try keychain.get(.weight) == 0.25)
        #expect(try keychain.get(.isPaired) == true)
        #expect(try keychain.get(.blob) == Data([0, 1, 0xFF]))
        #expect(try keychain.get(.session) == session)
    }

    // SwiftyKeychainKit, key factories: an internet password from a URL.
    @Test func internetPasswordFromAURL() throws {
        let url = try #require(URL(string: "https://github.com:8080/SwiftyKeychainKit"))
        let key = try KeychainKey<String>("bob", url: url)
        try keychain.set("token", for: key)
        var query = SecItemQuery<InternetPassword>()
        query.server = "github.com"
        let info = try #require(try keychain.info(for: query))
        #expect(info.protocol == .https && info.port == 8080 && info.path == "/SwiftyKeychainKit")
        #expect(info.account == "bob")
    }

    // SwiftyKeychainKit, attributes.
    @Test func attributes() throws {
        let key = KeychainKey<String>("labelled") {
            $0.label = "A label"
            $0.comment = "A comment"
        }
        try keychain.set("v", for: key)
        let info = try #require(try keychain.info(for: key))
        #expect(info.label == "A label" && info.comment == "A comment")
        #expect(info.creationDate == info.modificationDate)
        #expect(try keychain.info(for: .accessToken) == nil)
    }

    // SwiftyKeychainKit, items() and removeAll(ofType:).
    @Test func itemsAndClasses() throws {
        try keychain.set("generic", for: .accessToken)
        try keychain.set("internet", for: KeychainKey<String>("bob", space: .website("example.com")))
        #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).map(\.account) == ["accessToken"])
        #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).map(\.server) == ["example.com"])
        try keychain.removeAll(of: InternetPassword.self)
        #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).isEmpty)
        #expect(try keychain.contains(.accessToken))
    }

    // SwiftyKeychainKit, KeychainKeyConfiguration: what keys take that do not say.
    @Test func configuration() throws {
        let configured = keychain.with {
            $0.applicationIdentifier = "com.example.other"
            $0.accessPolicy = AccessPolicy(.whenUnlocked)
            $0.synchronizable = true
        }
        try configured.set(3, for: .attempts)
        var query = SecItemQuery<GenericPassword>.credential(for: "com.example.other")
        query.synchronizable = true
        #expect(try keychain.info(for: query)?.accessPolicy == AccessPolicy(.whenUnlocked))
    }

    // SwiftyKeychainKit, AppKeychainStorage without SwiftUI.
    private struct View {
        @KeychainStorage(.accessToken) var token

        func signIn() throws { try $token.store("token") }
        func signOut() throws { try $token.remove() }
    }

    @Test func storage() throws {
        try Keychain.withDefault(keychain) {
            let view = View()
            try view.signIn()
            #expect(view.token == "token")
            try view.signOut()
            #expect(view.token == nil)
            #expect(view.$token.fetchError == nil)
        }
    }

    // SwiftyKeychainKit, errors: a value of another type is not nil.
    @Test func aValueOfAnotherType() throws {
        try keychain.set("text", for: KeychainKey<String>("attempts"))
        let error = #expect(throws: KeychainError.self) { try keychain.get(.attempts) }
        #expect(error?.code == .decode)
        guard case .failure(let failure) = keychain[.attempts] else {
            Issue.record("The subscript has no failure")
            return
        }
        #expect(failure.code == .decode)
    }
}
