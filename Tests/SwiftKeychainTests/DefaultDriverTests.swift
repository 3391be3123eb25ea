// SPDX-License-Identifier: MIT

import Foundation
import KeychainSystem
import Synchronization
import Testing

@testable import SwiftKeychain

/// A machine of the test's own: a home folder, and drivers whose stores outlive the drivers.
private final class Machine: Sendable {
    let home: String
    let availability = Mutex<[DriverIdentifier: DriverAvailability]>([:])
    let opened = Mutex<[(url: StoreURL, creation: StoreOptions.Creation)]>([])
    let probes = Mutex(0)
    private let stores = Mutex<[StoreURL: MemoryDriver]>([:])

    init() throws {
        home = FileManager.default.temporaryDirectory.appending(path: "keychain-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: home)
    }

    var statePath: String { home + "/state/swift-keychain/default-store" }

    func environment(_ store: String? = nil) -> [String: String] {
        var environment = ["HOME": home, "XDG_STATE_HOME": home + "/state", "XDG_DATA_HOME": home + "/data"]
        environment["KEYCHAIN_STORE"] = store
        return environment
    }

    var registry: DriverRegistry {
        DriverRegistry([registration("secret-service", 10), registration("file", 1)])
    }

    private func registration(_ identifier: DriverIdentifier, _ priority: Int) -> DriverRegistration {
        DriverRegistration(
            identifier: identifier,
            summary: "",
            priority: priority,
            probe: { _ in
                self.probes.withLock { $0 += 1 }
                return self.availability.withLock { $0[identifier] } ?? .available("It answers.")
            },
            open: { url, options throws(KeychainError) in
                self.opened.withLock { $0.append((url, options.creation)) }
                return self.store(url)
            }
        )
    }

    func store(_ url: StoreURL) -> MemoryDriver {
        stores.withLock { stores in
            let store = stores[url] ?? MemoryDriver()
            stores[url] = store
            return store
        }
    }

    func store(_ text: DriverIdentifier) -> MemoryDriver { store(StoreURL(driver: text, path: "")) }

    /// The default keychain of a program that starts now.
    func program(_ store: String? = nil) -> Keychain {
        Keychain(driver: DefaultDriver(registry: registry, environment: environment(store)))
    }

    func set(_ identifier: DriverIdentifier, _ availability: DriverAvailability) {
        self.availability.withLock { $0[identifier] = availability }
    }

    var remembered: String? { try? String(contentsOfFile: statePath, encoding: .utf8) }
    var files: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: home)) ?? [] }
}

@Suite struct DefaultDriverTests {
    private let machine: Machine
    private let query = SecItemQuery<GenericPassword>.credential(for: "s")

    init() throws {
        machine = try Machine()
    }

    @Test func theFirstWriteIsRemembered() throws {
        try machine.program().store("x", query: query)
        #expect(machine.remembered == "secret-service:\n")
        #expect(machine.store("secret-service").records.count == 1)
        // Later programs stay there, whatever else becomes possible.
        try machine.program().store("y", query: query, ifExists: .replaceValue)
        #expect(machine.opened.withLock { $0.map(\.creation) } == [.ifMissing, .never])
    }

    @Test func readingLeavesNoTrace() throws {
        let keychain = machine.program()
        #expect(try keychain.retrieve(query) as String? == nil)
        #expect(try keychain.infoAll(for: query).isEmpty)
        #expect(try !keychain.contains(query))
        #expect(try !keychain.remove(query))
        _ = keychain.location
        _ = keychain.description
        #expect(machine.files == [])
    }

    @Test func aWriteThatFailsLeavesNoTrace() throws {
        machine.store("secret-service").inject(.locked)
        #expect(throws: KeychainError(.interactionNotAllowed, "")) { try machine.program().store("x", query: query) }
        #expect(machine.remembered == nil)
        machine.store("secret-service").clearFaults()
        try Keychain(driver: machine.store("secret-service")).store("x", query: query)
        #expect(throws: KeychainError.duplicateItem) { try machine.program().store("x", query: query) }
        #expect(machine.files == [])
    }

    @Test func theChoiceIsMadeOnce() throws {
        let keychain = machine.program()
        _ = try keychain.contains(query)
        let probes = machine.probes.withLock { $0 }
        machine.set("secret-service", .unreachable("It went away."))
        try keychain.store("x", query: query)
        #expect(try keychain.contains(query))
        #expect(machine.probes.withLock { $0 } == probes)
        #expect(machine.opened.withLock { $0.count } == 1)
    }

    @Test(arguments: [DriverAvailability.unavailable("It was removed."), .unreachable("It was removed.")])
    func aStoreThatVanishedIsAnErrorAndNoNewStore(_ availability: DriverAvailability) throws {
        try machine.program().store("x", query: query)
        machine.set("secret-service", availability)
        let keychain = machine.program()
        for attempt in 0..<2 {
            let error = #expect(throws: KeychainError.self) { _ = try keychain.contains(query) }
            #expect(error?.code == .unavailable, "Attempt \(attempt)")
            #expect(error?.message.contains("It was removed.") == true)
            #expect(error?.message.contains("KEYCHAIN_STORE") == true)
        }
        #expect(throws: KeychainError(.unavailable, "")) { try keychain.store("y", query: query) }
        #expect(machine.store("file").callCount == 0)
        // When it is back, the same program goes on.
        machine.set("secret-service", .available("Again."))
        #expect(try keychain.retrieve(query) == "x")
    }

    @Test func anUnreachableStoreIsNoReasonForAnotherOne() {
        machine.set("secret-service", .unreachable("It hangs."))
        #expect(throws: KeychainError(.unavailable, "")) { try machine.program().store("x", query: query) }
        #expect(machine.files == [])
        #expect(machine.store("file").callCount == 0)
    }

    @Test func withoutAServiceItIsTheFile() throws {
        machine.set("secret-service", .unavailable("There is no bus."))
        try machine.program().store("x", query: query)
        #expect(machine.remembered == "file:\n")
        // A service that comes later does not take over.
        machine.set("secret-service", .available("Here I am."))
        #expect(try machine.program().retrieve(query) == "x")
    }

    @Test func aNamedStoreIsUsedAndNotRemembered() throws {
        try machine.program("file:/named").store("x", query: query)
        #expect(machine.files == [])
        #expect(machine.store(StoreURL(driver: "file", path: "/named")).records.count == 1)
        #expect(machine.opened.withLock { $0.map(\.creation) } == [.ifMissing])
    }

    @Test func aNamedStoreIsMadeWhateverIsRemembered() throws {
        try machine.program().store("x", query: query)
        try machine.program("file:/named").store("x", query: query)
        #expect(machine.opened.withLock { $0.map(\.creation) } == [.ifMissing, .ifMissing])
        #expect(machine.remembered == "secret-service:\n")
        // Named or not: one that items were stored in by default is not made anew.
        _ = try machine.program("secret-service:").contains(query)
        #expect(machine.opened.withLock { $0.last?.creation } == .never)
    }

    @Test(arguments: [
        [UInt8](), Array("nonsense\n".utf8), Array("FILE:/x".utf8), Array("file:/caf".utf8) + [0xE9, 0x0A],
    ])
    func aMemoryThatCannotBeReadIsAnError(_ bytes: [UInt8]) throws {
        try machine.program().store("x", query: query)
        try Data(bytes).write(to: URL(filePath: machine.statePath))
        let error = #expect(throws: KeychainError.self) { _ = try machine.program().contains(query) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(machine.statePath) == true)
        // A store that is named needs no memory.
        #expect(try !machine.program("file:/named").contains(query))
        // Removing the file is the remedy that the message names.
        try FileManager.default.removeItem(atPath: machine.statePath)
        #expect(try machine.program().contains(query))
    }

    @Test func aFolderInItsPlaceIsAnErrorToo() throws {
        try FileManager.default.createDirectory(atPath: machine.statePath, withIntermediateDirectories: true)
        #expect(throws: KeychainError(.io, "")) { _ = try machine.program().contains(query) }
    }

    @Test func aPersonMayEditIt() throws {
        try machine.program().store("x", query: query)
        try Data("  file:/elsewhere \n\n".utf8).write(to: URL(filePath: machine.statePath))
        #expect(try !machine.program().contains(query))
        #expect(machine.opened.withLock { $0.last?.url } == StoreURL(driver: "file", path: "/elsewhere"))
    }

    @Test func whereTheChoiceCannotBeKeptNothingIsStored() throws {
        try FileManager.default.createDirectory(atPath: machine.home + "/state", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: machine.home + "/state/swift-keychain",
            withDestinationPath: machine.home + "/nowhere"
        )
        #expect(throws: KeychainError(.unavailable, "")) { try machine.program().store("x", query: query) }
        #expect(machine.store("secret-service").records.isEmpty)
    }

    @Test func ofTwoProgramsTheFirstToWriteDecides() throws {
        let first = machine.program()
        _ = try first.contains(query)
        machine.set("secret-service", .unavailable("There is no bus here."))
        let second = machine.program()
        _ = try second.contains(query)
        try first.store("x", query: query)
        let error = #expect(throws: KeychainError.self) { try second.store("y", query: query) }
        #expect(error?.code == .unavailable)
        #expect(machine.store("file").records.isEmpty, "Nothing is stored where no one will look.")
        #expect(machine.remembered == "secret-service:\n")
    }

    @Test func manyProgramsAgreeOnOneStore() async throws {
        let (machine, query) = (machine, query)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask { try await machine.program().store(number, query: .credential(for: "\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(machine.store("secret-service").records.count == 16)
        #expect(machine.remembered == "secret-service:\n")
        #expect(try await !machine.program().contains(query))
    }

    @Test func transactionsAndChangesReachTheStore() async throws {
        let keychain = machine.program()
        var changes = try await keychain.changes(matching: query).makeAsyncIterator()
        try await keychain.transaction { keychain in
            try keychain.store("x", query: .credential(for: "s"))
            try keychain.store("y", query: .credential(for: "t"))
        }
        guard case .added? = try await changes.next() else {
            Issue.record("Not added.")
            return
        }
        #expect(machine.remembered == "secret-service:\n")
        #expect(machine.store("secret-service").records.count == 2)
        #expect(keychain.location == machine.store("secret-service").location)
        #expect(keychain.capabilities == [.transactions, .changeEvents])
        await #expect(throws: KeychainError(.invalidParameter, "")) {
            try await keychain.transaction { _ in
                try keychain.store("z", query: SecItemQuery<GenericPassword>.credential(for: "u"))
            }
        }
    }

    @Test func errorsSayWhichStore() throws {
        let keychain = machine.program()
        try keychain.store("x", query: query)
        let error = #expect(throws: KeychainError.self) { try keychain.store("x", query: query) }
        #expect(error?.driver == .memory)
        #expect(error?.location == machine.store("secret-service").location)
    }

    @Test func theFolderIsTheOwnersAlone() throws {
        try machine.program().store("x", query: query)
        let attributes = try FileManager.default.attributesOfItem(atPath: machine.home + "/state/swift-keychain")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }
}
