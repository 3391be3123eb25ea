// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Values that some server, file format or program is known to alter.
    ///
    /// Computed, because the leak checker does not see through the bits that `Data` keeps in its pointers.
    var awkwardValues: [(name: String, value: Data)] {
        [
            ("empty", Data()), ("plain", Data("s3cret".utf8)), ("NUL", Data([0])),
            ("NUL inside", Data([0x61, 0, 0x62])),
            ("newline", Data("line1\nline2\n".utf8)), ("backslash", Data("back\\slash\\n".utf8)),
            ("leading blanks", Data("  x".utf8)), ("trailing blank", Data("x ".utf8)), ("tab", Data("\tx".utf8)),
            ("invalid UTF-8", Data([0xFF, 0xFE, 0x80])), ("emoji", Data("🔑 geheim".utf8)),
            ("injection", Data("a\n[9]\nsecret=evil".utf8)),
            ("like an envelope", Data("keychain-1:00000000:.".utf8)), ("carriage return", Data("a\r".utf8)),
            ("all bytes", Data((0...255).map { UInt8($0) })),
        ]
    }

    @Suite struct RoundTripTests {
        @Test(arguments: ["correct horse", ""])
        func valuesAreExactAlsoAfterARestart(password: String) throws {
            let keyring = try PrivateKeyring.start(password: password)
            let driver = try keyring.driver()
            for (name, value) in awkwardValues {
                try driver.commit([.insert(.password("svc", name), SecureBytes(value))])
                #expect(try driver.item(.password("svc", name))?.value == value, "\(name)")
            }
            try keyring.restartDaemon()
            for (name, value) in awkwardValues {
                #expect(try driver.item(.password("svc", name))?.value == value, "\(name)")
            }
        }

        @Test(arguments: ["correct horse", ""])
        func namesAreExactAlsoAfterARestart(password: String) throws {
            let keyring = try PrivateKeyring.start(password: password)
            let driver = try keyring.driver()
            let names = ["", "🔑", "e\u{301}", "\u{E9}", " lead", "a\\b\\n", "[x]", "a=b", "line\nline", "trail "]
            var records: [ItemRecord] = []
            for name in names {
                records.append(
                    .password(
                        name,
                        name,
                        [.label: .text(name), .comment: .text(name), .generic: .data(Data([0, 255]))]
                    )
                )
            }
            for record in records { try driver.commit([.insert(record, SecureBytes(Data("v".utf8)))]) }
            for isRestarted in [false, true] {
                if isRestarted { try keyring.restartDaemon() }
                for record in records {
                    let found = try driver.records(record.selection)
                    #expect(found.count == 1, "\(record.attributes)")
                    #expect(found.first?.attributes == record.attributes)
                    #expect(found.first?.reference == record.reference)
                    #expect(found.first?.creationDate == record.creationDate)
                }
            }
        }

        @Test func everyClassAndGroupKeepsItsAttributes() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            let records: [ItemRecord] = [
                .password(
                    "svc",
                    "bob",
                    group: "team",
                    isSynchronizable: true,
                    [
                        .creator: .integer(-7), .isInvisible: .boolean(true), .isNegative: .boolean(false),
                        .accessible: .text("ak"),
                    ]
                ),
                .password("svc", "bob", group: "team"),
                .password("svc", "bob"),
                .new(
                    .internetPassword,
                    [
                        .server: .text("example.org"), .protocol: .text("https"), .port: .integer(8443),
                        .path: .text("/a"),
                        .account: .text("bob"), .authenticationType: .text("form"), .securityDomain: .text("realm"),
                        .description: .text("d"),
                    ]
                ),
                .new(
                    .key,
                    [
                        .keyClass: .text("private"), .keyType: .text("ec"), .keySizeInBits: .integer(256),
                        .applicationTag: .data(Data("tag".utf8)), .canSign: .boolean(true), .label: .text("Signing"),
                    ]
                ),
                .new(
                    .certificate,
                    [
                        .certificateType: .integer(3), .issuer: .data(Data([1, 2])), .serialNumber: .data(Data([0])),
                        .subject: .data(Data()),
                    ]
                ),
            ]
            for (index, record) in records.enumerated() {
                try driver.commit([.insert(record, SecureBytes(Data([UInt8(index)])))])
            }
            try keyring.restartDaemon()
            for (index, record) in records.enumerated() {
                let found = try driver.item(record.selection)
                #expect(found?.value == Data([UInt8(index)]))
                #expect(found?.record.attributes == record.attributes)
                #expect(found?.record.accessGroup == record.accessGroup)
                #expect(found?.record.isSynchronizable == record.isSynchronizable)
                #expect(found?.record.itemClass == record.itemClass)
            }
        }

        @Test(arguments: [1 << 20, 16 << 20])
        func largeValues(count: Int) throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver(maximumValueSize: 16 << 20)
            var generator = SystemRandomNumberGenerator()
            let value = Data((0..<(count / 8)).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } })
            try driver.commit([.insert(.password("svc", "large"), SecureBytes(value))])
            #expect(try driver.item(.password("svc", "large"))?.value == value)
            let more = Data(value.reversed())
            try driver.update(.password("svc", "large"), value: more)
            #expect(try driver.item(.password("svc", "large"))?.value == more)
        }

        @Test func tooLargeIsRefusedBeforeAnythingIsWritten() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver(maximumValueSize: 10)
            let small = RecordMutation.insert(.password("svc", "small"), SecureBytes(Data(count: 10)))
            let large = RecordMutation.insert(.password("svc", "large"), SecureBytes(Data(count: 11)))
            #expect(code { try driver.commit([small, large]) } == .dataTooLarge)
            #expect(try keyring.allAttributes().isEmpty)
            #expect(code { _ = try keyring.driver(maximumValueSize: 16 << 20 + 1) } == .invalidParameter)
        }

        @Test func nulInAnAttributeNeverReachesTheBus() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            let record = ItemRecord.password("a\0b", "bob")
            #expect(code { try driver.commit([.insert(record, SecureBytes(Data()))]) } == .invalidParameter)
            #expect(code { _ = try driver.records(record.selection) } == .invalidParameter)
            #expect(try driver.records(.password("a", "bob")).isEmpty)
        }

        @Test func manyValuesAtOnce() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver(maximumValueSize: 4 << 20)
            let values = (0..<80).map { Data("value \($0)\n".utf8) } + [Data(count: 4 << 20), Data(count: 4 << 20)]
            for (index, value) in values.enumerated() {
                try driver.commit([.insert(.password("many", "\(index)"), SecureBytes(value))])
            }
            try keyring.createItem(["service": "many", "username": "foreign"], secret: Data("raw\n".utf8))
            let read = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) -> [String: Data?] in
                let records = try reader.records(RecordSelection(itemClass: .genericPassword, accessGroup: ""))
                var read: [String: Data?] = [:]
                for (record, value) in zip(records, try reader.values(of: records)) {
                    guard case .text(let account)? = record.attributes[.account] else { continue }
                    read[account] = .some(value.map { Data($0) })
                }
                return read
            }
            #expect(read.count == values.count + 1)
            for (index, value) in values.enumerated() { #expect(read["\(index)"] == value) }
            #expect(read["foreign"] == Data("raw\n".utf8))
        }
    }
#endif
