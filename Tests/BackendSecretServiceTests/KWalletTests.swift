// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// What KWallet does in its own way.
    @Suite struct KWalletTests {
        private func value(_ text: String) -> SecureBytes { SecureBytes(Data(text.utf8)) }

        @Test func theProbeKnowsItByName() throws {
            let server = try PrivateKWallet.start()
            let probe = SecretServiceProbe(collection: "", environment: server.environment)
            #expect(probe.availability() == .available("KWallet answers on the session bus."))
        }

        @Test func whatIsLockedIsNeitherReadAsEmptyNorWrittenToNowhere() throws {
            let server = try PrivateKWallet.start()
            let driver = try server.driver()
            let never = CallContext(.retrieve, interaction: .never)
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            try driver.commit([.insert(.password("svc", "eve"), value("2"))])
            let records = try driver.records(RecordSelection(itemClass: .genericPassword))
            let record = try #require(records.first)
            try server.lock()
            func read<Value>(_ body: (any RecordReader) throws(KeychainError) -> Value) throws -> Value {
                try driver.read(never, body)
            }
            #expect(
                code { _ = try read { (reader) throws(KeychainError) in try reader.value(of: record) } }
                    == .interactionNotAllowed
            )
            #expect(
                code { _ = try read { (reader) throws(KeychainError) in try reader.values(of: records) } }
                    == .interactionNotAllowed
            )
            #expect(code { try driver.commit([.delete(record)], never) } == .interactionNotAllowed)
            let update = RecordMutation.update(old: record, new: record, value: value("3"))
            #expect(code { try driver.commit([update], never) } == .interactionNotAllowed)
            try server.unlock()
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
            #expect(try driver.item(.password("svc", "eve"))?.value == Data("2".utf8))
        }

        @Test func whatIsLockedUnderAWriterIsNotWrittenToNowhere() throws {
            let server = try PrivateKWallet.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let record = try #require(try driver.item(.password("svc", "bob"))).record
            let call = CallContext(.update, interaction: .never)
            // The writer has seen it unlocked.
            let update = {
                try driver.write(call) { (writer) throws(KeychainError) in
                    do { try server.lock() } catch { throw KeychainError(.internal, "\(error)") }
                    try writer.commit([.update(old: record, new: record, value: SecureBytes(Data("2".utf8)))])
                }
            }
            #expect(code { try update() } == .interactionNotAllowed)
            try server.unlock()
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
        }

        @Test func verbsLockAndTheLoginUnlocksAgain() throws {
            let server = try PrivateKWallet.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), value("1"))])
            let never = CallContext(.unlock, interaction: .never)
            for _ in 0..<3 {
                for _ in 0..<2 { try driver.lock(CallContext(.lock)) }
                #expect(code { try driver.unlock(never) } == .interactionNotAllowed)
                try server.unlock()
                #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
            }
        }

        @Test func valuesAreReadThoughOneOfThemHasVanished() throws {
            try Vanished.areLeftOut(try PrivateKWallet.start())
        }

        @Test func aByteOrderMarkIsKeptInAValueAndRefusedInAnAttribute() throws {
            try ByteOrderMark.isKeptOrRefused(try PrivateKWallet.start())
        }

        @Test func clearedAttributesAreGone() throws {
            let server = try PrivateKWallet.start()
            let driver = try server.driver()
            let selection = RecordSelection.password("svc", "bob")
            try driver.commit([.insert(.password("svc", "bob", [.comment: .text("c")]), value("1"))])
            try driver.update(selection) { $0.attributes[.comment] = nil }
            #expect(try driver.item(selection)?.record.attributes[.comment] == nil)
            #expect(try server.allAttributes().count == 1)
        }

        @Test(arguments: ["", "/", "a/b", "a/", "/a", "//", "__0__", "a__1__"])
        func labelsComeBack(label: String) throws {
            let driver = try Self.shared.get().driver()
            let service = UUID().uuidString
            for account in ["a", "b"] {
                try driver.commit([.insert(.password(service, account, [.label: .text(label)]), value("1"))])
            }
            for account in ["a", "b"] {
                let found = try #require(try driver.item(.password(service, account)))
                #expect(found.record.attributes[.label] == .text(label))
                #expect(found.value == Data("1".utf8))
            }
        }

        private static let shared = Result { try PrivateKWallet.start() }

        /// One session in a hundred has two different keys, and one in three hundred cannot be opened.
        @Test func sessionsThatDoNotWorkAreReplaced() throws {
            let server = try Self.shared.get()
            let service = UUID().uuidString
            let driver = try server.driver()
            for index in 0..<400 {
                let link = ServiceLink.to(server.bus.address)
                link.drop(try link.session(CallContext(.store)))
                let account = "\(index % 4)"
                let found = try driver.item(.password(service, account))
                #expect(found?.value == (index < 4 ? nil : Data("\(index - 4)".utf8)))
                if index < 4 {
                    try driver.commit([.insert(.password(service, account), value("\(index)"))])
                } else {
                    try driver.update(.password(service, account), value: Data("\(index)".utf8))
                }
            }
        }
    }
#endif
