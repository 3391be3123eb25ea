// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Testing

/// What Swiftchain (sbertix/Swiftchain) shows in its documentation and tests, written for this library.
@Suite struct SwiftchainParityTests {
    private let keychain = Keychain(driver: MemoryDriver(), applicationIdentifier: "com.example.app")

    // Swiftchain, container(for:), store, fetch, drop and empty.
    @Test func containers() throws {
        let container = keychain.container(for: "token")
        #expect(try container.isEmpty())
        try container.store("1")
        try container.store("2")
        #expect(try container.fetch() == "2")
        #expect(try container.fetch(String.self) == "2")
        #expect(try !container.isEmpty())
        #expect(try container.drop() == "2")
        #expect(try container.isEmpty())
        #expect(try container.drop(String.self) == nil)
        #expect(try !container.empty(), "Emptying what is empty is no error.")
    }

    // Swiftchain, its types: Bool, Data, Double, Int, Float and String.
    @Test func types() throws {
        let container = keychain.container(for: "value")
        try container.store(true)
        #expect(try container.fetch(Bool.self) == true)
        try container.store(Data([1, 2]))
        #expect(try container.fetch(Data.self) == Data([1, 2]))
        try container.store(0.5)
        #expect(try container.fetch(Double.self) == 0.5)
        try container.store(-7)
        #expect(try container.fetch(Int.self) == -7)
        try container.store(Float(1.5))
        #expect(try container.fetch(Float.self) == 1.5)
        try container.store("text")
        let error = #expect(throws: KeychainError.self) { try container.fetch(Int.self) }
        #expect(error?.code == .decode)
    }

    // Swiftchain, copy(to:) and move(to:).
    @Test func copyAndMove() throws {
        let (first, second) = (keychain.container(for: "first"), keychain.container(for: "second"))
        try first.store("v")
        try first.copy(to: second)
        #expect(try first.fetch() == "v" && second.fetch() == "v")
        try first.move(to: second)
        #expect(try first.isEmpty() && second.fetch() == "v")
        try second.move(to: second)
        #expect(try second.fetch() == "v", "Onto itself nothing happens.")
        let error = #expect(throws: KeychainError.self) { try first.copy(to: second) }
        #expect(error?.code == .itemNotFound)
        #expect(try second.fetch() == "v", "An empty source does not empty the target.")
    }

    // Swiftchain, keys(), containers() and empty() of a keychain.
    @Test func keysAndContainers() throws {
        for key in ["a", "b"] { try keychain.container(for: key).store(key) }
        try keychain.container(for: "c", service: "com.example.other").store("c")
        let containers = try keychain.containers()
        #expect(Set(containers.map(\.key)) == ["a", "b"])
        for container in containers { try container.empty() }
        #expect(try keychain.containers().isEmpty)
        #expect(try keychain.containers(service: "com.example.other").count == 1)
    }

    // Swiftchain, Keychain(service:group:accessibility:authentication:isSynchronizable:).
    @Test func configuration() throws {
        let configured = Keychain(
            driver: keychain.driver,
            applicationIdentifier: "com.example.configured",
            accessGroup: AccessGroup(rawValue: "group"),
            accessPolicy: AccessPolicy(.afterFirstUnlockThisDeviceOnly),
            synchronizable: true
        )
        let container = configured.container(for: "token")
        try container.store("v")
        #expect(try container.fetch() == "v")
        try container.store("w")
        #expect(try container.fetch() == "w")
        #expect(try keychain.container(for: "token", service: "com.example.configured").isEmpty())
        let info = try #require(try configured.info(for: .credential(for: "com.example.configured")))
        #expect(info.accessPolicy == AccessPolicy(.afterFirstUnlockThisDeviceOnly))
        #expect(info.accessGroup == AccessGroup(rawValue: "group"))
    }

    // Swiftchain, Authentication: and(), or().
    @Test func authentication() throws {
        let policy = AccessPolicy(.whenUnlocked, options: [.devicePasscode, .or, .biometryAny])
        let guarded = keychain.with { $0.accessPolicy = policy }
        try guarded.container(for: "token").store("v")
        let error = #expect(throws: KeychainError.self) { try guarded.container(for: "token").fetch(String.self) }
        #expect(error?.code == .interactionNotAllowed)
    }
}
