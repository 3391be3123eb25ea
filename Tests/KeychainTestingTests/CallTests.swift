// SPDX-License-Identifier: MIT

import KeychainTesting
import SwiftKeychain
import Testing

@Suite(.keychain(.memory)) struct CallTests {
    private let keychain = Keychain.default
    private let test: KeychainTest

    init() throws { test = try KeychainTest.current }

    @Test func callsAreRecordedInTheirOrder() throws {
        try keychain.set(secret, for: .token)
        _ = try keychain.get(.token)
        _ = try keychain.contains(.token)
        _ = try keychain.info(for: .token)
        try keychain.remove(.token)
        #expect(test.calls.map(\.operation) == [.store, .retrieve, .contains, .info, .remove])
        #expect(test.calls.map(\.readings.count) == [0, 1, 0, 0, 0])
        #expect(test.calls.map(\.isWrite) == [true, false, false, false, true])
        #expect(test.calls.allSatisfy { $0.itemClass == .genericPassword })
        #expect(test.calls[1].attributes[.account] == .text("token"))
        #expect(test.writes.map(\.operation) == [.store, .remove])
        guard case .inserted(let record)? = test.writes.first?.changes.first else {
            Issue.record("Storing inserts.")
            return
        }
        #expect(record.attributes[.service] == .text("com.example.app"))
        #expect(test.calls[1].description == "retrieve generic password by account, service")
    }

    @Test func callsHoldNoValue() async throws {
        try await keychain.set(secret, for: .token)
        try await keychain.set(secret, for: .token)
        _ = try await keychain.get(.token)
        var dumped = String(reflecting: test.calls) + "\(test.calls)"
        dump(test.calls, to: &dumped)
        expectNoSecret(secret, in: dumped)
    }

    @Test func asynchronousCallsAreRecordedOnce() async throws {
        try await keychain.set("x", for: .token)
        test.clearCalls()
        _ = try await keychain.get(.token)
        #expect(test.calls(.retrieve, for: .token).count == 1)
        #expect(test.writes.isEmpty)
    }

    @Test func callsOfSeveralTasksAreAllRecorded() async throws {
        await withTaskGroup { group in
            for number in 0..<20 {
                group.addTask { try? await keychain.store("x", query: .credential(for: "\(number)")) }
            }
        }
        #expect(test.calls.count == 20 && test.writes.count == 20)
        for number in 0..<20 { #expect(test.calls(.store, for: .credential(for: "\(number)")).count == 1) }
    }

    @Test func callsAreToldApartByWhatTheyAreAbout() throws {
        _ = try keychain.get(.token)
        _ = try keychain.get(.numbers)
        #expect(test.calls(.retrieve, for: .token).count == 1, "Also where nothing was found")
        #expect(test.calls(.retrieve, for: .example).isEmpty)
        #expect(test.calls(.contains, for: .token).isEmpty)
        try keychain.set("x", for: .token)
        let _: String? = try keychain.retrieve(.credential(for: "com.example.app"))
        #expect(test.calls(.retrieve, for: .token).count == 2, "A wider query that reads it")
        #expect(test.calls(.retrieve, for: .credential(for: "com.example.app")).count == 3)
        var password = SecItemQuery<InternetPassword>()
        password.account = "token"
        #expect(test.calls(.retrieve, for: password).isEmpty, "Another class")
    }

    @Test func aTransactionIsOneCall() throws {
        try keychain.transaction { keychain in
            try keychain.set("x", for: .token)
            try keychain.set([1], for: .numbers)
        }
        #expect(test.calls.map(\.operation) == [.transaction])
        #expect(test.calls.first?.changes.count == 2)
        #expect(test.calls(.transaction, for: .token).count == 1)
        #expect(test.calls(.transaction, for: .numbers).count == 1)
    }

    @Test func updatesAreRecordedWithBothSides() throws {
        try keychain.store("x", query: .example)
        var changes = SecItemUpdate<GenericPassword>()
        changes.label = "New"
        try keychain.update(.example, changes)
        guard case .updated(let old, let new)? = test.calls.last?.changes.first else {
            Issue.record("Updating updates.")
            return
        }
        #expect(old.attributes[.label] == nil && new.attributes[.label] == .text("New"))
    }

    @Test func refusedCallsDoNotReachTheStore() {
        #expect(throws: KeychainError.self) { try keychain.remove(SecItemQuery<GenericPassword>()) }
        #expect(test.calls.isEmpty)
    }

    @Test func expectationsAreNoCalls() throws {
        expectNotStored(for: .token)
        expectNotStored(for: .example)
        #expect(test.calls.isEmpty)
    }
}
