// SPDX-License-Identifier: MIT

import Foundation
import KeychainTesting
import SwiftKeychain
import Synchronization
import Testing

@Suite(.keychain(.memory)) struct TraitTests {
    private static let locations = Mutex<Set<String>>([])
    private let atFirst = Keychain.default.location

    @Test func theKeychainOfTheTestIsTheDefault() async throws {
        let test = try KeychainTest.current
        #expect(test.keychain.location == Keychain.default.location)
        #expect(Keychain.default.location.hasPrefix("memory:"))
        #expect(atFirst == Keychain.default.location, "So it is while the suite is made.")
        #expect(try await Keychain.default.get(.token, default: "none") == "none")
    }

    /// Each case would find what the one before has left.
    @Test(arguments: 0..<20) func casesAreIsolated(number: Int) async throws {
        expectNotStored(for: .token)
        try await Keychain.default.set("\(number)", for: .token)
        await Task.yield()
        #expect(try await Keychain.default.get(.token) == "\(number)")
        #expect(try KeychainTest.current.calls(.store, for: .token).count == 1)
        #expect(Self.locations.withLock { $0.insert(Keychain.default.location).inserted }, "A store of its own")
    }

    @Test func tasksOfTheTestHaveItsKeychain() async throws {
        let location = Keychain.default.location
        let found = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 { group.addTask { try KeychainTest.current.keychain.location + Keychain.default.location } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(found == [location + location])
    }

    @Suite struct Nested {
        @Test func theTraitIsRecursive() throws {
            try Keychain.default.set("x", for: .token)
            expectStored("x", for: .token)
        }

        @Test(.keychain(.prepared)) func theInnermostTraitDecides() throws {
            expectStored("prepared", for: .token)
            #expect(try KeychainTest.current.calls.isEmpty, "What prepares the store is not recorded.")
            #expect(Keychain.default.accessGroup == .keychainGroup(teamID: "TEAM", nameID: "test"))
        }
    }

    @Suite(.keychain(.prepared)) struct Prepared {
        @Test func theInnermostSuiteDecides() { expectStored("prepared", for: .token) }
    }
}

extension KeychainTestStore {
    fileprivate static let prepared = KeychainTestStore.custom { body in
        let keychain = Keychain(
            driver: MemoryDriver(),
            accessGroup: .keychainGroup(teamID: "TEAM", nameID: "test"),
            timeout: .seconds(5)
        )
        try await keychain.set("prepared", for: .token)
        try await body(keychain)
    }
}

@Suite struct NoTraitTests {
    @Test func theAccessorSaysWhatIsMissing() {
        let error = #expect(throws: KeychainError.self) { try KeychainTest.current }
        #expect(error?.code == .unavailable && error?.message.contains(".keychain(.memory)") == true)
    }

    @Test func expectationsSayWhatIsMissing() {
        expectIssue(".keychain(.memory)") { expectStored(secret, for: .token) }
        expectIssue(".keychain(.memory)") { expectNotStored(for: .example) }
    }

    /// What a test of a project does, done without one: here the scope can be looked at from outside.
    @Test(arguments: [false, true]) func theScopeEndsWithTheTest(fails: Bool) async throws {
        struct Failure: Error {}
        let trait = KeychainTrait.keychain(.memory)
        #expect(trait.isRecursive)
        let current = try #require(Test.current)
        let location = Mutex("")
        do {
            try await trait.provideScope(for: current, testCase: nil) {
                location.withLock { $0 = Keychain.default.location }
                if fails { throw Failure() }
            }
            #expect(!fails)
        } catch is Failure {
            #expect(fails)
        }
        #expect(location.withLock { $0 }.hasPrefix("memory:"))
        #expect(throws: KeychainError.self) { try KeychainTest.current }
    }
}

#if File
    @Suite struct FileTraitTests {
        @Test(.keychain(.file)) func itIsAnEncryptedFile() async throws {
            try await Keychain.default.set(secret, for: .token)
            expectStored(secret, for: .token)
            let test = try KeychainTest.current
            #expect(test.calls(.store, for: .token).count == 1)
            #expect(test.keychain.capabilities.contains(.persistent))
            let path = try StoreURL(parsing: test.keychain.location).path
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(!bytes.isEmpty && bytes.range(of: Data(secret.utf8)) == nil)
        }

        @Test(arguments: [false, true]) func theFolderIsRemoved(fails: Bool) async throws {
            struct Failure: Error {}
            let current = try #require(Test.current)
            let path = Mutex("")
            do {
                try await KeychainTrait.keychain(.file).provideScope(for: current, testCase: nil) {
                    try await Keychain.default.set("x", for: .token)
                    let file = try StoreURL(parsing: Keychain.default.location).path
                    path.withLock { $0 = file }
                    #expect(FileManager.default.fileExists(atPath: file))
                    if fails { throw Failure() }
                }
                #expect(!fails)
            } catch is Failure {
                #expect(fails)
            }
            let folder = (path.withLock { $0 } as NSString).deletingLastPathComponent
            #expect(folder.contains("keychain-test-") && !FileManager.default.fileExists(atPath: folder))
        }

        @Test(.keychain(.file), arguments: 0..<4) func casesAreIsolated(number: Int) throws {
            expectNotStored(for: .token)
            try Keychain.default.set("\(number)", for: .token)
            expectStored("\(number)", for: .token)
        }

        @Test(.keychain(.file)) func faultsHappenToIt() async throws {
            let test = try KeychainTest.current
            try await Keychain.default.set("x", for: .token)
            test.inject(.damagedValue)
            let error = await #expect(throws: KeychainError.self) { try await Keychain.default.get(.token) }
            #expect(error?.code == .corrupt && error?.driver == .file && error?.location == test.keychain.location)
            #expect(try await Keychain.default.contains(.token))
        }

        @Test(.keychain(.file)) func errorsAreThoseOfAFile() async throws {
            let test = try KeychainTest.current
            let path = try StoreURL(parsing: test.keychain.location).path + ".locked"
            func open(_ passphrase: String) throws -> Keychain {
                let source = KeySource.material(.passphrase(SecureBytes(Data(passphrase.utf8))))
                let options = StoreOptions(keySource: source, creation: .ifMissing)
                return Keychain(driver: try FileDriver(path: path, options: options, environment: [:]))
            }
            try await open("right").set("x", for: .token)
            let stranger = try open("wrong")
            let real = await #expect(throws: KeychainError.self) { try await stranger.get(.token) }
            test.inject(.failing(.authenticationFailed))
            let injected = await #expect(throws: KeychainError.self) { try await Keychain.default.get(.token) }
            #expect(real?.code == injected?.code && real?.message == injected?.message)
        }
    }
#endif
