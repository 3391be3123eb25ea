// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization
import Testing

/// What the conformance suite cannot see: that a failed move takes back what it can, and respects others.
@Suite struct CopyTests {
    private let query = SecItemQuery<GenericPassword>.credential(for: "s")

    @Test func aMoveThatCannotRemoveTakesTheCopiesBack() throws {
        let source = ForeignStore { _ throws(KeychainError) in throw KeychainError(.readOnly, "No.") }
        source.plant("x", [.service: .text("s")])
        let target = MemoryDriver()
        let error = #expect(throws: KeychainError.self) {
            try Keychain(driver: source).move(query, to: Keychain(driver: target))
        }
        #expect(error?.code == .readOnly)
        #expect(error?.location == source.location)
        #expect(target.records.isEmpty)
        #expect(source.records.count == 1)
    }

    @Test func aMoveThatReplacedPutsTheReplacedItemBack() throws {
        let source = ForeignStore { _ throws(KeychainError) in throw KeychainError(.readOnly, "No.") }
        source.plant("x", [.service: .text("s")])
        let target = Keychain(driver: MemoryDriver())
        var labelled = query
        labelled.label = "kept"
        try target.store("before", query: labelled)
        #expect(throws: KeychainError.Code.readOnly.error) {
            try Keychain(driver: source).move(query, to: target, ifExists: .replace)
        }
        #expect(try target.retrieve(query) == "before")
        #expect(try target.info(for: query)?.label == "kept")
    }

    @Test func anItemThatChangedMeanwhileIsNotRemoved() throws {
        let source = ForeignStore()
        source.plant("x", [.service: .text("s")], modified: 1)
        let target = ForeignStore { _ in
            source.meddle { items in
                for index in items.indices { items[index].record.modificationDate = ItemDate(microseconds: 2) }
            }
        }
        #expect(throws: KeychainError.Code.busy.error) {
            try Keychain(driver: source).move(query, to: Keychain(driver: target))
        }
        #expect(source.records.count == 1)
        #expect(target.records.isEmpty)
    }

    @Test func someoneElsesChangeOfACopyIsNotTakenBack() throws {
        let target = ForeignStore()
        let source = ForeignStore { _ throws(KeychainError) in
            target.meddle { items in
                for index in items.indices { items[index].record.modificationDate = ItemDate(microseconds: .max) }
            }
            throw KeychainError(.readOnly, "No.")
        }
        source.plant("x", [.service: .text("s")])
        let error = #expect(throws: KeychainError.self) {
            try Keychain(driver: source).move(query, to: Keychain(driver: target))
        }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains(target.location) == true, "It says where the copies are.")
        #expect(error?.location == source.location)
        #expect(error?.operation == .move)
        #expect(target.records.count == 1)
    }

    @Test func aCopyThatSomeoneRemovedNeedsNoTakingBack() throws {
        let target = ForeignStore()
        let source = ForeignStore { _ throws(KeychainError) in
            target.meddle { $0 = [] }
            throw KeychainError(.readOnly, "No.")
        }
        source.plant("x", [.service: .text("s")])
        let error = #expect(throws: KeychainError.self) {
            try Keychain(driver: source).move(query, to: Keychain(driver: target))
        }
        #expect(error?.message == "No.")
        #expect(target.records.isEmpty)
    }

    @Test func aCopyThatIsTheLastOneStays() throws {
        // The store removes one of two items, and then says that it could not.
        let place = Mutex<ForeignStore?>(nil)
        let source = ForeignStore { _ throws(KeychainError) in
            place.withLock { $0 }?.meddle { items in items.removeAll { $0.record.attributes[.account] == .text("a") } }
            throw KeychainError(.timedOut, "Too late.")
        }
        place.withLock { $0 = source }
        source.plant("1", [.service: .text("s"), .account: .text("a")])
        source.plant("2", [.service: .text("s"), .account: .text("b")])
        let target = Keychain(driver: MemoryDriver())
        let error = #expect(throws: KeychainError.self) { try Keychain(driver: source).move(query, to: target) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains(target.location) == true)
        #expect(try target.infoAll(for: query).map(\.account) == ["a"])
        #expect(try target.retrieve(query) == "1")
        #expect(source.records.map { $0.attributes[.account] } == [.text("b")])
        place.withLock { $0 = nil }
    }

    @Test func whereTheSourceCannotBeLookedAtTheCopiesStay() throws {
        let source = MemoryDriver()
        try Keychain(driver: source).store("x", query: query)
        let target = ForeignStore { _ in source.inject(.unavailable) }
        let error = #expect(throws: KeychainError.self) {
            try Keychain(driver: source).move(query, to: Keychain(driver: target))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains(target.location) == true)
        #expect(target.records.count == 1)
        #expect(source.records.count == 1)
    }

    @Test func storesWhoseNamesLookAlikeAreTwo() throws {
        let composed = ForeignStore(location: "foreign:caf\u{E9}")
        let decomposed = ForeignStore(location: "foreign:cafe\u{301}")
        composed.plant("x", [.service: .text("s")])
        #expect(try Keychain(driver: composed).move(query, to: Keychain(driver: decomposed)) == 1)
        #expect(composed.records.isEmpty)
        #expect(decomposed.records.count == 1)
    }

    @Test func groupsWhoseNamesLookAlikeAreTwo() throws {
        let driver = MemoryDriver()
        let composed = Keychain(driver: driver, accessGroup: AccessGroup(rawValue: "caf\u{E9}"))
        let decomposed = Keychain(driver: driver, accessGroup: AccessGroup(rawValue: "cafe\u{301}"))
        try composed.store("x", query: query)
        #expect(try !decomposed.contains(query))
        try composed.copy(query, to: decomposed)
        #expect(driver.records.count == 2)
        try decomposed.remove(query)
        #expect(try composed.move(query, to: decomposed) == 1)
        #expect(try decomposed.contains(query))
        #expect(try !composed.contains(query))
    }

    @Test(arguments: [true, false])
    func theTargetsOwnPolicyGoverns(asynchronous: Bool) async throws {
        let source = ForeignStore()
        source.plant("x", [.service: .text("s")])
        let target = ForeignStore()
        let from = Keychain(driver: source, interaction: .allowed)
        let to = Keychain(driver: target, interaction: .never)
        if asynchronous {
            try await from.copy(query, to: to)
            try await from.move(query, to: to, ifExists: .replace)
        } else {
            // In a closure without `async` the synchronous forms are meant.
            try { () throws(KeychainError) in
                try from.copy(query, to: to)
                try from.move(query, to: to, ifExists: .replace)
            }()
        }
        #expect(target.seenCalls.allSatisfy { $0.interaction == .never })
        #expect(source.seenCalls.allSatisfy { $0.interaction == .allowed })
        #expect(target.seenCalls.map(\.operation) == [.copy, .move])
    }

    @Test func cancellingACopyReachesTheTarget() async throws {
        let source = ForeignStore()
        source.plant("x", [.service: .text("s")])
        let target = MemoryDriver()
        target.inject(.slow(.seconds(3600)))
        let query = query
        let task = Task { try await Keychain(driver: source).copy(query, to: Keychain(driver: target)) }
        while target.callCount == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: KeychainError.Code.cancelled.error) { _ = try await task.value }
    }
}
