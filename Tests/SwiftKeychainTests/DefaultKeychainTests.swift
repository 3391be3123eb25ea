// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Testing

@Suite struct DefaultKeychainTests {
    private let query = SecItemQuery<GenericPassword>.credential(for: "OpenAI")

    @Test func theReadmesSnippet() throws {
        try Keychain.withDefault(Keychain(driver: MemoryDriver())) {
            let keychain = Keychain.default
            try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
            let token: String? = try keychain.retrieve(.credential(for: "OpenAI"))
            #expect(token == "8e9c0a7f")
            try keychain.remove(.credential(for: "OpenAI"))
            #expect(try !keychain.contains(query))
        }
    }

    @Test func theOverrideEndsWithItsClosure() {
        let outer = MemoryDriver()
        let inner = MemoryDriver()
        struct Stop: Error {}
        Keychain.withDefault(Keychain(driver: outer)) {
            #expect(throws: Stop.self) {
                try Keychain.withDefault(Keychain(driver: inner)) {
                    #expect(Keychain.default.location == inner.location)
                    throw Stop()
                }
            }
            #expect(Keychain.default.location == outer.location)
        }
    }

    @Test func tasksThatRunAtOnceEachSeeTheirOwn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let driver = MemoryDriver()
                    try await Keychain.withDefault(Keychain(driver: driver)) {
                        for service in 0..<5 {
                            try await Keychain.default.store(number, query: .credential(for: "\(service)"))
                            await Task.yield()
                        }
                        #expect(Keychain.default.location == driver.location)
                        #expect(try await Keychain.default.retrieve(.credential(for: "3")) == number)
                    }
                    #expect(driver.records.count == 5)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func tasksThatTheClosureStartsSeeIt() async {
        let driver = MemoryDriver()
        await Keychain.withDefault(Keychain(driver: driver)) {
            async let child = Keychain.default.location
            let unstructured = Task { Keychain.default.location }
            let detached = Task.detached { Keychain.default.driver is MemoryDriver }
            #expect(await child == driver.location)
            #expect(await unstructured.value == driver.location)
            #expect(await !detached.value, "A detached task is on its own.")
        }
    }

    @Test func itIsTheKeychainWithItsSettings() {
        let keychain = Keychain(
            driver: MemoryDriver(),
            accessGroup: AccessGroup(rawValue: "g"),
            timeout: .seconds(1),
            interaction: .never
        )
        Keychain.withDefault(keychain) {
            #expect(Keychain.default.accessGroup == keychain.accessGroup)
            #expect(Keychain.default.timeout == .seconds(1))
            #expect(Keychain.default.interaction == .never)
        }
    }

    @Test func theStandardRegistryKnowsTheMemory() throws {
        #expect(DriverRegistry.standard.drivers.contains { $0.identifier == .memory })
        let driver = try DriverRegistry.standard.open(StoreURL(parsing: "memory:\(UUID().uuidString)"))
        #expect(driver is MemoryDriver)
        let priorities = DriverRegistry.standard.drivers.compactMap(\.priority)
        #expect(Set(priorities).count == priorities.count, "The order of choice is decided.")
    }
}
