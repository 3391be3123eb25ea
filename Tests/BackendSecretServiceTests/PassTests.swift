// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// What `pass_secret_service` does in its own way.
    @Suite struct PassTests {
        private func value(_ text: String) -> SecureBytes { SecureBytes(Data(text.utf8)) }

        @Test func whatIsNotEncryptedIsNotStored() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            try server.restart(hasKey: false)
            // It says that it stored it, in the first call of a session and in a later one.
            for _ in 0..<2 {
                #expect(code { try driver.commit([.insert(.password("svc", "eve"), value("2"))]) } == .io)
                #expect(try driver.item(.password("svc", "eve")) == nil)
                #expect(code { try driver.update(.password("svc", "bob"), value: Data("3".utf8)) } == .io)
                #expect(
                    code { try driver.update(.password("svc", "bob")) { $0.attributes[.label] = .text("L") } } == .io
                )
                #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
                #expect(try server.allAttributes().count == 1)
            }
            try server.restart()
            #expect(try driver.item(.password("svc", "eve")) == nil)
            try driver.commit([.insert(.password("svc", "eve"), value("2"))])
            try driver.update(.password("svc", "bob"), value: Data("3".utf8))
            #expect(try driver.item(.password("svc", "eve"))?.value == Data("2".utf8))
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("3".utf8))
        }

        @Test func whatItCouldNotReadIsNotStored() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver(valueForm: .raw)
            let largest = Data(repeating: 0x78, count: 64 << 10)
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(largest))])
            #expect(try driver.item(.password("svc", "bob"))?.value == largest)
            let larger = largest + [0x78]
            #expect(
                code { try driver.commit([.insert(.password("svc", "eve"), SecureBytes(larger))]) } == .dataTooLarge
            )
            #expect(code { try driver.update(.password("svc", "bob"), value: larger) } == .dataTooLarge)
            #expect(try driver.item(.password("svc", "bob"))?.value == largest)
            #expect(try server.allAttributes().count == 1)
            // It stores text only.
            #expect(code { try driver.update(.password("svc", "bob"), value: Data([0xFF])) } == .io)
            #expect(try driver.item(.password("svc", "bob"))?.value == largest)
        }

        @Test func itemsHaveTheDatesThatTheServiceDoesNotKeep() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver()
            let before = ItemRecord.password("svc", "bob")
            try driver.commit([.insert(before, value("1"))])
            let stored = try #require(try driver.item(.password("svc", "bob"))).record
            #expect(stored.creationDate == before.creationDate && stored.modificationDate == before.creationDate)
            let now = StampSource.system.now()
            try driver.update(.password("svc", "bob"), value: Data("2".utf8)) { $0.modificationDate = now }
            try server.restart()
            let found = try #require(try driver.item(.password("svc", "bob")))
            #expect(found.record.creationDate == before.creationDate && found.record.modificationDate == now)
            #expect(found.value == Data("2".utf8) && found.record.reference == before.reference)
        }

        @Test func aByteOrderMarkIsKept() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "\u{FEFF}bob"), value("\u{FEFF}1"))])
            try driver.commit([.insert(.password("svc", "bob"), value("2"))])
            #expect(try driver.item(.password("svc", "\u{FEFF}bob"))?.value == Data("\u{FEFF}1".utf8))
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("2".utf8))
        }

        @Test func itsItemsAndOursAreShared() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver()
            _ = try server.secretTool(
                ["store", "--label", "A label", "service", "svc", "username", "bob", "extra", "kept"],
                input: "theirs"
            )
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("theirs".utf8))
            try driver.update(.password("svc", "bob"), value: Data("ours".utf8))
            #expect(try server.secretTool(["lookup", "service", "svc", "username", "bob"]).text == "ours")
            #expect(try server.allAttributes().first?["extra"] == "kept")
            let keychain = Keychain(driver: driver)
            #expect(try keychain.remove(SecItemQuery<GenericPassword>.credential(for: "svc")))
            #expect(try server.secretTool(["lookup", "service", "svc", "username", "bob"]).status == 1)
            #expect(try server.allAttributes().isEmpty)
        }

        @Test func aLockThatLocksNothingIsRefused() throws {
            let server = try PrivatePass.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            #expect(code { try driver.lock(CallContext(.lock)) } == .unsupported)
            #expect(try !server.isLocked())
            // What another program has locked opens for who asks.
            try server.lock()
            let never = CallContext(.retrieve, interaction: .never)
            #expect(try driver.item(.password("svc", "bob"), never)?.value == Data("1".utf8))
            try server.lock()
            try driver.update(.password("svc", "bob"), value: Data("2".utf8))
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("2".utf8))
        }

        @Test func valuesAreReadThoughOneOfThemHasVanished() throws {
            try Vanished.areLeftOut(try PrivatePass.start())
        }
    }
#endif
