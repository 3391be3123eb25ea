// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

extension KeychainKeys {
    fileprivate static let token = KeychainKey<String>("token", service: "app") { $0.label = "Access token" }
    fileprivate static let count = KeychainKey<Int>("count", service: "app")
    fileprivate static let tags = KeychainKey<[String]>("tags", service: "app", codec: .json)
    fileprivate static let person = KeychainKey<Person>("person", service: "app", codec: .json)
    fileprivate static let site = KeychainKey<String>("bob", space: .website("example.com"))
}

private struct Person: Codable, Equatable, Sendable {
    var name: String
    var born: Date
}

private struct NewPerson: Codable, Equatable, Sendable {
    var fullName: String
    var version = 7
}

/// Keys that know the type of their value.
@Suite struct KeychainKeyTests {
    private let keychain = Keychain(driver: MemoryDriver())

    @Test func aKeyIsFoundByADot() throws {
        #expect(try keychain.get(.token) == nil)
        #expect(try keychain.get(.token, default: "none") == "none" && !keychain.contains(.token))
        try keychain.set("1", for: .token)
        #expect(try keychain.get(.token) == "1" && keychain.get(.token, default: "none") == "1")
        try keychain.set("2", for: .token)
        #expect(try keychain(.token) == "2" && keychain.contains(.token))
        #expect(keychain[.token] == .success("2") && keychain[.count] == .success(nil))
        #expect(keychain[.token, default: ""] == .success("2") && keychain[.count, default: 5] == .success(5))
        #expect(try keychain.remove(.token) && !keychain.remove(.token))
        #expect(try keychain.info(for: .token) == nil)
    }

    @Test func theAsynchronousFormsDoTheSame() async throws {
        try await keychain.set(5, for: .count)
        let (value, other) = (try await keychain.get(.count), try await keychain.get(.count, default: 6))
        let called = try await keychain(.count)
        let isThere = try await keychain.contains(.count)
        let info = try await keychain.info(for: .count)
        let isRemoved = try await keychain.remove(.count)
        #expect(value == 5 && other == 5 && called == 5 && isThere && info != nil && isRemoved)
        let fallback = try await keychain.get(.count, default: 6)
        #expect(fallback == 6)
    }

    /// Whoever knows the service and the account finds the item, and what was set on it stays.
    @Test func itsItemIsAnItemLikeAnyOther() throws {
        try keychain.set("1", for: .token)
        var query = SecItemQuery<GenericPassword>.credential(for: "app")
        query.account = "token"
        #expect(try keychain.retrieve(query) == "1")
        let info = try #require(try keychain.info(for: .token))
        #expect(info.label == "Access token" && info.comment == nil && info[.service] == .text("app"))
        #expect(info.accessPolicy == .default && info.accessGroup == .default && !info.isSynchronizable)
        #expect(info.creationDate <= info.modificationDate)
        var changes = SecItemUpdate<GenericPassword>()
        changes.label = "Mine"
        changes.comment = "c"
        try keychain.update(query, changes)
        try keychain.set("2", for: .token)
        let after = try #require(try keychain.info(for: .token))
        #expect(after.label == "Mine" && after.comment == "c" && after.creationDate == info.creationDate)
    }

    @Test func aKeyIsOneItemAndNoWildcard() throws {
        let path = try KeychainKey<String>("bob", url: #require(URL(string: "https://example.com/api")))
        try keychain.set("api", for: path)
        #expect(try keychain.get(.site) == nil && !keychain.contains(.site) && !keychain.remove(.site))
        try keychain.set("site", for: .site)
        #expect(try keychain.get(path) == "api" && keychain.get(.site) == "site")
        #expect(try keychain.remove(.site) && keychain.get(path) == "api")
        let noURL = try #require(URL(string: "mailto:bob"))
        let error = #expect(throws: KeychainError.self) { try KeychainKey<String>("bob", url: noURL) }
        #expect(error?.code == .invalidParameter)
    }

    @Test func valuesOfEveryKindComeBack() throws {
        func check<Value: SecDataConvertible & Equatable & Codable>(_ value: Value, _ text: String) throws {
            let raw = KeychainKey<Value>("raw", service: "kinds")
            try keychain.set(value, for: raw)
            #expect(try keychain.get(raw) == value)
            #expect(try keychain.get(KeychainKey<String>("raw", service: "kinds")) == text)
            let list = KeychainKey<[Value]>("list", service: "kinds", codec: .json)
            for values in [[], [value], [value, value]] {
                try keychain.set(values, for: list)
                #expect(try keychain.get(list) == values)
            }
        }
        try check("p\u{E4}ss", "p\u{E4}ss")
        try check(Int.min, "-9223372036854775808")
        try check(true, "true")
        try check(0.1, "0.1")
        try check(Float(1.5), "1.5")
        try check(Date(timeIntervalSince1970: 1_764_547_200.25), "1764547200.25")
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        try check(uuid, uuid.uuidString)
        try check(#require(URL(string: "https://example.com/a?b=c#d")), "https://example.com/a?b=c#d")
        try check(Data("bytes".utf8), "bytes")
    }

    @Test func whatIsNoValueOfTheTypeIsAnErrorThatSaysSo() throws {
        try keychain.set("many", for: KeychainKey<String>("count", service: "app"))
        let error = #expect(throws: KeychainError.self) { try keychain.get(.count) }
        #expect(error?.code == .decode && error?.location == keychain.location)
        #expect(error?.message.contains("‘count’") == true && error?.message.contains("Int") == true)
        #expect(error?.message.contains("many") == false)
        #expect(throws: KeychainError.self) { try keychain.get(.count, default: 5) }
        guard case .failure(let failure) = keychain[.count] else { return #expect(Bool(false)) }
        #expect(failure.code == .decode)
        for (type, text) in [("UUID", "+621E1F8-C36C-495A-93FC-0C247A3E6E5F"), ("URL", "no url"), ("Date", "inf")] {
            try keychain.set(text, for: KeychainKey<String>(type, service: "bad"))
        }
        #expect(throws: KeychainError.self) { try keychain.get(KeychainKey<UUID>("UUID", service: "bad")) }
        #expect(throws: KeychainError.self) { try keychain.get(KeychainKey<URL>("URL", service: "bad")) }
        #expect(throws: KeychainError.self) { try keychain.get(KeychainKey<Date>("Date", service: "bad")) }
    }

    @Test func codableValuesAreCanonicalJSON() throws {
        try keychain.set(Person(name: "Bob", born: Date(timeIntervalSince1970: 0.5)), for: .person)
        let text = try keychain.get(KeychainKey<String>("person", service: "app"))
        #expect(text == #"{"born":0.5,"name":"Bob"}"#)
        try keychain.set(["b", "a"], for: .tags)
        #expect(try keychain.get(KeychainKey<String>("tags", service: "app")) == #"["b","a"]"#)
        let infinite = KeychainKey<Double>("number", service: "app", codec: .json)
        let error = #expect(throws: KeychainError.self) { try keychain.set(.infinity, for: infinite) }
        #expect(error?.code == .invalidParameter && error?.message.contains("‘number’") == true)
    }

    @Test func versionsAreToldApart() throws {
        let old = KeychainKey<Person>("person", service: "app", codec: .json)
        let first = KeychainKey<Person>(
            "person",
            service: "app",
            codec: .json(version: 1) { version, json in
                #expect(version == 0)
                return try JSONEncoded<Person>(rawRepresentation: json).value
            }
        )
        let second = KeychainKey<NewPerson>(
            "person",
            service: "app",
            codec: .json(version: 2) { version, json in
                guard version < 2 else { throw CocoaError(.coderInvalidValue) }
                return NewPerson(fullName: try JSONEncoded<Person>(rawRepresentation: json).value.name)
            }
        )
        let person = Person(name: #"x,"version":9}"#, born: Date(timeIntervalSince1970: 1))
        try keychain.set(person, for: old)
        #expect(try keychain.get(first) == person && keychain.get(second)?.fullName == person.name)
        try keychain.set(person, for: first)
        #expect(try keychain.get(first) == person && keychain.get(second)?.fullName == person.name)
        try keychain.set(NewPerson(fullName: "Bob"), for: second)
        #expect(try keychain.get(second) == NewPerson(fullName: "Bob"))
        let text = try keychain.get(KeychainKey<String>("person", service: "app"))
        #expect(text == #"{"value":{"fullName":"Bob","version":7},"version":2}"#)
        let error = #expect(throws: KeychainError.self) { try keychain.get(KeychainKey<Int>("person", service: "app")) }
        #expect(error?.code == .decode)
    }

    @Test func theAccessPolicyIsThatOfANewItem() throws {
        let key = KeychainKey<String>("k", service: "app", accessPolicy: AccessPolicy(.whenUnlockedThisDeviceOnly))
        try keychain.set("v", for: key)
        #expect(try keychain.info(for: key)?.accessPolicy == AccessPolicy(.whenUnlockedThisDeviceOnly))
    }
}
