// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// What a commit leaves behind, also when it fails half-way.
    @Suite struct WriterTests {
        private func insert(_ account: String, _ value: String = "v") -> RecordMutation {
            .insert(.password("svc", account), SecureBytes(Data(value.utf8)))
        }

        /// An update of an item that is not there: a mutation that always fails.
        private var failing: RecordMutation {
            var record = ItemRecord.password("svc", "nobody")
            record.handle = "\(PrivateKeyring.defaultCollection)/99999"
            return .update(old: record, new: record, value: SecureBytes(Data("x".utf8)))
        }

        private func values(_ driver: SecretServiceDriver) throws -> [String: String] {
            try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                var values: [String: String] = [:]
                let records = try reader.records(RecordSelection(itemClass: .genericPassword))
                for (record, value) in zip(records, try reader.values(of: records)) {
                    guard case .text(let account)? = record.attributes[.account], let value else { continue }
                    values[account] = String(decoding: Data(value), as: UTF8.self)
                }
                return values
            }
        }

        @Test func aFailedBatchRestoresAnItemThatHadFewerAttributes() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a", "1")])
            let record = try #require(try driver.item(.password("svc", "a"))).record
            var changed = record
            changed.attributes[.label] = .text("changed")
            changed.attributes[.comment] = .text("changed")
            #expect(
                code { try driver.commit([.update(old: record, new: changed, value: nil), failing]) } == .itemNotFound
            )
            let after = try #require(try driver.item(.password("svc", "a")))
            #expect(after.value == Data("1".utf8) && after.record.attributes == record.attributes)
            #expect(try keyring.allAttributes().count == 1)
        }

        @Test func aFailedBatchLeavesNothingBehind() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a", "1"), insert("b", "2"), insert("c", "3"), insert("d", "4\n")])
            func record(_ account: String) throws -> ItemRecord {
                try #require(try driver.item(.password("svc", account))).record
            }
            let before = try driver.records(RecordSelection(itemClass: .genericPassword))
            let (a, b, c, d) = (try record("a"), try record("b"), try record("c"), try record("d"))
            var commented = b
            commented.attributes[.comment] = .text("changed")
            var both = c
            both.attributes[.label] = .text("changed")
            let new = SecureBytes(Data(repeating: 0x61, count: 9000))
            let error = #expect(throws: KeychainError.self) {
                try driver.commit([
                    insert("e"), .update(old: a, new: a, value: new), .update(old: b, new: commented, value: nil),
                    .update(old: c, new: both, value: new), .delete(d), failing,
                ])
            }
            #expect(error?.code == .itemNotFound)
            #expect(error?.message.contains("could not be taken back") == false)
            #expect(try values(driver) == ["a": "1", "b": "2", "c": "3", "d": "4\n"])
            let after = try driver.records(RecordSelection(itemClass: .genericPassword))
            func identities(_ records: [ItemRecord]) -> Set<[String]> {
                Set(records.map { ["\($0.reference)", "\($0.creationDate)", "\($0.attributes)"] })
            }
            #expect(identities(after) == identities(before))
        }

        @Test func aCancelledBatchIsTakenBack() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            let call = CallContext(.store)
            #expect(
                code {
                    try driver.write(call) { (writer) throws(KeychainError) in
                        try writer.commit([insert("a"), insert("b")])
                        call.cancel()
                        try writer.commit([insert("c"), insert("d")])
                    }
                } == .cancelled
            )
            #expect(try values(driver) == ["a": "v", "b": "v"])
        }

        @Test func aValueAloneIsReplacedInPlace() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a", "1")])
            let before = try #require(try driver.item(.password("svc", "a"))).record
            let attributes = try keyring.allAttributes()
            try driver.update(.password("svc", "a"), value: Data("2".utf8))
            let after = try #require(try driver.item(.password("svc", "a")))
            #expect(after.value == Data("2".utf8))
            #expect(after.record.handle == before.handle && after.record.attributes == before.attributes)
            // When it was changed is recorded, unless that was in the second in which it was created.
            let changed = try keyring.allAttributes().map { $0.filter { $0.key != "keychain.modified" } }
            #expect(changed == attributes)
            // A longer one is recorded before it is written, a shorter one changes nothing.
            try driver.update(.password("svc", "a"), value: Data(repeating: 1, count: 5000))
            #expect(try keyring.allAttributes().map { $0["keychain.length"] } == ["8192"])
            try driver.update(.password("svc", "a"), value: Data("3".utf8))
            #expect(try keyring.allAttributes().map { $0["keychain.length"] } == ["8192"])
            #expect(try driver.item(.password("svc", "a"))?.value == Data("3".utf8))
        }

        @Test func attributesAloneAreReplacedInPlace() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a", "1\n")])
            let before = try #require(try driver.item(.password("svc", "a"))).record
            try driver.update(.password("svc", "a")) {
                $0.attributes[.comment] = .text("c")
                $0.attributes[.creator] = .integer(7)
            }
            try driver.update(.password("svc", "a")) { $0.attributes[.comment] = nil }
            let after = try #require(try driver.item(.password("svc", "a")))
            #expect(after.record.handle == before.handle && after.value == Data("1\n".utf8))
            #expect(after.record.attributes[.comment] == nil && after.record.attributes[.creator] == .integer(7))
        }

        @Test func everythingAtOnceKeepsReferenceAndCreation() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a", "1")])
            let before = try #require(try driver.item(.password("svc", "a"))).record
            try driver.update(.password("svc", "a"), value: Data("2".utf8)) {
                $0.attributes[.account] = .text("b")
                $0.attributes[.label] = .text("L")
                $0.attributes[.comment] = .text("c")
            }
            #expect(try driver.records(.password("svc", "a")).isEmpty)
            let after = try #require(try driver.item(.password("svc", "b")))
            #expect(after.value == Data("2".utf8))
            #expect(after.record.reference == before.reference && after.record.creationDate == before.creationDate)
            #expect(after.record.attributes[.label] == .text("L") && after.record.attributes[.comment] == .text("c"))
            #expect(try keyring.allAttributes().count == 1)
            #expect(try keyring.secretTool(["lookup", "service", "svc", "username", "b"]).text == "2")
            // Renaming alone keeps the value.
            try driver.update(.password("svc", "b")) { $0.attributes[.account] = .text("c") }
            #expect(try driver.item(.password("svc", "c"))?.value == Data("2".utf8))
        }

        @Test func unknownAttributesOfOursAreKept() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a")])
            var attributes = try #require(try keyring.allAttributes().first)
            attributes["keychain.future"] = "kept"
            try driver.commit([.delete(try #require(try driver.item(.password("svc", "a"))).record)])
            try keyring.createItem(attributes, secret: Data("v".utf8))
            try driver.update(.password("svc", "a")) { $0.attributes[.comment] = .text("c") }
            try driver.update(.password("svc", "a"), value: Data("w".utf8)) { $0.attributes[.label] = .text("L") }
            #expect(try keyring.allAttributes().map { $0["keychain.future"] } == ["kept"])
        }

        @Test func deletingWhatIsGoneIsNoError() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a"), insert("b")])
            try driver.write(CallContext(.remove)) { (writer) throws(KeychainError) in
                let records = try writer.records(RecordSelection(itemClass: .genericPassword))
                #expect(throws: Never.self) {
                    _ = try keyring.secretTool(["clear", "service", "svc", "username", "a"])
                }
                try writer.commit(records.map { .delete($0) })
            }
            #expect(try keyring.allAttributes().isEmpty)
        }

        @Test func anItemThatChangedItsIdentityIsNotDeleted() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try keyring.createItem(["service": "svc", "username": "a"], secret: Data("v".utf8))
            try driver.write(CallContext(.remove)) { (writer) throws(KeychainError) in
                let records = try writer.records(.password("svc", "a"))
                #expect(throws: Never.self) {
                    _ = try keyring.python(
                        """
                        import secretstorage
                        connection = secretstorage.dbus_init()
                        next(secretstorage.get_default_collection(connection).search_items({'username': 'a'})) \\
                            .set_attributes({'service': 'svc', 'username': 'other'})
                        """
                    )
                }
                try writer.commit(records.map { .delete($0) })
            }
            #expect(try driver.item(.password("svc", "other"))?.value == Data("v".utf8))
        }

        @Test func aValueThatVanishedIsLeftOutOfAList() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a"), insert("b")])
            let values = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) -> [SecureBytes?] in
                let records = try reader.records(RecordSelection(itemClass: .genericPassword)).sorted {
                    $0.isOrderedBefore($1)
                }
                #expect(throws: Never.self) {
                    _ = try keyring.secretTool(["clear", "service", "svc", "username", "a"])
                }
                #expect(code { _ = try reader.value(of: records[0]) } == .itemNotFound)
                return try reader.values(of: records)
            }
            #expect(values.map { $0 == nil } == [true, false])
        }

        @Test(arguments: ["", "keychain-1:", "keychain-1:00000000:AAAA", "keychain-1:00000000:AAAA."])
        func aTornValueIsCorrupt(secret: String) throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("a"), insert("b", "intact")])
            let attributes = try #require(try keyring.allAttributes().first { $0["username"] == "a" })
            try driver.commit([.delete(try #require(try driver.item(.password("svc", "a"))).record)])
            try keyring.createItem(attributes, secret: Data(secret.utf8))
            #expect(code { _ = try driver.item(.password("svc", "a")) } == .corrupt)
            #expect(try driver.records(.password("svc", "a")).count == 1)
            #expect(try driver.item(.password("svc", "b"))?.value == Data("intact".utf8))
            // Storing it again mends it.
            try driver.update(.password("svc", "a"), value: Data("new".utf8))
            #expect(try driver.item(.password("svc", "a"))?.value == Data("new".utf8))
        }

        @Test func anEmptyForeignValueIsEmptyAndNotCorrupt() throws {
            let keyring = try PrivateKeyring.start()
            try keyring.createItem(["service": "svc", "username": "a"], secret: Data())
            #expect(try keyring.driver().item(.password("svc", "a"))?.value == Data())
        }

        @Test func aLockThatIsHeldIsBusyAndNamesItsHolder() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            let other = try keyring.driver()
            try driver.write(CallContext(.store)) { (_) throws(KeychainError) in
                let error = #expect(throws: KeychainError.self) {
                    try other.commit([insert("a")], CallContext(.store, timeout: .milliseconds(100)))
                }
                #expect(error?.code == .busy)
                #expect(error?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
                #expect(throws: Never.self) { try other.records(.password("svc", "a")) }
            }
        }
    }
#endif
