// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@Suite struct MemoryFaultTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }
    private let query = SecItemQuery<GenericPassword>.credential(for: "a")

    private func code(_ keychain: Keychain, _ call: (Keychain) throws(KeychainError) -> Void) -> KeychainError.Code? {
        do throws(KeychainError) {
            try call(keychain)
            return nil
        } catch {
            return error.code
        }
    }

    private func store(_ keychain: Keychain) throws(KeychainError) {
        try keychain.store("x", query: query, ifExists: .replaceValue)
    }

    private func retrieve(_ keychain: Keychain) throws(KeychainError) { _ = try keychain.retrieve(query) as String? }
    private func info(_ keychain: Keychain) throws(KeychainError) { _ = try keychain.info(for: query) }
    private func contains(_ keychain: Keychain) throws(KeychainError) { _ = try keychain.contains(query) }

    @Test(arguments: [
        (MemoryFault.locked, KeychainError.Code.interactionNotAllowed), (.unavailable, .unavailable),
        (.failing(.corrupt), .corrupt), (.failing(.io), .io), (.lockedUntilUnlocked, .interactionNotAllowed),
    ])
    func everyCallFails(fault: MemoryFault, expected: KeychainError.Code) {
        driver.inject(fault)
        #expect(code(keychain, store) == expected)
        #expect(code(keychain, retrieve) == expected)
        #expect(code(keychain, info) == expected)
        #expect(code(keychain, contains) == expected)
        #expect(driver.records.isEmpty, "Nothing was changed.")
        driver.clearFaults()
        #expect(code(keychain, store) == nil)
    }

    @Test func aPromptIsDismissedWhereOneMayBeShown() {
        driver.inject(.dismissed)
        #expect(code(keychain, store) == .userCanceled)
        #expect(code(keychain, retrieve) == .userCanceled)
        #expect(code(keychain, info) == .interactionNotAllowed, "Listing does not ask.")
        #expect(code(keychain, contains) == .interactionNotAllowed)
        #expect(code(Keychain(driver: driver, interaction: .never), retrieve) == .interactionNotAllowed)
    }

    @Test func faultsBeginAfterACountOfCalls() {
        driver.inject(.unavailable, afterCalls: 2)
        #expect((0..<5).map { _ in code(keychain, store) } == [nil, nil, .unavailable, .unavailable, .unavailable])
        #expect(driver.callCount == 5)
    }

    @Test func faultsEndAfterACountOfTimes() {
        driver.inject(.unavailable, afterCalls: 1, times: 2)
        #expect((0..<5).map { _ in code(keychain, store) } == [nil, .unavailable, .unavailable, nil, nil])
        driver.inject(.locked, times: 0)
        #expect(code(keychain, store) == nil)
    }

    @Test func faultsFollowEachOther() {
        driver.inject(.locked, times: 1)
        driver.inject(.unavailable, afterCalls: 1, times: 1)
        driver.inject(.failing(.busy), afterCalls: 2, times: 1)
        #expect(
            (0..<4).map { _ in code(keychain, store) } == [.interactionNotAllowed, .unavailable, .busy, nil]
        )
    }

    @Test func faultsHappenToOneVerb() {
        driver.inject(.failing(.io), into: .store, afterCalls: 1)
        #expect(code(keychain, store) == nil)
        #expect(code(keychain, retrieve) == nil, "Another verb neither fails nor counts.")
        #expect(code(keychain, store) == .io)
        #expect(code(keychain, retrieve) == nil)
    }

    @Test func aDamagedValueKeepsItsAttributes() {
        #expect(code(keychain, store) == nil)
        driver.inject(.damagedValue, times: 1)
        #expect(code(keychain, info) == nil)
        #expect(code(keychain, retrieve) == .corrupt)
        #expect(code(keychain, retrieve) == nil)
    }

    @Test func itIsLockedUntilItIsUnlocked() throws {
        #expect(throws: KeychainError(.unsupported, "")) { try keychain.unlock() }
        driver.inject(.lockedUntilUnlocked)
        #expect(keychain.capabilities == [.transactions, .changeEvents, .locking])
        #expect(code(keychain, retrieve) == .interactionNotAllowed)
        let silent = Keychain(driver: driver, interaction: .never)
        #expect(throws: KeychainError(.interactionNotAllowed, "")) { try silent.unlock() }
        try keychain.unlock()
        #expect(code(keychain, retrieve) == nil)
        try keychain.lock()
        #expect(code(keychain, retrieve) == .interactionNotAllowed)
        driver.clearFaults()
        #expect(code(keychain, retrieve) == nil)
        #expect(keychain.capabilities == [.transactions, .changeEvents])
        #expect(throws: KeychainError(.unsupported, "")) { try keychain.lock() }
    }

    @Test func aFaultIsLocated() {
        driver.inject(.failing(.outOfSpace))
        let error = #expect(throws: KeychainError.self) { try store(keychain) }
        #expect(error?.location == driver.location && error?.driver == .memory && error?.operation == .store)
    }

    @Test func slowCallsComeToAnEnd() {
        driver.inject(.slow(.milliseconds(5)), times: 1)
        let start = ContinuousClock.now
        #expect(code(keychain, store) == nil)
        #expect(ContinuousClock.now - start >= .milliseconds(5))
        driver.inject(.slow(.zero))
        #expect(code(keychain, store) == nil)
    }

    @Test func slowCallsHonourTheDeadline() {
        driver.inject(.slow(.seconds(3600)))
        #expect(code(Keychain(driver: driver, timeout: .milliseconds(10)), store) == .timedOut)
        #expect(driver.records.isEmpty)
    }

    @Test(arguments: [Duration.seconds(3600), .seconds(1 << 40)])
    func slowCallsHonourCancellation(_ duration: Duration) async {
        driver.inject(.slow(duration))
        let task = Task { [query] in try await keychain.store("x", query: query) }
        while driver.callCount == 0 { await Task.yield() }
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: KeychainError(.cancelled, "")) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(30), "At once, not when the time is over.")
        #expect(driver.records.isEmpty)
    }

    @Test func aSlowCallCanFailInTheEnd() {
        driver.inject(.slow(.milliseconds(1)))
        driver.inject(.failing(.io))
        #expect(code(keychain, store) == .io)
    }
}

@Suite struct ManualStampsTests {
    private let stamps = ManualStamps(at: Date(timeIntervalSince1970: 100))
    private let query = SecItemQuery<GenericPassword>.credential(for: "a")

    @Test func theClockStandsUntilItIsMoved() {
        let source = stamps.source
        #expect(source.now() == ItemDate(microseconds: 100_000_000))
        #expect(source.now() == ItemDate(microseconds: 100_000_000))
        stamps.advance(by: .microseconds(1))
        #expect(source.now() == ItemDate(microseconds: 100_000_001))
        stamps.advance(by: .seconds(-1))
        #expect(source.now() == ItemDate(microseconds: 99_000_001))
        #expect(stamps.source.now() == source.now())
    }

    @Test func referencesCountUp() {
        let source = stamps.source
        #expect(source.makeReference().uuidString == "00000000-0000-4000-8000-000000000001")
        #expect(stamps.source.makeReference().uuidString == "00000000-0000-4000-8000-000000000002")
        for _ in 0..<13 { _ = source.makeReference() }
        #expect(source.makeReference().uuidString == "00000000-0000-4000-8000-000000000010")
    }

    @Test func aStoreTakesThem() throws {
        let driver = MemoryDriver(stamps: stamps.source)
        let keychain = Keychain(driver: driver)
        try keychain.store("x", query: query)
        stamps.advance(by: .seconds(5))
        try keychain.store("y", query: query, ifExists: .replaceValue)
        let info = try #require(try keychain.info(for: query))
        #expect(info.creationDate == Date(timeIntervalSince1970: 100))
        #expect(info.modificationDate == Date(timeIntervalSince1970: 105))
        #expect(info.persistentReference.description.hasSuffix("01"))
    }

    @Test func theModificationDateNeverGoesBack() throws {
        let driver = MemoryDriver(stamps: stamps.source)
        let keychain = Keychain(driver: driver)
        try keychain.store("x", query: query)
        stamps.advance(by: .seconds(-50))
        try keychain.store("y", query: query, ifExists: .replaceValue)
        try keychain.store("z", query: query, ifExists: .replace)
        #expect(driver.records.map(\.modificationDate.microseconds) == [100_000_002])
    }
}
