// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Files that version 1 has written, kept for good: every later version reads them, and means the same.
    struct FixtureTests {
        private let scratch = Scratch()

        private static let keys: [String: KeyMaterial] = [
            "key": .key(SecureBytes(Scratch.rawKey)), "passphrase": passphrase("correct horse battery staple"),
        ]

        private static let expected: [ItemRecord: Data] = {
            var password = AttributeSet()
            password[.service] = .text("svc")
            password[.account] = .text("böb")
            password[.label] = .text("A label")
            password[.creator] = .integer(-1)
            password[.generic] = .data(Data([0, 255]))
            password[.isNegative] = .boolean(true)
            var server = AttributeSet()
            server[.server] = .text("example.com")
            server[.port] = .integer(8443)
            server[.comment] = .text("changed")
            return [
                record(1, .genericPassword, "group", true, password, -1, 1_700_000_000_000_001): Data([
                    0x73, 0, 0x0A, 0xFF,
                ]),
                record(2, .internetPassword, "", false, server, 2, 4): Data(),
            ]
        }()

        private static func record(
            _ number: UInt8,
            _ itemClass: ItemClass,
            _ group: String,
            _ isSynchronizable: Bool,
            _ attributes: AttributeSet,
            _ created: Int64,
            _ modified: Int64
        ) -> ItemRecord {
            ItemRecord(
                reference: UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number)),
                itemClass: itemClass,
                accessGroup: group,
                isSynchronizable: isSynchronizable,
                attributes: attributes,
                creationDate: ItemDate(microseconds: created),
                modificationDate: ItemDate(microseconds: modified)
            )
        }

        @Test(arguments: ["key", "passphrase"])
        func aFileOfVersionOneMeansTheSame(kind: String) throws {
            let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "Fixtures"
            )
            try scratch.put(Data(contentsOf: fixtures.appendingPathComponent("version-1-\(kind).keychain")))
            let driver = try scratch.driver(key: #require(Self.keys[kind]), creation: .never)
            let contents = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                var contents: [ItemRecord: Data] = [:]
                for record in try reader.records(RecordSelection()) {
                    contents[record] = try reader.value(of: record).data
                }
                return contents
            }
            #expect(contents == Self.expected)
            try driver.add("new", "x")
            #expect(try scratch.driver(key: #require(Self.keys[kind])).all().count == 3)
        }
    }
#endif
