// SPDX-License-Identifier: MIT

import KeychainTesting
import SwiftKeychain
import Testing

@Suite(.keychain(.memory)) struct FaultTests {
    private let keychain = Keychain.default
    private let test: KeychainTest

    init() throws { test = try KeychainTest.current }

    private func code(_ call: () throws(KeychainError) -> Void) -> KeychainError.Code? {
        do throws(KeychainError) {
            try call()
            return nil
        } catch {
            return error.code
        }
    }

    private func read() throws(KeychainError) { _ = try keychain.get(.token) }
    private func write() throws(KeychainError) { try keychain.set(secret, for: .token) }

    @Test func aFaultStaysUntilItIsCleared() async {
        test.inject(.locked)
        for _ in 0..<3 { #expect(code(read) == .interactionNotAllowed) }
        await #expect(throws: KeychainError.self) { try await keychain.get(.token) }
        test.clearFaults()
        #expect(code(read) == nil)
    }

    @Test func theNthCallFails() {
        test.inject(.unavailable, afterCalls: 2, times: 1)
        #expect((0..<4).map { _ in code(read) } == [nil, nil, .unavailable, nil])
    }

    @Test func oneVerbFails() {
        test.inject(.failing(.outOfSpace), into: .store, afterCalls: 1)
        #expect(code(write) == nil)
        #expect(code(read) == nil, "Another verb neither fails nor counts.")
        #expect([code(write), code(write), code(read)] == [.outOfSpace, .outOfSpace, nil])
    }

    @Test func aFaultChangesNothingAndIsRecorded() {
        test.inject(.failing(.io), into: .store)
        #expect(code(write) == .io)
        expectNotStored(for: .token)
        #expect(test.calls(.store, for: .token).isEmpty, "It did not come to look for it.")
        #expect(test.calls.map(\.operation) == [.store])
    }

    @Test func expectationsLookPastFaults() throws {
        try write()
        test.inject(.locked)
        expectStored(secret, for: .token)
    }

    @Test func aDamagedValueKeepsItsAttributes() throws {
        try write()
        test.inject(.damagedValue, times: 1)
        #expect(code { () throws(KeychainError) in _ = try keychain.info(for: .token) } == nil)
        #expect(code(read) == .corrupt)
        #expect(code(read) == nil)
    }

    @Test func itIsLockedUntilItIsUnlocked() async throws {
        try write()
        #expect(!keychain.capabilities.contains(.locking))
        test.inject(.lockedUntilUnlocked)
        #expect(keychain.capabilities.contains(.locking))
        #expect([code(read), code(write)] == [.interactionNotAllowed, .interactionNotAllowed])
        let silent = Keychain(driver: keychain.driver, interaction: .never)
        let refused = await #expect(throws: KeychainError.self) { try await silent.unlock() }
        #expect(refused?.code == .interactionNotAllowed && refused?.operation == .unlock)
        try await keychain.unlock()
        #expect(code(read) == nil)
        try await keychain.lock()
        #expect(code(read) == .interactionNotAllowed)
        test.clearFaults()
        #expect(code(read) == nil)
        let error = await #expect(throws: KeychainError.self) { try await keychain.unlock() }
        #expect(error?.code == .unsupported, "As the store in memory is")
    }

    @Test func unlockingCanBeDismissed() async throws {
        test.inject(.lockedUntilUnlocked)
        test.inject(.dismissed, into: .unlock, times: 1)
        let error = await #expect(throws: KeychainError.self) { try await keychain.unlock() }
        #expect(error?.code == .userCanceled)
        #expect(code(read) == .interactionNotAllowed)
        try await keychain.unlock()
        #expect(code(read) == nil)
    }

    @Test func slowCallsHonourTheDeadline() async {
        test.inject(.slow(.seconds(3600)))
        let hasty = Keychain(driver: keychain.driver, timeout: .milliseconds(10))
        let error = await #expect(throws: KeychainError.self) { try await hasty.get(.token) }
        #expect(error?.code == .timedOut)
    }

    @Test(arguments: KeychainError.Code.all) func errorsSayWhatToDo(code: KeychainError.Code) {
        test.inject(.failing(code))
        let error = #expect(throws: KeychainError.self) { try read() }
        #expect(error?.code == code && error?.operation == .retrieve && error?.location == keychain.location)
        #expect(error?.message.hasSuffix(".") == true)
    }

    @Test func errorsAreThoseOfAStore() throws {
        test.inject(.failing(.duplicateItem), into: .contains)
        let injected = #expect(throws: KeychainError.self) { try keychain.contains(.token) }
        try keychain.store("x", query: .example)
        let real = #expect(throws: KeychainError.self) { try keychain.store("x", query: .example) }
        #expect(injected?.code == real?.code && injected?.message == real?.message)

        test.inject(.failing(.timedOut), into: .info)
        let late = #expect(throws: KeychainError.self) { try keychain.info(for: .token) }
        let hasty = Keychain(driver: keychain.driver, timeout: .zero)
        let over = #expect(throws: KeychainError.self) { try hasty.get(.token) }
        #expect(late?.code == over?.code && late?.message == over?.message)

        test.inject(.failing(.outOfSpace), into: .retrieve)
        let full = #expect(throws: KeychainError.self) { try read() }
        #expect(full?.underlying?.domain == "errno" && full?.underlying?.code == 28)
    }
}
