// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@Suite struct ChangesTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }
    private let query = SecItemQuery<GenericPassword>()

    private func store(_ value: String, _ service: String, ifExists: IfExists = .fail) throws {
        try keychain.store(value, query: .credential(for: service), ifExists: ifExists)
    }

    @Test func ownWritesAreReported() async throws {
        var iterator = try await keychain.changes(matching: query).makeAsyncIterator()
        try store("1", "a")
        guard case .added(let added)? = try await iterator.next() else {
            Issue.record("Not added.")
            return
        }
        #expect(added.service == "a" && added.data == nil)
        try store("2", "a", ifExists: .replaceValue)
        guard case .updated(let updated)? = try await iterator.next() else {
            Issue.record("Not updated.")
            return
        }
        #expect(updated.persistentReference == added.persistentReference)
        try remove("a")
        guard case .removed(let removed)? = try await iterator.next() else {
            Issue.record("Not removed.")
            return
        }
        #expect(removed.service == "a")
    }

    private func remove(_ service: String) throws { try keychain.remove(.credential(for: service)) }

    @Test func anItemThatBeginsOrCeasesToMatch() async throws {
        var labelled = query
        labelled.label = "x"
        try store("1", "a")
        var iterator = try await keychain.changes(matching: labelled).makeAsyncIterator()
        try relabel("a", "x")
        guard case .added? = try await iterator.next() else {
            Issue.record("Not added.")
            return
        }
        try relabel("a", nil)
        guard case .removed(let removed)? = try await iterator.next() else {
            Issue.record("Not removed.")
            return
        }
        #expect(removed.label == "x", "With its last attributes that matched.")
    }

    private func relabel(_ service: String, _ label: String?) throws {
        var changes = SecItemUpdate<GenericPassword>()
        changes.label = label
        try keychain.update(.credential(for: service), changes)
    }

    @Test func aSlowReaderLearnsThatSomethingChanged() async throws {
        var iterator = try await keychain.changes(matching: query).makeAsyncIterator()
        try store("1", "a")
        try remove("a")
        #expect(try await iterator.next() == .invalidated)
    }

    @Test func changesOfOtherItemsAreNotReported() async throws {
        var iterator = try await keychain.changes(matching: .credential(for: "a")).makeAsyncIterator()
        try store("1", "b")
        let other = Keychain(driver: driver, accessGroup: AccessGroup(rawValue: "g"))
        try { () throws(KeychainError) in try other.store("1", query: .credential(for: "a")) }()
        try store("1", "a")
        guard case .added(let info)? = try await iterator.next() else {
            Issue.record("Not added.")
            return
        }
        #expect(info.accessGroup == .default)
    }

    @Test func aLookThatFailedIsMadeUpFor() async throws {
        var iterator = try await keychain.changes(matching: query).makeAsyncIterator()
        try store("1", "a")
        driver.inject(.unavailable, times: 1)
        await #expect(throws: KeychainError.Code.unavailable.error) { _ = try await iterator.next() }
        // Nothing happens to the store any more; what happened before must not be lost.
        guard case .added? = try await iterator.next() else {
            Issue.record("Not added.")
            return
        }
    }

    @Test func theEndComesWithCancellation() async throws {
        let changes = try await keychain.changes(matching: query)
        let task = Task {
            var count = 0
            for try await _ in changes { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value == 0)
    }

    @Test func watchingEndsWithTheSequence() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        var observation: ChangeObservation?
        do {
            let strong = Witness()
            witness = strong
            observation = try driver.observeChanges { _ = strong }
        }
        #expect(witness != nil)
        observation?.cancel()
        observation?.cancel()
        #expect(witness == nil)
        observation = nil
    }

    @Test func anObserverMayOwnItsObservation() throws {
        // Releasing the closure releases the observation, whose end asks for the same lock.
        final class Box: @unchecked Sendable { var observation: ChangeObservation? }
        let box = Box()
        let inner = try driver.observeChanges {}
        box.observation = inner
        let outer = try driver.observeChanges { _ = box }
        box.observation = try driver.observeChanges {}
        outer.cancel()
        inner.cancel()
    }

    @Test func aStoreThatReportsNoneSaysSo() {
        let store = Keychain(driver: Silent())
        let error = #expect(throws: KeychainError.self) { _ = try store.changes(matching: query) }
        #expect(error?.code == .unsupported && error?.operation == .changes && error?.location == "silent:")
    }

    private struct Silent: KeychainDriver {
        let identifier: DriverIdentifier = "silent"
        let location = "silent:"
        let capabilities: DriverCapabilities = []
        let maximumValueSize = 1

        func read<Result>(
            _ call: CallContext,
            _ body: (any RecordReader) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result { throw KeychainError(.internal, "") }

        func write<Result>(
            _ call: CallContext,
            _ body: (any RecordWriter) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result { throw KeychainError(.internal, "") }
    }
}
