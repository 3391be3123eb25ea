// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization
import Testing

@Suite struct TransactionTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }

    private func query(_ service: String) -> SecItemQuery<GenericPassword> { .credential(for: service) }

    private struct Stop: Error {}

    @Test func theClosuresErrorComesOutUnchanged() {
        #expect(throws: Stop.self) {
            try keychain.transaction { keychain in
                try keychain.store("x", query: query("a"))
                throw Stop()
            }
        }
        #expect(driver.records.isEmpty)
    }

    @Test func theResultComesOut() throws {
        let count = try keychain.transaction { keychain in
            try keychain.store("x", query: query("a"))
            return try keychain.infoAll(for: SecItemQuery<GenericPassword>()).count
        }
        #expect(count == 1)
        #expect(driver.records.count == 1)
    }

    @Test func itSeesItsOwnChangesInTheRightOrder() throws {
        try keychain.store("1", query: query("a"))
        try keychain.transaction { keychain in
            try keychain.store("2", query: query("b"))
            #expect(try keychain.retrieve(query("b")) == "2")
            try keychain.store("3", query: query("a"), ifExists: .replaceValue)
            #expect(try keychain.retrieve(query("a")) == "3")
            try keychain.remove(query("b"))
            #expect(try !keychain.contains(query("b")))
            #expect(throws: KeychainError.duplicateItem) { try keychain.store("4", query: query("a")) }
            #expect(self.driver.records.count == 1)
        }
        #expect(try keychain.retrieve(query("a")) == "3")
    }

    @Test func twoItemsCanExchangeTheirKeys() throws {
        try keychain.store("1", query: query("a"))
        try keychain.store("2", query: query("b"))
        try keychain.transaction { keychain in
            try rename("a", to: "c", keychain)
            try rename("b", to: "a", keychain)
            try rename("c", to: "b", keychain)
        }
        #expect(try keychain.retrieve(query("a")) == "2")
        #expect(try keychain.retrieve(query("b")) == "1")
        // By the whole key, which a store may look up in another way than by a search.
        try expectWhole(["a", "b"])
    }

    @Test func aKeyThatIsFreedCanBeTakenInTheSameTransaction() throws {
        try keychain.store("1", query: query("a"))
        try keychain.store("2", query: query("b"))
        try keychain.transaction { keychain in
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "first"
            try keychain.update(query("a"), changes)
            try rename("b", to: "c", keychain)
            try rename("a", to: "b", keychain)
        }
        try expectWhole(["b", "c"])
        #expect(throws: KeychainError.duplicateItem) { try keychain.store("x", query: query("b")) }
        try keychain.store("x", query: query("a"))
    }

    private func rename(_ old: String, to new: String, _ keychain: Keychain) throws {
        var changes = SecItemUpdate<GenericPassword>()
        changes.service = new
        try keychain.update(query(old), changes)
    }

    private func expectWhole(_ services: [String]) throws {
        #expect(Set(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).map(\.service)) == Set(services))
        for service in services {
            var whole = query(service)
            whole.account = ""
            #expect(try keychain.contains(whole))
        }
    }

    @Test func theOuterKeychainIsRefusedAndNotLocked() throws {
        let outer = keychain
        let error = #expect(throws: KeychainError.self) {
            try outer.transaction { _ in try outer.store("x", query: query("a")) }
        }
        #expect(error?.code == .invalidParameter)
        try outer.store("x", query: query("a"))
        #expect(throws: KeychainError.Code.invalidParameter.error) {
            try outer.transaction { _ in _ = try outer.contains(query("a")) }
        }
    }

    @Test func transactionsDoNotNest() {
        #expect(throws: KeychainError.Code.unsupported.error) {
            try keychain.transaction { keychain in try keychain.transaction { _ in } }
        }
        let outer = keychain
        #expect(throws: KeychainError.Code.invalidParameter.error) {
            try outer.transaction { _ in try outer.transaction { _ in } }
        }
    }

    @Test func anotherStoreCanBeUsedInside() throws {
        let other = Keychain(driver: MemoryDriver())
        try other.store("theirs", query: query("a"))
        try keychain.transaction { keychain in
            let value: String? = try other.retrieve(query("a"))
            try keychain.store(value ?? "", query: query("b"))
            _ = try other.transaction { try $0.remove(self.query("a")) }
        }
        #expect(try keychain.retrieve(query("b")) == "theirs")
        #expect(try !other.contains(query("a")))
    }

    @Test func aTaskThatTheClosureStartedCanUseTheStoreLater() async throws {
        let keychain = keychain
        let task = try { () throws -> Task<Bool, any Error> in
            try keychain.transaction { inner in
                try inner.store("x", query: query("a"))
                return Task {
                    // The synchronous form, on whatever thread the task has.
                    try { () throws(KeychainError) in
                        try keychain.contains(SecItemQuery<GenericPassword>.credential(for: "a"))
                    }()
                }
            }
        }()
        #expect(try await task.value)
    }

    @Test func itsKeychainEndsWithTheClosure() throws {
        var leaked: Keychain?
        try keychain.transaction { leaked = $0 }
        let late = try #require(leaked)
        #expect(throws: KeychainError.Code.invalidParameter.error) { _ = try late.contains(query("a")) }
        #expect(throws: KeychainError.Code.invalidParameter.error) { try late.store("x", query: query("a")) }
        #expect(driver.records.isEmpty)
    }

    @Test func itsKeychainBelongsToItsThread() throws {
        let refused = Mutex<KeychainError?>(nil)
        try keychain.transaction { keychain in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do throws(KeychainError) {
                    try keychain.store("x", query: SecItemQuery<GenericPassword>.credential(for: "a"))
                } catch {
                    refused.withLock { $0 = error }
                }
                done.signal()
            }
            done.wait()
        }
        #expect(refused.withLock { $0?.code } == .invalidParameter)
        #expect(driver.records.isEmpty)
    }

    @Test func asynchronously() async throws {
        let count = try await keychain.transaction { keychain in
            try keychain.store("x", query: SecItemQuery<GenericPassword>.credential(for: "a"))
            return 7
        }
        #expect(count == 7)
        await #expect(throws: Stop.self) { try await keychain.transaction { _ in throw Stop() } }
        #expect(driver.records.count == 1)
    }

    @Test func cancellationWhileItWaitsKeepsTheClosureFromRunning() async throws {
        let driver = MemoryDriver()
        driver.inject(.slow(.seconds(3600)), times: 1)
        let waiting = Task { try await Keychain(driver: driver).transaction { _ in Issue.record("It ran.") } }
        while driver.callCount == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: KeychainError.Code.cancelled.error) { try await waiting.value }
    }

    @Test func aStoreWithoutThemSaysSoBeforeTheClosureRuns() {
        let keychain = Keychain(driver: ForeignStore())
        let error = #expect(throws: KeychainError.self) { try keychain.transaction { _ in Issue.record("It ran.") } }
        #expect(error?.code == .unsupported && error?.operation == .transaction)
    }
}
