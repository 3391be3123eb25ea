// SPDX-License-Identifier: MIT
#if File
    import BackendFile
    import BackendMemory
    import Foundation
    import KeychainAPI
    @testable import KeychainAuthentication
    import KeychainSodium
    import Synchronization
    import Testing

    /// Gives one password after the other, and counts.
    private final class Prompt: PassphrasePrompt {
        private let answers: Mutex<[String]>
        private let asked = Mutex(0)

        init(_ answers: String...) {
            self.answers = Mutex(answers)
        }

        var count: Int { asked.withLock { $0 } }

        func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
            asked.withLock { $0 += 1 }
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let answer else { throw KeychainError(.userCanceled, "No answer.") }
            return answer.secureRepresentation
        }
    }

    @Suite struct Argon2PasswordTests {
        private let query = SecItemQuery<GenericPassword>.credential(for: "s")
        private let policy = AccessPolicy(.whenUnlocked, options: .applicationPassword)
        private let item = UUID()
        private let call = CallContext(.retrieve)

        private func password(_ text: String) -> Argon2Password {
            Argon2Password(text.secureRepresentation, cost: .minimal)
        }

        @Test func whatIsSealedComesBack() throws {
            for value in [Data(), Data("v".utf8), Data(repeating: 0xFF, count: 1 << 20)] {
                let sealed = try password("p").seal(SecureBytes(value), for: item, call)
                #expect(sealed.count == value.count + 76)
                #expect(sealed.rawRepresentation.range(of: Data("kcpw\u{1}\0\0\0".utf8))?.lowerBound == 0)
                #expect(try password("p").open(sealed, for: item, call).rawRepresentation == value)
            }
        }

        @Test func twoSealedValuesDiffer() throws {
            let password = password("p")
            let value = "v".secureRepresentation
            #expect(try password.seal(value, for: item, call) != password.seal(value, for: item, call))
        }

        @Test func anotherPasswordAndAnotherItemAreRefused() throws {
            let sealed = try password("p").seal("v".secureRepresentation, for: item, call)
            for (password, item) in [(password("q"), item), (password("p"), UUID())] {
                let error = #expect(throws: KeychainError.self) { try password.open(sealed, for: item, call) }
                #expect(error?.code == .authenticationFailed)
            }
        }

        @Test func aChangeOfAnyByteIsSeen() throws {
            let password = password("p")
            let sealed = try password.seal("value".secureRepresentation, for: item, call).rawRepresentation
            for index in sealed.indices {
                // What would make the derivation dear is refused by its limits alone, above.
                if (8..<20).contains(index) { continue }
                var changed = sealed
                changed[index] ^= 0x01
                let error = #expect(throws: KeychainError.self) {
                    try password.open(SecureBytes(changed), for: item, call)
                }
                #expect([.authenticationFailed, .corrupt, .unsupported].contains(error?.code), "Byte \(index)")
            }
            for count in 0..<sealed.count {
                #expect(throws: KeychainError.self) {
                    try password.open(SecureBytes(sealed.prefix(count)), for: item, call)
                }
            }
        }

        @Test(
            arguments: [
                (8, [0xFF, 0xFF, 0xFF, 0xFF]), (8, [0, 0, 0, 0]), (12, [0, 0, 0, 0, 0, 0, 0, 0]),
                (12, [1, 0, 0, 0x40, 0, 0, 0, 0]), (12, [0, 0, 0, 0, 0, 0, 0, 0x80]), (5, [1]), (7, [1]),
            ] as [(Int, [UInt8])]
        )
        func aDerivationBeyondTheLimitsIsNotTried(_ offset: Int, _ bytes: [UInt8]) throws {
            var sealed = try password("p").seal("v".secureRepresentation, for: item, call).rawRepresentation
            sealed.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
            let error = #expect(throws: KeychainError.self) {
                try password("p").open(SecureBytes(sealed), for: item, call)
            }
            #expect(error?.code == .corrupt)
        }

        @Test func aLaterVersionIsNotCalledDamaged() throws {
            var sealed = try password("p").seal("v".secureRepresentation, for: item, call).rawRepresentation
            sealed[4] = 2
            let error = #expect(throws: KeychainError.self) {
                try password("p").open(SecureBytes(sealed), for: item, call)
            }
            #expect(error?.code == .unsupported)
        }

        @Test func theOneSaltIsTakenOver() throws {
            let sealed = try password("p").seal("v".secureRepresentation, for: item, call)
            let later = password("p")
            _ = try later.open(sealed, for: item, call)
            let again = try later.seal("w".secureRepresentation, for: item, call)
            #expect(again.rawRepresentation.prefix(36) == sealed.rawRepresentation.prefix(36))
        }

        @Test func anEmptyPasswordIsNone() {
            let error = #expect(throws: KeychainError.self) { try Argon2Password("") }
            #expect(error?.code == .invalidParameter)
        }

        @Test func itIsAskedForWhenItIsNeededAndOnce() throws {
            let prompt = Prompt("p")
            let keychain = Keychain(driver: MemoryDriver(), applicationPassword: Argon2Password(asking: prompt))
            try keychain.store("plain", query: query)
            #expect(prompt.count == 0)
            try keychain.store("v", query: query, accessPolicy: policy, ifExists: .replace)
            #expect(try keychain.retrieve(query) == "v")
            #expect(prompt.count == 1)
        }

        @Test func aMistypedOneIsAskedForAgain() throws {
            let driver = MemoryDriver()
            try Keychain(driver: driver, applicationPassword: try Argon2Password("right"))
                .store("v", query: query, accessPolicy: policy)
            let prompt = Prompt("wrong", "right")
            let keychain = Keychain(driver: driver, applicationPassword: Argon2Password(asking: prompt))
            let error = #expect(throws: KeychainError.self) { try keychain.retrieve(query) as String? }
            #expect(error?.code == .authenticationFailed)
            #expect(try keychain.retrieve(query) == "v")
            #expect(try keychain.retrieve(query) == "v")
            #expect(prompt.count == 2)
        }

        @Test func whereNothingMayBeAskedNothingIs() throws {
            let prompt = Prompt("p")
            let keychain = Keychain(
                driver: MemoryDriver(),
                interaction: .never,
                applicationPassword: Argon2Password(asking: prompt)
            )
            let error = #expect(throws: KeychainError.self) {
                try keychain.store("v", query: query, accessPolicy: policy)
            }
            #expect(error?.code == .interactionNotAllowed)
            #expect(prompt.count == 0)
        }

        @Test func aCallThatIsOverOpensNothingMore() throws {
            let driver = MemoryDriver()
            for number in 0..<40 {
                try Keychain(driver: driver, applicationPassword: password("p"))
                    .store("v", query: .credential(for: "\(number)"), accessPolicy: policy)
            }
            let late = Keychain(driver: driver, timeout: .zero, applicationPassword: password("p"))
            let error = #expect(throws: KeychainError.self) {
                try late.retrieveAll(query: SecItemQuery<GenericPassword>())
            }
            #expect(error?.code == .timedOut)
            let call = CallContext(.retrieve)
            call.cancel()
            let sealed = try password("p").seal("v".secureRepresentation, for: item, CallContext(.store))
            let cancelled = #expect(throws: KeychainError.self) { try password("p").open(sealed, for: item, call) }
            #expect(cancelled?.code == .cancelled)
        }

        @Test func theStoreIsNotHeldWhileThePersonIsAsked() throws {
            let driver = MemoryDriver()
            try Keychain(driver: driver, applicationPassword: try Argon2Password("p"))
                .store("v", query: query, accessPolicy: policy)
            let other = Keychain(driver: driver, timeout: .seconds(5))
            final class Meanwhile: PassphrasePrompt {
                let other: Keychain
                init(_ other: Keychain) { self.other = other }
                func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
                    try other.store("x", query: .credential(for: "meanwhile"), ifExists: .replaceValue)
                    return "p".secureRepresentation
                }
            }
            func asking() -> Keychain {
                Keychain(driver: driver, applicationPassword: Argon2Password(asking: Meanwhile(other)))
            }
            try asking().store("w", query: query, ifExists: .replaceValue)
            var changes = SecItemUpdate<GenericPassword>()
            changes.setValue("x")
            try asking().update(query, changes)
            #expect(try asking().retrieve(query) == "x")
            changes = SecItemUpdate()
            changes.accessPolicy = .default
            try asking().update(query, changes)
            #expect(try other.retrieve(query) == "x")
        }

        @Test func manyTasksDeriveOnce() async throws {
            let prompt = Prompt("p")
            let keychain = Keychain(driver: MemoryDriver(), applicationPassword: Argon2Password(asking: prompt))
            let policy = policy
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await keychain.store("v", query: .credential(for: "\(number)"), accessPolicy: policy)
                    }
                }
                try await group.waitForAll()
            }
            #expect(prompt.count == 1)
        }

        @Test func anotherObjectAndAnEncryptedFileKeepIt() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let key = KeySource.material(.key(SecureBytes(Data(repeating: 7, count: 32))))
            func open() throws -> Keychain {
                Keychain(
                    driver: try FileDriver(
                        path: folder.appending(path: "k").path,
                        options: StoreOptions(keySource: key, creation: .ifMissing),
                        environment: ["HOME": folder.path]
                    ),
                    applicationPassword: try Argon2Password("correct horse")
                )
            }
            try open().store("only copy", query: query, accessPolicy: policy)
            #expect(try open().retrieve(query) == "only copy")
            let wrong = try Argon2Password("wrong")
            let error = #expect(throws: KeychainError.self) {
                try open().with { $0.applicationPassword = wrong }.retrieve(query) as String?
            }
            #expect(error?.code == .authenticationFailed)
        }

        @Test func itShowsNothing() throws {
            let secret = "5up3r53cr3t"
            let password = try Argon2Password(secret)
            var dumped = ""
            dump(password, to: &dumped)
            #expect(!"\(password) \(String(reflecting: password)) \(dumped)".contains(secret))
        }
    }
#endif
