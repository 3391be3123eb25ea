// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

/// Containers: one item each, as a place for a value of any type.
@Suite struct KeychainContainerTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }
    private var container: KeychainContainer { keychain.container(for: "key", service: "app") }
    private var other: KeychainContainer { keychain.container(for: "other", service: "app") }

    @Test func aValueGoesInAndOut() throws {
        #expect(try container.isEmpty() && container.fetch(String.self) == nil && container.drop(String.self) == nil)
        try container.store("1")
        try container.store("2")
        let inferred: String? = try container.fetch()
        #expect(try inferred == "2" && !container.isEmpty())
        #expect(try container.drop(String.self) == "2" && container.isEmpty())
        try container.store(5)
        #expect(try container.fetch(Int.self) == 5)
        #expect(try container.empty() && !container.empty())
    }

    @Test func theAsynchronousFormsDoTheSame() async throws {
        try await container.store(true)
        let value = try await container.fetch(Bool.self)
        try await container.copy(to: other)
        try await container.move(to: keychain.container(for: "third", service: "app"))
        let isEmpty = try await container.isEmpty()
        let dropped = try await other.drop(Bool.self)
        let keys = try await keychain.containers(service: "app").map(\.key)
        #expect(value == true && isEmpty && dropped == true && keys == ["third"])
        let isEmptied = try await keychain.container(for: "third", service: "app").empty()
        #expect(isEmptied)
        let error = await #expect(throws: KeychainError.self) { try await container.move(to: other) }
        #expect(error?.code == .itemNotFound)
    }

    @Test func whatCannotBeReadStays() throws {
        try container.store("text")
        let error = #expect(throws: KeychainError.self) { try container.drop(Int.self) }
        #expect(error?.code == .decode)
        #expect(try container.fetch(String.self) == "text")
    }

    @Test func theListHasWhatIsNotEmpty() throws {
        for key in ["b", "a", "c"] { try keychain.container(for: key, service: "app").store(key) }
        try keychain.container(for: "d", service: "other").store("d")
        try keychain.container(for: "a", service: "app").empty()
        let containers = try keychain.containers(service: "app")
        #expect(containers.map(\.key) == ["b", "c"])
        #expect(containers == ["b", "c"].map { keychain.container(for: $0, service: "app") })
        #expect(Set(containers).count == 2 && container != other)
    }

    @Test func copyAndMoveReplaceWhatIsThere() throws {
        let elsewhere = Keychain(driver: MemoryDriver()).container(for: "key", service: "app")
        #expect(container != elsewhere)
        try container.store("1")
        try elsewhere.store("old")
        try container.copy(to: elsewhere)
        #expect(try elsewhere.fetch(String.self) == "1" && container.fetch(String.self) == "1")
        try container.store("2")
        try container.move(to: elsewhere)
        #expect(try elsewhere.fetch(String.self) == "2" && container.isEmpty())
    }

    @Test func ontoItselfNothingHappens() throws {
        try container.store("1")
        try container.move(to: container)
        try container.copy(to: container)
        #expect(try container.fetch(String.self) == "1")
        let grouped = keychain.with { $0.accessGroup = AccessGroup(rawValue: "group") }
        try container.move(to: grouped.container(for: "key", service: "app"))
        #expect(try container.isEmpty() && !grouped.container(for: "key", service: "app").isEmpty())
    }

    @Test func fromAnEmptyOneNothingIsCopied() throws {
        try other.store("kept")
        let copying = #expect(throws: KeychainError.self) { try container.copy(to: other) }
        let moving = #expect(throws: KeychainError.self) { try container.move(to: other) }
        #expect(copying?.code == .itemNotFound && moving?.code == .itemNotFound)
        #expect(copying?.location == keychain.location)
        #expect(try other.fetch(String.self) == "kept")
    }

    @Test func whatBelongsToThisDeviceStaysInItsStore() throws {
        var query = SecItemQuery<GenericPassword>.credential(for: "app")
        query.account = "key"
        try keychain.store("1", query: query, accessPolicy: AccessPolicy(.whenUnlockedThisDeviceOnly))
        let elsewhere = Keychain(driver: MemoryDriver()).container(for: "key", service: "app")
        let error = #expect(throws: KeychainError.self) { try container.move(to: elsewhere) }
        #expect(error?.code == .unsupported)
        #expect(try elsewhere.isEmpty() && !container.isEmpty())
        try container.copy(to: other)
        #expect(try other.fetch(String.self) == "1")
    }

    @Test func aStoreThatCannotLookIsNotEmpty() throws {
        try container.store("1")
        driver.inject(.locked)
        #expect(throws: KeychainError.self) { try container.isEmpty() }
        #expect(throws: KeychainError.self) { try container.fetch(String.self) }
    }

    /// The third call of the source fails: the target is what it was.
    @Test func aMoveThatFailsChangesNothing() throws {
        let target = Keychain(driver: MemoryDriver()).container(for: "key", service: "app")
        try container.store("1")
        for before in [nil, "old"] {
            if let before { try target.store(before) }
            driver.inject(.unavailable, afterCalls: 2)
            #expect(throws: KeychainError.self) { try container.move(to: target) }
            driver.clearFaults()
            #expect(try target.fetch(String.self) == before)
            #expect(try container.fetch(String.self) == "1")
        }
    }

    @Test func aPolicyGoesAlongIntoAnEmptyContainerAlone() throws {
        let keychain = Keychain(driver: MemoryDriver(), applicationIdentifier: "app")
        let strict = AccessPolicy(.whenUnlocked)
        let source = keychain.with { $0.accessPolicy = strict }.container(for: "source")
        try source.store("v")
        let (empty, taken) = (keychain.container(for: "empty"), keychain.container(for: "taken"))
        try taken.store("old")
        try source.copy(to: empty)
        try source.move(to: taken)
        var query = SecItemQuery<GenericPassword>.credential(for: "app")
        query.account = "empty"
        #expect(try keychain.info(for: query)?.accessPolicy == strict)
        query.account = "taken"
        #expect(try keychain.info(for: query)?.accessPolicy == .default)
    }
}
