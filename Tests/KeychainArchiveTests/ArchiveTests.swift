// SPDX-License-Identifier: MIT

#if File
    import BackendFile
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainAuthentication
    import KeychainSodium
    import Testing

    @testable import KeychainArchive

    /// What is written is read, and nothing else is.
    struct ArchiveTests {
        private typealias Item = (record: ItemRecord, value: SecureBytes)

        private static let passphrase = KeyMaterial.passphrase(SecureBytes(Data("correct horse".utf8)))
        private static let key = KeyMaterial.key(SecureBytes(Data(repeating: 7, count: 32)))

        private func filled() throws -> Keychain {
            let keychain = Keychain(driver: MemoryDriver())
            var full = SecItemQuery<GenericPassword>()
            full.account = "e\u{301}/\"\\\u{1F511}"
            full.service = "service\n\t"
            full.label = "label"
            full.creator = FourCharCode("abcd")
            full.isInvisible = true
            full.generic = Data([0, 255, 10])
            try keychain.store(Data([0, 1, 255]), query: full, accessPolicy: AccessPolicy(.afterFirstUnlock))
            try keychain.store(Data(), query: .credential(for: "empty"))
            var web = SecItemQuery<InternetPassword>()
            web.server = "example.com"
            web.port = 8443
            web.account = "alice"
            web.synchronizable = .synchronizable
            try keychain.store("web", query: web)
            var certificate = SecItemQuery<SecCertificate>()
            certificate.serialNumber = Data([1])
            try keychain.with { $0.accessGroup = AccessGroup(rawValue: "team") }.store(
                Data("der".utf8),
                query: certificate
            )
            for count in [65_535, 65_536, 65_537, 200_000] {
                try keychain.store(
                    Data(repeating: UInt8(count & 255), count: count),
                    query: .credential(for: "\(count)")
                )
            }
            return keychain
        }

        private func archive(_ keychain: Keychain, _ key: KeyMaterial = passphrase) throws -> [UInt8] {
            var bytes: [UInt8] = []
            let outgoing = try keychain.outgoing([RecordSelection()], keychain.exporting()) { _ in }
            _ = try KeychainArchive.write(outgoing, key: key, cost: .minimal) { bytes += Array($0) }
            return bytes
        }

        /// Reads from memory, a few bytes at a time as a pipe may give them.
        private func read(
            _ archive: [UInt8],
            _ key: KeyMaterial = passphrase,
            step: Int = .max
        ) throws(KeychainError) -> [Item] {
            var rest = archive[...]
            return try KeychainArchive.read(key: { key }) { target in
                let part = rest.prefix(min(target.count, step))
                target.copyBytes(from: part)
                rest = rest.dropFirst(part.count)
                return part.count
            }
        }

        private struct Content: Hashable {
            let itemClass: ItemClass
            let group: String
            let isSynchronizable: Bool
            let attributes: AttributeSet
            let value: Data

            init(_ item: Item) {
                itemClass = item.record.itemClass
                group = item.record.accessGroup
                isSynchronizable = item.record.isSynchronizable
                attributes = item.record.attributes
                value = item.value.withBytes { Data($0) }
            }
        }

        private func contents(_ keychain: Keychain) throws -> [Content] {
            try keychain.outgoing([RecordSelection()], keychain.exporting()) { _ in }.items.map(Content.init)
        }

        @Test(arguments: [1, 7, 65_553, Int.max])
        func everythingComesBackInItsOrder(step: Int) throws {
            let keychain = try filled()
            #expect(try read(archive(keychain), step: step).map(Content.init) == contents(keychain))
            #expect(try read(archive(keychain, Self.key), Self.key, step: step).map(Content.init) == contents(keychain))
        }

        @Test func lengthsAtTheEndOfAMessageAreRead() throws {
            // Whatever the description takes: some of these end with a full last message, some just before and after.
            for count in 65_200..<65_340 {
                let keychain = Keychain(driver: MemoryDriver())
                try keychain.store(Data(count: count), query: .credential(for: "a"))
                #expect(try read(archive(keychain, Self.key), Self.key).first?.value.count == count)
            }
        }

        @Test func twoArchivesOfTheSameHaveNothingInCommon() throws {
            let keychain = try filled()
            let (first, second) = (try archive(keychain), try archive(keychain))
            #expect(first.count == second.count)
            #expect(first[24...] != second[24...])
            #expect(zip(first[64...], second[64...]).count { $0 == $1 } < first.count / 100)
        }

        @Test func nothingOfAValueOrANameIsInClear() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store("s3cret-value", query: .credential(for: "account-name"))
            let bytes = Data(try archive(keychain))
            for text in ["s3cret-value", "account-name", "genp"] {
                #expect(bytes.range(of: Data(text.utf8)) == nil)
            }
        }

        @Test func aChangeOfAnyByteIsNoticed() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store("value", query: .credential(for: "account"))
            let whole = try archive(keychain)
            for index in whole.indices {
                var changed = whole
                changed[index] ^= 0x10
                let error = #expect(throws: KeychainError.self) { try read(changed) }
                let expected: KeychainError.Code =
                    switch index {
                    case 0..<8: .decode
                    case 8: .unsupported
                    case 9..<12: .corrupt
                    // A cost that is out of the limits, or another key.
                    case 12..<24: error?.code == .corrupt ? .corrupt : .authenticationFailed
                    case 24..<81: .authenticationFailed
                    default: .corrupt
                    }
                #expect(error?.code == expected, "byte \(index)")
            }
        }

        @Test func anArchiveThatWasCutOffIsNoticed() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store(Data(count: 70_000), query: .credential(for: "account"))
            let whole = try archive(keychain, Self.key)
            for count in Array(0..<200) + Array(65_500..<65_700) + Array((whole.count - 200)..<whole.count) {
                let error = #expect(throws: KeychainError.self) { try read(Array(whole[..<count]), Self.key) }
                #expect(error?.code == (count < 40 ? .decode : .corrupt), "\(count) bytes")
            }
            let error = #expect(throws: KeychainError.self) { try read(whole + [0], Self.key) }
            #expect(error?.code == .corrupt)
        }

        @Test func messagesCannotBeLeftOutRepeatedOrExchanged() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store(Data(count: 200_000), query: .credential(for: "account"))
            let whole = try archive(keychain, Self.key)
            let size = 65_553
            let messages = stride(from: 81, to: whole.count, by: size).map { whole[$0..<min($0 + size, whole.count)] }
            try #require(messages.count == 4)
            for order in [[0, 1, 3], [1, 2, 3], [0, 0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 2], [3], [0, 1, 2, 3, 3]] {
                let error = #expect(throws: KeychainError.self) {
                    try read(whole[..<81] + order.flatMap { messages[$0] }, Self.key)
                }
                #expect(error?.code == .corrupt, "\(order)")
            }
        }

        @Test func anotherKeyOpensNothing() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store("value", query: .credential(for: "account"))
            let other = KeyMaterial.passphrase(SecureBytes(Data("other".utf8)))
            let otherKey = KeyMaterial.key(SecureBytes(Data(repeating: 8, count: 32)))
            for (written, given) in [
                (Self.passphrase, other), (Self.passphrase, Self.key), (Self.key, otherKey),
                (Self.key, Self.passphrase),
            ] {
                let bytes = try archive(keychain, written)
                let error = #expect(throws: KeychainError.self) { try read(bytes, given) }
                #expect(error?.code == .authenticationFailed)
            }
            for material in [KeyMaterial.passphrase(SecureBytes(Data())), .key(SecureBytes(Data([1])))] {
                let error = #expect(throws: KeychainError.self) { try archive(keychain, material) }
                #expect(error?.code == .invalidParameter)
            }
        }

        @Test func aCostBeyondTheLimitsIsRefusedBeforeAnyWork() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store("value", query: .credential(for: "account"))
            for (passes, memory) in [
                (UInt32(0), UInt64(8192)), (17, 8192), (1, 8191), (1, 2 << 30), (16, 1 << 30), (.max, .max),
            ] {
                var bytes = try archive(keychain)
                withUnsafeBytes(of: passes.littleEndian) { bytes.replaceSubrange(12..<16, with: $0) }
                withUnsafeBytes(of: memory.littleEndian) { bytes.replaceSubrange(16..<24, with: $0) }
                let error = #expect(throws: KeychainError.self) { try read(bytes) }
                #expect(error?.code == .corrupt)
            }
        }

        /// An archive of someone who has the key and writes what no library does.
        private func forged(_ texts: [String], lastIsFinal: Bool = true) throws -> [UInt8] {
            let header = ArchiveHeader(Self.key, .minimal)
            let (stream, start) = try SecretStream.sealing(with: header.key(from: Self.key))
            var bytes = header.bytes + start
            bytes += stream.seal(SecureBytes(Data()), associated: header.bytes, isLast: false)
            for (index, text) in texts.enumerated() {
                let isLast = lastIsFinal && index == texts.count - 1
                bytes += stream.seal(SecureBytes(Data(text.utf8)), associated: header.bytes, isLast: isLast)
            }
            return bytes
        }

        private func item(_ description: String, value: String = "v") -> String {
            let lengths = [UInt8(description.utf8.count & 255), UInt8(description.utf8.count >> 8), 0, 0]
            let length = [UInt8(value.utf8.count), 0, 0, 0, 0, 0, 0, 0]
            return String(decoding: lengths, as: UTF8.self) + description + String(decoding: length, as: UTF8.self)
                + value
        }

        @Test func whatIsWellFormedIsRead() throws {
            let text = item(#"{"attributes":{"service":"s"},"class":"genp","group":"","synchronizable":false}"#)
            let items = try read(forged([text + text]), Self.key)
            #expect(items.count == 2 && items.allSatisfy { $0.record.attributes[.service] == .text("s") })
        }

        @Test(arguments: [
            ("", KeychainError.Code.corrupt), ("{}", .corrupt), ("[]", .corrupt), ("nonsense", .corrupt),
            (#"{"attributes":{},"class":"idnt","group":"","synchronizable":false}"#, .unsupported),
            (#"{"attributes":{},"class":"new!","group":"","synchronizable":false}"#, .unsupported),
            (#"{"attributes":{"later":"x"},"class":"genp","group":"","synchronizable":false}"#, .unsupported),
            (#"{"attributes":{"service":1},"class":"genp","group":"","synchronizable":false}"#, .unsupported),
            (#"{"attributes":{"service":null},"class":"genp","group":"","synchronizable":false}"#, .corrupt),
            (#"{"attributes":{"generic":{"base64":"!"}},"class":"genp","group":"","synchronizable":false}"#, .corrupt),
            (#"{"attributes":{"service":"s"},"class":"genp","group":"","synchronizable":0}"#, .corrupt),
            (#"{"attributes":{"creator":1.5},"class":"genp","group":"","synchronizable":false}"#, .corrupt),
        ])
        func whatIsNoItemIsRefused(description: String, code: KeychainError.Code) throws {
            let error = #expect(throws: KeychainError.self) { try read(forged([item(description)]), Self.key) }
            #expect(error?.code == code)
        }

        @Test func aLengthProvesNothing() throws {
            let most = String(repeating: "\u{7F}", count: 8)
            let description = #"{"attributes":{},"class":"genp","group":"","synchronizable":false}"#
            let start = String(item(description).unicodeScalars.dropLast(9).map(Character.init))
            for texts in [["\u{7F}\u{7F}\u{7F}\u{7F}"], ["\u{1}"], [start + most], [start + most + "v"], [start]] {
                let error = #expect(throws: KeychainError.self) { try read(forged(texts), Self.key) }
                #expect(error?.code == .corrupt)
            }
        }

        @Test func messagesThatNoLibraryWritesAreRefused() throws {
            let text = item(#"{"attributes":{"service":"s"},"class":"genp","group":"","synchronizable":false}"#)
            for (texts, isFinal) in [(["", text], true), ([text, ""], true), ([text], false), ([text, text], true)] {
                let error = #expect(throws: KeychainError.self) {
                    try read(forged(texts, lastIsFinal: isFinal), Self.key)
                }
                #expect(error?.code == .corrupt)
            }
        }
    }
#endif
