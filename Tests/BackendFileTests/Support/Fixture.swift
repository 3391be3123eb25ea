// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    @testable import BackendFile

    /// A file in `Fixtures`: what is in it, and how it is opened.
    enum Fixture: String, CaseIterable {
        /// Opened with the raw key of ``Scratch``.
        case key
        /// Opened with a passphrase.
        case passphrase
        /// Opened with a passphrase that is a systemd credential, as its slot says.
        case credential
        /// Opened with a key that another store keeps, as its slot says.
        case store
        /// Opened with a changed passphrase, a raw key and a credential; a fourth slot was removed.
        case slots
        /// Rewritten, and written to after that; with items of every class.
        case compacted

        /// The text of the passphrase, of those that have one.
        static let text = "correct horse battery staple"

        private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures")

        /// Where a file of the folder is.
        static func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

        /// The file's bytes.
        var bytes: Data { get throws { try Data(contentsOf: Self.url("version-1-\(rawValue).keychain")) } }

        /// The passphrases and keys that open the file.
        var materials: [KeyMaterial] {
            get throws {
                switch self {
                case .key, .compacted: [.key(SecureBytes(Scratch.rawKey))]
                case .passphrase, .credential: [BackendFileTests.passphrase(Self.text)]
                case .store: [.key(SecureBytes(try Data(contentsOf: Self.url("version-1-store.key"))))]
                case .slots:
                    [
                        .key(SecureBytes(Scratch.rawKey)), BackendFileTests.passphrase("changed"),
                        BackendFileTests.passphrase(Self.text),
                    ]
                }
            }
        }

        /// What is in the file.
        var contents: [ItemRecord: Data] {
            let common: [ItemRecord: Data] = [
                Self.record(1, .genericPassword, "group", true, Self.password, -1, 1_700_000_000_000_001): Data([
                    0x73, 0, 0x0A, 0xFF,
                ]),
                Self.record(2, .internetPassword, "", false, Self.server, 2, 4): Data(),
            ]
            guard self == .compacted else { return common }
            return common.merging([
                Self.record(3, .key, "", false, Self.signingKey, 5, 5): Data(repeating: 0xC3, count: 1000),
                Self.record(4, .certificate, "", false, Self.certificate, 6, 7): Data("DER".utf8),
            ]) { old, _ in old }
        }

        private static let password: AttributeSet = {
            var password = AttributeSet()
            password[.service] = .text("svc")
            password[.account] = .text("böb")
            password[.label] = .text("A label")
            password[.creator] = .integer(-1)
            password[.generic] = .data(Data([0, 255]))
            password[.isNegative] = .boolean(true)
            return password
        }()

        private static let server: AttributeSet = {
            var server = AttributeSet()
            server[.server] = .text("example.com")
            server[.port] = .integer(8443)
            server[.comment] = .text("changed")
            return server
        }()

        private static let signingKey: AttributeSet = {
            var key = AttributeSet()
            key[.keyClass] = .text("private")
            key[.keySizeInBits] = .integer(256)
            key[.applicationTag] = .data(Data([1, 2, 3]))
            key[.canSign] = .boolean(true)
            key[.canDecrypt] = .boolean(false)
            return key
        }()

        private static let certificate: AttributeSet = {
            var certificate = AttributeSet()
            certificate[.certificateType] = .integer(3)
            certificate[.issuer] = .data(Data([0x30, 0]))
            certificate[.serialNumber] = .data(Data([0x7F]))
            certificate[.label] = .text("")
            return certificate
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
    }

    extension FileDriver {
        /// Every record with its value.
        func valuesByRecord() throws(KeychainError) -> [ItemRecord: Data] {
            try read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                var contents: [ItemRecord: Data] = [:]
                for record in try reader.records(RecordSelection()) {
                    contents[record] = try reader.value(of: record).data
                }
                return contents
            }
        }
    }
#endif
