// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization
import Testing

@Suite struct MemoryDriverTests {
    private func query(_ service: String) -> SecItemQuery<GenericPassword> { .credential(for: service) }

    @Test func eachInstanceIsAStoreOfItsOwn() throws {
        let first = MemoryDriver()
        let second = MemoryDriver()
        #expect(first.location != second.location)
        #expect(first.location.hasPrefix("memory:") && first.identifier == .memory)
        #expect(first.capabilities == [.transactions, .changeEvents])
        try Keychain(driver: first).store("x", query: query("a"))
        #expect(second.records.isEmpty)
        #expect(try Keychain(driver: first).copy(query("a"), to: Keychain(driver: second)) == 1)
        #expect(second.records.count == 1)
    }

    @Test func storesOfOneNameAreOne() throws {
        let registry = DriverRegistry([.memory])
        let name = UUID().uuidString
        let first = try registry.open(StoreURL(driver: .memory, path: name))
        let again = try registry.open(StoreURL(driver: .memory, path: name))
        let other = try registry.open(StoreURL(driver: .memory, path: name + "-other"))
        try Keychain(driver: first).store("x", query: query("a"))
        #expect(try Keychain(driver: again).contains(query("a")))
        #expect(try !Keychain(driver: other).contains(query("a")))
        #expect(first.location == "memory:\(name)" && again.location == first.location)
    }

    @Test func namesAreComparedByTheirBytes() throws {
        let name = UUID().uuidString
        let composed = try DriverRegistry([.memory]).open(StoreURL(driver: .memory, path: name + "\u{E9}"))
        let decomposed = try DriverRegistry([.memory]).open(StoreURL(driver: .memory, path: name + "e\u{301}"))
        try Keychain(driver: composed).store("x", query: query("a"))
        #expect(try !Keychain(driver: decomposed).contains(query("a")))
    }

    @Test func theRegistrationIsForNamedUseOnly() {
        #expect(DriverRegistration.memory.priority == nil)
        #expect(DriverRegistration.memory.identifier == .memory)
        let availability = DriverRegistration.memory.probe(StoreURL(driver: .memory, path: ""))
        #expect(availability == .available("It needs nothing."))
        #expect(throws: KeychainError(.unavailable, "")) { try DriverRegistry([.memory]).choose(environment: [:]) }
    }

    @Test func preloadingStoresItemsFromTheBeginning() throws {
        let stamps = ManualStamps(at: Date(timeIntervalSince1970: 5))
        let driver = try MemoryDriver(stamps: stamps.source) { (keychain) throws(KeychainError) in
            try keychain.store("1", query: query("a"))
            try keychain.store("2", query: query("b"))
        }
        #expect(driver.records.map { $0.attributes[.service] } == [.text("a"), .text("b")])
        #expect(driver.records.allSatisfy { $0.creationDate == ItemDate(microseconds: 5_000_000) })
        #expect(driver.callCount == 2)
        #expect(throws: KeychainError.duplicateItem) {
            try MemoryDriver { (keychain) throws(KeychainError) in
                try keychain.store("1", query: query("a"))
                try keychain.store("1", query: query("a"))
            }
        }
    }

    @Test func recordsAreOldestFirst() throws {
        let stamps = ManualStamps()
        let driver = MemoryDriver(stamps: stamps.source)
        let keychain = Keychain(driver: driver)
        for service in ["c", "a", "b"] {
            try keychain.store("x", query: query(service))
            stamps.advance(by: .seconds(-1))
        }
        #expect(driver.records.map { $0.attributes[.service] } == [.text("b"), .text("a"), .text("c")])
    }

    @Test func everyCallIsCounted() throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        #expect(driver.callCount == 0)
        try keychain.store("x", query: query("a"))
        _ = try keychain.contains(query("a"))
        _ = try? keychain.store("x", query: query("a"))
        try keychain.transaction { try $0.store("x", query: self.query("b")) }
        #expect(driver.callCount == 4)
        _ = try? keychain.remove(SecItemQuery<GenericPassword>())
        #expect(driver.callCount == 4, "What is refused before does not reach the store.")
    }

    @Test func theLargestValueIsTaken() throws {
        let keychain = Keychain(driver: MemoryDriver(maximumValueSize: 8))
        try keychain.store(Data(count: 8), query: query("a"))
        #expect(throws: KeychainError(.dataTooLarge, "")) { try keychain.store(Data(count: 9), query: query("b")) }
        var changes = SecItemUpdate<GenericPassword>()
        changes.setValue(Data(count: 9))
        #expect(throws: KeychainError(.dataTooLarge, "")) { try keychain.update(query("a"), changes) }
    }

    @Test func aReaderSeesOneState() throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        try keychain.store("old", query: query("a"))
        let values = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) -> [SecureBytes] in
            let before = try reader.records(RecordSelection())
            let values = [try reader.value(of: before[0])]
            // A writer does not wait for readers, and changes nothing under their eyes.
            try keychain.store("new", query: query("a"), ifExists: .replaceValue)
            try keychain.store("x", query: query("b"))
            let after = try reader.records(RecordSelection())
            #expect(after == before)
            return values + [try reader.value(of: before[0])]
        }
        #expect(values == [SecureBytes(Data("old".utf8)), SecureBytes(Data("old".utf8))])
        #expect(try keychain.retrieve(query("a")) == "new")
    }

    @Test func readersNeverSeeHalfOfACommit() async throws {
        let keychain = Keychain(driver: MemoryDriver())
        for service in ["a", "b"] { try { () throws(KeychainError) in try keychain.store(0, query: query(service)) }() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...200 {
                    try await keychain.transaction { keychain in
                        for service in ["a", "b"] {
                            try keychain.store(number, query: .credential(for: service), ifExists: .replaceValue)
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<200 {
                    let values = try await keychain.retrieveAll(.data, query: SecItemQuery<GenericPassword>())
                    guard case .data(let first) = values[0], case .data(let second) = values[1] else {
                        Issue.record("No values.")
                        return
                    }
                    #expect(first == second)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func writersExcludeEachOther() async throws {
        let keychain = Keychain(driver: MemoryDriver())
        try { () throws(KeychainError) in try keychain.store(0, query: query("count")) }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try await keychain.transaction { keychain in
                            let count: Int? = try keychain.retrieve(.credential(for: "count"))
                            try keychain.store(
                                (count ?? 0) + 1,
                                query: .credential(for: "count"),
                                ifExists: .replaceValue
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await keychain.retrieve(query("count")) == 200)
    }

    @Test func ofRacingStoresOneWins() async throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        let wins = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<32 {
                group.addTask {
                    do throws(KeychainError) {
                        try await keychain.store(number, query: .credential(for: "a"))
                        return true
                    } catch {
                        #expect(error == .duplicateItem)
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wins == 1)
        #expect(driver.records.count == 1)
    }

    @Test func aWriterThatWaitsEndsWithItsDeadlineOrCancellation() async throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let holder = Task {
            try await keychain.transaction { _ in
                entered.signal()
                leave.wait()
            }
        }
        await Task.detached { entered.wait() }.value
        let impatient = Keychain(driver: driver, timeout: .milliseconds(20))
        await #expect(throws: KeychainError(.timedOut, "")) { try await impatient.store("x", query: query("a")) }
        // The impatient call may have ended before it came to the driver.
        let calls = driver.callCount
        let waiting = Task { [query = query("a")] in try await keychain.store("x", query: query) }
        while driver.callCount == calls { await Task.yield() }
        waiting.cancel()
        await #expect(throws: KeychainError(.cancelled, "")) { try await waiting.value }
        #expect(try await !keychain.contains(query("a")), "Readers do not wait for writers.")
        leave.signal()
        try await holder.value
        try await keychain.store("x", query: query("a"))
    }

    @Test func observersAreCalledAfterEachCommit() throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        let count = Mutex(0)
        let observation = try driver.observeChanges { count.withLock { $0 += 1 } }
        try keychain.store("x", query: query("a"))
        #expect(count.withLock { $0 } == 1)
        _ = try? keychain.store("x", query: query("a"))
        _ = try keychain.contains(query("a"))
        #expect(count.withLock { $0 } == 1)
        try keychain.remove(query("a"))
        #expect(count.withLock { $0 } == 2)
        observation.cancel()
        try keychain.store("x", query: query("a"))
        #expect(count.withLock { $0 } == 2)
    }

    @Test func anObserverMayRead() throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        let seen = Mutex<Bool?>(nil)
        let observation = try driver.observeChanges {
            let found = try? keychain.contains(SecItemQuery<GenericPassword>.credential(for: "a"))
            seen.withLock { $0 = found }
        }
        try keychain.store("x", query: query("a"))
        #expect(seen.withLock { $0 } == true)
        observation.cancel()
    }

    @Test func valuesGoWithTheStore() throws {
        weak var driver: MemoryDriver?
        do {
            let strong = MemoryDriver()
            driver = strong
            let keychain = Keychain(driver: strong)
            try keychain.store("x", query: query("a"))
            _ = try keychain.changes(matching: query("a"))
        }
        #expect(driver == nil)
    }
}
