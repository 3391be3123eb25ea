// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

/// Several records that other programs left for one primary key are one item.
@Suite struct SharedStoreTests {
    private let store = ForeignStore()
    private var keychain: Keychain { Keychain(driver: store) }
    private let query = SecItemQuery<GenericPassword>.credential(for: "s")

    private func plantTwins() {
        store.plant("old", [.service: .text("s"), .label: .text("old")], created: 1, modified: 1)
        store.plant("new", [.service: .text("s"), .label: .text("new")], created: 2, modified: 9)
        store.plant("older", [.service: .text("s"), .label: .text("older")], created: 0, modified: 0)
    }

    @Test func theNewestSpeaks() throws {
        plantTwins()
        #expect(try keychain.retrieve(query) == "new")
        #expect(try keychain.infoAll(for: query).map(\.label) == ["new"])
        var byLabel = SecItemQuery<GenericPassword>()
        byLabel.label = "old"
        #expect(try !keychain.contains(byLabel), "What it hides does not match.")
    }

    @Test func removingTakesAlongWhatWasHidden() throws {
        plantTwins()
        #expect(try keychain.remove(query))
        #expect(store.records.isEmpty)
    }

    @Test func movingToAnotherStoreTakesAlongWhatWasHidden() throws {
        plantTwins()
        let target = Keychain(driver: MemoryDriver())
        #expect(try keychain.move(query, to: target) == 1)
        #expect(try target.retrieve(query) == "new")
        #expect(store.records.isEmpty)
        #expect(try !keychain.contains(query))
    }

    @Test func movingToAnotherGroupTakesAlongWhatWasHidden() throws {
        plantTwins()
        let target = keychain.with { $0.accessGroup = AccessGroup(rawValue: "g") }
        #expect(try keychain.move(query, to: target) == 1)
        #expect(store.records.map(\.accessGroup) == ["g"])
    }

    @Test func changingTheKeyTakesAlongWhatWasHidden() throws {
        plantTwins()
        var changes = SecItemUpdate<GenericPassword>()
        changes.account = "bob"
        #expect(try keychain.update(query, changes) == 1)
        #expect(store.records.count == 1)
        #expect(try keychain.retrieve(query) == "new")
        var left = query
        left.account = ""
        #expect(try !keychain.contains(left), "The old key is free.")
    }

    @Test func changingWhatIsNotInTheKeyLeavesOtherProgramsTheirRecords() throws {
        plantTwins()
        var changes = SecItemUpdate<GenericPassword>()
        changes.comment = "c"
        try keychain.update(query, changes)
        #expect(store.records.count == 3)
        #expect(try keychain.info(for: query)?.comment == "c")
    }

    @Test func storingReplacesTheNewest() throws {
        plantTwins()
        #expect(throws: KeychainError.duplicateItem) { try keychain.store("x", query: query) }
        try keychain.store("x", query: query, ifExists: .replaceValue)
        #expect(try keychain.retrieve(query) == "x")
        #expect(try keychain.info(for: query)?.label == "new")
    }

    @Test func aDateAtTheEndOfTimeIsNoTrap() throws {
        store.plant("x", [.service: .text("s")], created: .max, modified: .max)
        try keychain.store("y", query: query, ifExists: .replaceValue)
        #expect(try keychain.retrieve(query) == "y")
    }

    @Test func twinsAreOneItemInChangesToo() async throws {
        plantTwins()
        let changes = try await keychain.changes(matching: query)
        var iterator = changes.makeAsyncIterator()
        // What is hidden changes: the item has not.
        store.meddle { items in items.removeAll { $0.record.attributes[.label] == .text("older") } }
        store.announce()
        #expect(try await iterator.next() == .invalidated)
        store.meddle { items in items.removeAll { $0.record.attributes[.label] == .text("new") } }
        store.announce()
        let events = [try await iterator.next(), try await iterator.next()]
        guard case .removed(let gone)? = events[0], case .added(let come)? = events[1] else {
            guard case .added(let come)? = events[0], case .removed(let gone)? = events[1] else {
                Issue.record("\(events)")
                return
            }
            #expect(gone.label == "new" && come.label == "old")
            return
        }
        #expect(gone.label == "new" && come.label == "old")
    }

    @Test func aPolicyThatCannotBeReadIsStrict() throws {
        store.plant("x", [.service: .text("a"), .accessControl: .integer(-1)])
        store.plant("x", [.service: .text("b"), .accessControl: .text("nonsense")])
        store.plant("x", [.service: .text("c"), .accessible: .text("of a later version")])
        for service in ["a", "b"] {
            #expect(throws: KeychainError.Code.interactionNotAllowed.error) {
                _ = try keychain.retrieve(.credential(for: service)) as String?
            }
        }
        #expect(try keychain.retrieve(.credential(for: "c")) == "x")
        #expect(throws: KeychainError.Code.unsupported.error) {
            try keychain.copy(SecItemQuery<GenericPassword>.credential(for: "c"), to: Keychain(driver: MemoryDriver()))
        }
    }
}
