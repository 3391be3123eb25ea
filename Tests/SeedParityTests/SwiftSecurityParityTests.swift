// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Synchronization
import Testing

/// What SwiftSecurity (dm-zharov/swift-security) shows in its README, written for this library and run.
///
/// docs/SeedParity.md says what of it has no counterpart on Linux, and why.
@Suite struct SwiftSecurityParityTests {
    private let keychain = Keychain(driver: MemoryDriver())

    private final class Consent: AuthenticationContext {
        private let asked = Mutex<[AccessPolicy.Options]>([])
        var questions: [AccessPolicy.Options] { asked.withLock { $0 } }

        func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError) {
            asked.withLock { $0.append(options) }
        }
    }

    // SwiftSecurity, Quick Start, Basic.
    @Test func basic() throws {
        try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
        let token: String? = try keychain.retrieve(.credential(for: "OpenAI"))
        #expect(token == "8e9c0a7f")
        try keychain.remove(.credential(for: "OpenAI"))
        let gone: String? = try keychain.retrieve(.credential(for: "OpenAI"))
        #expect(gone == nil)
    }

    // SwiftSecurity, Quick Start, Basic (SwiftUI): the property without the view.
    private struct Authentication {
        @Credential("OpenAI") var token: String?

        func save() throws { try $token.store("8e9c0a7f") }
        func delete() throws { try $token.remove() }
    }

    @Test func basicProperty() throws {
        try Keychain.withDefault(keychain) {
            let view = Authentication()
            try view.save()
            try view.save()
            #expect(view.token == "8e9c0a7f")
            #expect(view.$token.fetchError == nil)
            try view.delete()
            #expect(view.token == nil)
        }
    }

    // SwiftSecurity, Web Credential.
    @Test func webCredential() throws {
        let password = "correct horse"
        try keychain.store(password, query: .credential(for: "login", space: .website("example.com")))
        let stored: String? = try keychain.retrieve(.credential(for: "login", space: .website("example.com")))
        #expect(stored == password)
    }

    // SwiftSecurity, Web Credential: two ports of one server.
    @Test func webCredentialsOfTwoPorts() throws {
        let space1 = try WebProtectionSpace(url: #require(URL(string: "https://example.com:443")))
        let space2 = WebProtectionSpace(host: "example.com", port: 8443)
        try keychain.store("1", query: .credential(for: "user", space: space1))
        try keychain.store("2", query: .credential(for: "user", space: space2))
        #expect(try keychain.retrieve(.credential(for: "user", space: space1)) == "1")
        #expect(try keychain.retrieve(.credential(for: "user", space: space2)) == "2")
    }

    // SwiftSecurity, Advanced.
    @Test func advanced() throws {
        var query = SecItemQuery<GenericPassword>()
        query.synchronizable = true
        query.service = "OpenAI"
        query.label = "OpenAI Access Token"

        try keychain.store("secret", query: query, accessPolicy: .init(.whenUnlocked, options: .biometryAny))
        let context = Consent()
        let secret: String? = try keychain.with { $0.authenticationContext = context }.retrieve(query)
        #expect(secret == "secret")
        #expect(context.questions == [.biometryAny])
        try keychain.remove(query)
        #expect(try !keychain.contains(query))
    }

    // SwiftSecurity, Advanced: the generics; Tests/CompileFailTests has the lines that must not compile.
    @Test func generics() {
        var query = SecItemQuery<InternetPassword>()
        query.synchronizable = true
        query.server = "example.com"
        #expect(query.server == "example.com")
    }

    // SwiftSecurity, Queries: one type for each class.
    @Test func queries() throws {
        try keychain.store("1", query: SecItemQuery<GenericPassword>())
        try keychain.store("2", query: SecItemQuery<InternetPassword>())
        #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).count == 1)
        #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).count == 1)
        #expect(try keychain.infoAll(for: SecItemQuery<SecKey>()).isEmpty)
        #expect(try keychain.infoAll(for: SecItemQuery<SecCertificate>()).isEmpty)
        #expect(try keychain.infoAll(for: SecItemQuery<SecIdentity>()).isEmpty)
    }

    // SwiftSecurity, Other, Get Attribute.
    @Test func attributes() throws {
        var query = SecItemQuery<GenericPassword>.credential(for: "OpenAI")
        query.comment = "for tests"
        try keychain.store("8e9c0a7f", query: query)
        let info = try #require(try keychain.info(for: .credential(for: "OpenAI")))
        #expect(abs(info.creationDate.timeIntervalSinceNow) < 60)
        #expect(info.comment == "for tests")
    }

    // SwiftSecurity, Other, Remove All.
    @Test func removeAll() throws {
        try keychain.store("1", query: .credential(for: "OpenAI"))
        try keychain.removeAll()
        #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).isEmpty)
    }

    // SwiftSecurity, Other, Debug: what is printed has no value in it.
    @Test func debug() throws {
        let query = SecItemQuery<GenericPassword>.credential(for: "OpenAI")
        try keychain.store("8e9c0a7f", query: query)
        #expect(query.debugDescription.contains("service"))
        #expect(!keychain.debugDescription.contains("8e9c0a7f"))
    }

    // SwiftSecurity, Choose Keychain.
    @Test func chooseKeychain() throws {
        let driver = MemoryDriver()
        let own = Keychain(driver: driver)
        let group = Keychain(
            driver: driver,
            accessGroup: .keychainGroup(teamID: "J42EP42PB2", nameID: "com.example.app")
        )
        let app = Keychain(driver: driver, accessGroup: .appGroupID("group.com.example.app"))
        for (number, keychain) in [own, group, app].enumerated() {
            try keychain.store("\(number)", query: .credential(for: "OpenAI"))
        }
        #expect(try group.retrieve(.credential(for: "OpenAI")) == "1")
        #expect(group.accessGroup.rawValue == "J42EP42PB2.com.example.app")
    }

    // SwiftSecurity, Protection with Face ID (Touch ID) and Passcode: who confirms is the application's context.
    @Test func protectedItem() throws {
        try keychain.store(
            "secret",
            query: .credential(for: "FBI"),
            accessPolicy: AccessPolicy(.whenUnlocked, options: .userPresence)
        )
        let error = #expect(throws: KeychainError.self) {
            try keychain.retrieve(.credential(for: "FBI")) as String?
        }
        #expect(error?.code == .interactionNotAllowed)
        let context = Consent()
        let secret: String? = try keychain.with { $0.authenticationContext = context }
            .retrieve(.credential(for: "FBI"))
        #expect(secret == "secret")
        #expect(context.questions == [.userPresence])
    }

    // SwiftSecurity, Custom Type.
    private struct CustomType: SecDataConvertible, Equatable {
        let number: UInt8

        init(number: UInt8) { self.number = number }

        init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
            let bytes = rawRepresentation.withUnsafeBytes { [UInt8]($0) }
            guard bytes.count == 1 else { throw CocoaError(.coderInvalidValue) }
            number = bytes[0]
        }

        var rawRepresentation: Data { Data([number]) }
    }

    @Test func customType() throws {
        try keychain.store(CustomType(number: 7), query: .credential(for: "custom"))
        let value: CustomType? = try keychain.retrieve(.credential(for: "custom"))
        #expect(value == CustomType(number: 7))
        try keychain.store("two bytes", query: .credential(for: "text"))
        let error = #expect(throws: KeychainError.self) {
            try keychain.retrieve(.credential(for: "text")) as CustomType?
        }
        #expect(error?.code == .decode)
    }

    // SwiftSecurity, its own tests: what each form of a password returns.
    @Test func returnTypes() throws {
        let query = SecItemQuery<GenericPassword>.credential(for: "OpenAI")
        #expect(try keychain.store("v", returning: [], query: query) == nil)
        guard case .data(let data)? = try keychain.retrieve(.data, query: query) else {
            Issue.record("No data")
            return
        }
        #expect(data == Data("v".utf8))
        guard case .persistentReference? = try keychain.retrieve(.persistentReference, query: query) else {
            Issue.record("No reference")
            return
        }
        guard case .dictionary(let info)? = try keychain.retrieve(.all, query: query) else {
            Issue.record("No attributes")
            return
        }
        #expect(info.service == "OpenAI")
    }
}
