// SPDX-License-Identifier: MIT

import Foundation
import JSONFileDriver
import KeychainAPI
import KeychainConformance
import Testing

@Suite(.serialized) struct JSONFileDriverTests {
    let harness = JSONFileHarness()

    @Test(arguments: ConformanceSuite.checks(for: JSONFileHarness()))
    func conforms(_ check: ConformanceCheck) async throws {
        try await check.run(on: harness)
    }

    /// Runs a test with a store that holds one item, and gives it its file.
    private func withStore(_ body: (Keychain, URL) throws -> Void) throws {
        let keychain = try harness.makeKeychain()
        defer { #expect(throws: Never.self) { try harness.discard(keychain) } }
        try keychain.store("s3cret", query: .credential(for: "svc"))
        try body(keychain, harness.file(of: keychain))
    }

    @Test func isReachedByItsURL() throws {
        try withStore { keychain, file in
            let registry = DriverRegistry([.json])
            let driver = try registry.open(StoreURL(parsing: "json:\(file.path)"))
            let value: String? = try Keychain(driver: driver, accessGroup: keychain.accessGroup)
                .retrieve(.credential(for: "svc"))
            #expect(value == "s3cret")
            #expect(throws: KeychainError(.invalidParameter, "")) { try registry.open(StoreURL(parsing: "json:items")) }
            #expect(throws: KeychainError.duplicateItem) {
                try registry.open(StoreURL(parsing: keychain.location), options: StoreOptions(creation: .mustBeNew))
            }
        }
    }

    @Test func aMissingFileIsNotAnEmptyStore() throws {
        try withStore { keychain, file in
            try FileManager.default.removeItem(at: file)
            let driver = try DriverRegistry([.json]).open(StoreURL(parsing: keychain.location))
            let error = #expect(throws: KeychainError.self) {
                try Keychain(driver: driver).contains(.credential(for: "svc"))
            }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func aMissingFolderIsNoEmptyStore() throws {
        let keychain = try harness.makeKeychain()
        // With its folder.
        try harness.discard(keychain)
        let reading = #expect(throws: KeychainError.self) { try keychain.contains(.credential(for: "svc")) }
        #expect(reading?.code == .unavailable)
        let writing = #expect(throws: KeychainError.self) { try keychain.store("x", query: .credential(for: "svc")) }
        #expect(writing?.code == .unavailable)
    }

    @Test func isForTheOwnerAlone() throws {
        try withStore { keychain, file in
            #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            let error = #expect(throws: KeychainError.self) { try keychain.contains(.credential(for: "svc")) }
            #expect(error?.code == .insecurePermissions)
        }
    }

    @Test(arguments: ["", "{}", #"{"version":1,"items":[{}]}"#, "half"])
    func damageIsToldAndKept(_ text: String) throws {
        try withStore { keychain, file in
            let damaged = text == "half" ? try Data(contentsOf: file).dropLast(20) : Data(text.utf8)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: damaged)
            try handle.close()
            let reading = #expect(throws: KeychainError.self) { try keychain.contains(.credential(for: "svc")) }
            #expect(reading?.code == .corrupt)
            let writing = #expect(throws: KeychainError.self) { try keychain.remove(.credential(for: "svc")) }
            #expect(writing?.code == .corrupt)
            #expect(try Data(contentsOf: file) == damaged)
        }
    }
}
