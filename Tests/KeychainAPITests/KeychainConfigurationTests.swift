// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

extension KeychainKeys {
    fileprivate static let unnamed = KeychainKey<String>("token")
}

@Suite struct KeychainConfigurationTests {
    private let driver = MemoryDriver()

    private final class Nobody: AuthenticationContext {
        func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError) {
            throw KeychainError(.userCanceled, "No.")
        }
    }

    private func service(_ keychain: Keychain) throws -> String? {
        try keychain.infoAll(for: SecItemQuery<GenericPassword>()).first?.service
    }

    @Test func aVariationLeavesTheOriginalAsItIs() {
        let keychain = Keychain(driver: driver)
        let varied = keychain.with {
            $0.timeout = .seconds(5)
            $0.interaction = .never
        }
        #expect(varied.timeout == .seconds(5) && varied.interaction == .never)
        #expect(keychain.timeout == nil && keychain.interaction == .allowed)
        #expect(varied.accessGroup == .default)
    }

    @Test func keychainsAreEqualIfEverythingIs() {
        let keychain = Keychain(driver: driver, applicationIdentifier: "a")
        #expect(keychain == Keychain(driver: driver, applicationIdentifier: "a"))
        #expect(keychain.hashValue == keychain.with { _ in }.hashValue)
        #expect(keychain != Keychain(driver: MemoryDriver(), applicationIdentifier: "a"))
        let changes: [(inout KeychainConfiguration) -> Void] = [
            { $0.applicationIdentifier = "b" }, { $0.accessGroup = AccessGroup(rawValue: "g") },
            { $0.accessPolicy = AccessPolicy(.whenUnlocked) }, { $0.synchronizable = true }, { $0.timeout = .zero },
            { $0.interaction = .never }, { $0.authenticationContext = Nobody() },
            { $0.authenticationReason = "for a test" }, { $0.refusesDuplicates = true },
        ]
        for (number, change) in changes.enumerated() {
            #expect(keychain != keychain.with(change), "Change \(number)")
        }
    }

    @Test func textIsComparedByteByByte() {
        let keychain = Keychain(driver: driver, applicationIdentifier: "caf\u{E9}")
        #expect(keychain != keychain.with { $0.applicationIdentifier = "cafe\u{301}" })
    }

    @Test func aKeyWithoutAServiceHasTheApplicationsIdentifier() throws {
        let keychain = Keychain(driver: driver, applicationIdentifier: "com.example.app")
        try keychain.set("v", for: .unnamed)
        #expect(try service(keychain) == "com.example.app")
        #expect(try keychain.get(.unnamed) == "v")
        #expect(try keychain.with { $0.applicationIdentifier = "com.example.other" }.get(.unnamed) == nil)
        #expect(try keychain.containers().map(\.key) == ["token"])
        #expect(try keychain.container(for: "token").fetch() == "v")
        #expect(try keychain.remove(.unnamed))
    }

    @Test func withoutOneItIsTheExecutablesNameAndNeverEmpty() throws {
        let keychain = Keychain(driver: driver)
        #expect(!keychain.applicationIdentifier.isEmpty)
        #expect(keychain.applicationIdentifier == ProcessInfo.processInfo.processName)
    }

    @Test func thePolicyOfTheKeychainIsThatOfItemsWithoutOne() throws {
        let policy = AccessPolicy(.whenUnlockedThisDeviceOnly)
        let keychain = Keychain(driver: driver, accessPolicy: policy)
        let query = SecItemQuery<GenericPassword>.credential(for: "s")
        try keychain.store("v", query: query)
        #expect(try keychain.info(for: query)?.accessPolicy == policy)
        try keychain.store("v", query: query, accessPolicy: .default, ifExists: .replace)
        #expect(try keychain.info(for: query)?.accessPolicy == .default)
        try keychain.set("v", for: .unnamed)
        #expect(try keychain.info(for: .unnamed)?.accessPolicy == policy)
    }

    @Test func theSideOfSynchronizationIsThatOfQueriesThatDoNotSay() throws {
        let local = Keychain(driver: driver)
        let marked = local.with { $0.synchronizable = true }
        let both = local.with { $0.synchronizable = .any }
        var query = SecItemQuery<GenericPassword>.credential(for: "s")
        try local.store("local", query: query)
        try marked.store("marked", query: query)
        #expect(try local.retrieve(query) == "local")
        #expect(try marked.retrieve(query) == "marked")
        #expect(try both.infoAll(for: query).count == 2)
        try both.store("new", query: .credential(for: "t"))
        #expect(try local.contains(.credential(for: "t")), "What is stored with ‘any’ is not marked.")
        query.synchronizable = false
        #expect(try marked.retrieve(query) == "local", "What a query says counts.")
        try marked.removeAll()
        #expect(try both.infoAll(for: SecItemQuery<GenericPassword>()).count == 2)
    }

    @Test func aKeyNamesOneItemOnEitherSide() throws {
        let both = Keychain(driver: driver, synchronizable: .any)
        try both.with { $0.synchronizable = true }.set("marked", for: .unnamed)
        #expect(try both.get(.unnamed) == nil)
        try both.set("local", for: .unnamed)
        #expect(try both.get(.unnamed) == "local")
    }

    @Test func itShowsNoSecret() throws {
        let keychain = Keychain(driver: driver, applicationIdentifier: "com.example.app")
        try keychain.set("5up3r53cr3t", for: .unnamed)
        var dumped = ""
        dump(keychain, to: &dumped)
        #expect(dumped.contains("com.example.app"))
        #expect(!"\(keychain) \(String(reflecting: keychain)) \(dumped)".contains("5up3r53cr3t"))
    }
}
