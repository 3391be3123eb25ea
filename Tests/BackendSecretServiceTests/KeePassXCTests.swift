// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// What KeePassXC does in its own way.
    @Suite struct KeePassXCTests {
        private func value(_ text: String) -> SecureBytes { SecureBytes(Data(text.utf8)) }

        @Test func theProbeKnowsItByName() throws {
            let server = try PrivateKeePassXC.start()
            let probe = SecretServiceProbe(collection: "", environment: server.environment)
            #expect(probe.availability() == .available("KeePassXC answers on the session bus."))
        }

        @Test func changesThatReturnAPromptNeedNoOneToAsk() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            let never = CallContext(.store, interaction: .never)
            try driver.commit([.insert(.password("svc", "bob"), value("1"))], never)
            let found = try #require(try driver.item(.password("svc", "bob")))
            #expect(found.value == Data("1".utf8))
            try driver.commit([.delete(found.record)], never)
            #expect(try driver.records(.password("svc", "bob")).isEmpty)
            #expect(try server.allAttributes().isEmpty)
        }

        @Test func aDeletionThatHasToBeConfirmedIsRefusedWhereNoOneMayBeAsked() throws {
            let server = try PrivateKeePassXC.start(confirmsDeletion: true)
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let record = try #require(try driver.item(.password("svc", "bob"))).record
            let call = CallContext(.remove, interaction: .never)
            #expect(code { try driver.commit([.delete(record)], call) } == .interactionNotAllowed)
        }

        @Test func clearedAttributesAreGoneAndItsOwnAreKept() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            let selection = RecordSelection.password("svc", "bob")
            try driver.commit([.insert(.password("svc", "bob", [.comment: .text("c")]), value("1"))])
            let before = try #require(try driver.item(selection)).record
            try driver.update(selection) { $0.attributes[.comment] = nil }
            let after = try #require(try driver.item(selection))
            #expect(after.record.attributes[.comment] == nil)
            #expect(after.record.reference == before.reference && after.record.creationDate == before.creationDate)
            #expect(after.value == Data("1".utf8))
            let all = try server.allAttributes()
            let attributes = try #require(all.first)
            #expect(all.count == 1)
            for name in ["Title", "UserName", "URL", "Notes", "Uuid", "Path"] {
                #expect(attributes[name] != nil, "\(name)")
            }
            #expect(attributes["keychain.comment"] == nil)
        }

        @Test func whatAnotherProgramKeepsInItsFieldsStaysThere() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            let selection = RecordSelection.password("svc", "bob")
            let theirs = ["service": "svc", "username": "bob", "Notes": "theirs", "URL": "https://example.org"]
            let path = try server.createItem(theirs, label: "Theirs", secret: Data("1".utf8))
            #expect(try driver.item(selection)?.value == Data("1".utf8))
            try driver.update(selection, value: Data("2".utf8))
            try driver.update(selection) { $0.attributes[.comment] = .text("ours") }
            let found = try #require(try driver.item(selection))
            #expect(found.value == Data("2".utf8) && found.record.handle == path)
            let attributes = try #require(try server.allAttributes().first)
            for (name, text) in theirs { #expect(attributes[name] == text, "\(name)") }
            #expect(attributes["Title"] == "Theirs" && attributes["keychain.comment"] == "ours")
        }

        @Test func aBatchThatFailsLeavesNoAttributeBehind() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let record = try #require(try driver.item(.password("svc", "bob"))).record
            var commented = record
            commented.attributes[.comment] = .text("c")
            var missing = ItemRecord.password("svc", "nobody")
            missing.handle = "\(server.collection)/00000000000000000000000000000000"
            let failing = RecordMutation.update(old: missing, new: missing, value: value("x"))
            #expect(
                code { try driver.commit([.update(old: record, new: commented, value: nil), failing]) } == .itemNotFound
            )
            let after = try #require(try driver.item(.password("svc", "bob")))
            #expect(after.record.attributes == record.attributes && after.value == Data("1".utf8))
            #expect(try server.allAttributes().count == 1)
        }

        @Test func everythingIsFoundThoughItFindsNothingByNothing() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let path = try server.createItem(["service": "svc", "username": "eve"], secret: Data("2".utf8))
            #expect(try driver.records(RecordSelection(itemClass: .genericPassword)).count == 2)
            let theirs = try #require(try driver.item(.password("svc", "eve"))).record
            #expect(theirs.handle == path)
            #expect(try driver.records(RecordSelection(reference: theirs.reference)).map(\.handle) == [path])
        }

        @Test func whatIsLockedIsNotTakenForEmpty() throws {
            let server = try PrivateKeePassXC.start()
            let driver = try server.driver()
            let never = CallContext(.retrieve, interaction: .never)
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let record = try #require(try driver.item(.password("svc", "bob"))).record
            try server.lock()
            #expect(code { _ = try driver.records(.password("svc", "bob"), never) } == .interactionNotAllowed)
            let read = { try driver.read(never) { (reader) throws(KeychainError) in try reader.value(of: record) } }
            #expect(code { _ = try read() } == .interactionNotAllowed)
            #expect(code { try driver.commit([.delete(record)], never) } == .interactionNotAllowed)
            try server.unlock()
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
        }

        @Test func valuesAreReadThoughOneOfThemHasVanished() throws {
            try Vanished.areLeftOut(try PrivateKeePassXC.start())
        }

        @Test func aByteOrderMarkIsKeptInAValueAndRefusedInAnAttribute() throws {
            try ByteOrderMark.isKeptOrRefused(try PrivateKeePassXC.start())
        }
    }

    /// Items that other programs remove between a search and the reading of its values.
    enum Vanished {
        static func areLeftOut(_ server: some SecretServer) throws {
            let driver = try server.driver()
            for account in ["a", "b", "c"] {
                try driver.commit([.insert(.password("svc", account), SecureBytes(Data(account.utf8)))])
            }
            let values = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                let records = try reader.records(RecordSelection(itemClass: .genericPassword))
                let b = records.first { $0.attributes[.account] == .text("b") }
                if let b {
                    try driver.write(CallContext(.remove)) { (writer) throws(KeychainError) in
                        try writer.commit([.delete(b)])
                    }
                }
                return try reader.values(of: records).compactMap { $0 }
            }
            #expect(Set(values.map { Data($0) }) == [Data("a".utf8), Data("c".utf8)])
        }
    }

    /// A mark at the beginning of a text, which services written with Qt do not keep.
    enum ByteOrderMark {
        static func isKeptOrRefused(_ server: some SecretServer) throws {
            let driver = try server.driver()
            let value = Data("\u{FEFF}v".utf8)
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(value))])
            #expect(try driver.item(.password("svc", "bob"))?.value == value)
            let marked = ItemRecord.password("svc", "\u{FEFF}bob")
            #expect(code { try driver.commit([.insert(marked, SecureBytes(value))]) } == .invalidParameter)
            #expect(try server.allAttributes().count == 1)
        }
    }
#endif
