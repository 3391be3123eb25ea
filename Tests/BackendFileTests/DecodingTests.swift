// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Bytes that nobody vouches for, given straight to the decoders: they throw or give sense, and never trap.
    struct DecodingTests {
        private static let record: ItemRecord = {
            var attributes = AttributeSet()
            attributes[.service] = .text("svc")
            attributes[.account] = .text("böb")
            attributes[.generic] = .data(Data([1, 2, 3]))
            attributes[.creator] = .integer(-1)
            attributes[.isNegative] = .boolean(true)
            return ItemRecord(
                reference: UUID(),
                itemClass: .genericPassword,
                accessGroup: "group",
                isSynchronizable: true,
                attributes: attributes,
                creationDate: ItemDate(microseconds: 1),
                modificationDate: ItemDate(microseconds: 2)
            )
        }()

        private func encoded() throws -> [UInt8] {
            var operation = RecordOperation(.replace, Self.record)
            operation.value = ValuePlace(offset: 0, count: 5, sealedCount: 48, sequence: 9, nonce: .random())
            var writer = ByteWriter()
            try operation.encode(into: &writer)
            return writer.bytes
        }

        private func decode(_ bytes: [UInt8]) throws(KeychainError) -> RecordOperation {
            try bytes.withByteReader { (reader) throws(KeychainError) in
                var offset: UInt64 = 100
                return try RecordOperation(from: &reader, valueOffset: &offset, sequence: 9)
            }
        }

        @Test func anOperationComesBack() throws {
            let operation = try decode(try encoded())
            #expect(operation.kind == .replace)
            #expect(operation.record == Self.record)
            #expect(operation.value?.offset == 100)
            #expect(operation.value?.count == 5)
            #expect(operation.encodedCount == (try encoded().count))
        }

        @Test func everyCutOfAnOperationIsRefused() throws {
            let bytes = try encoded()
            for length in 0..<bytes.count {
                #expect(code { () throws(KeychainError) in _ = try decode(Array(bytes.prefix(length))) } == .corrupt)
            }
        }

        @Test func whateverTheBytesAreNothingTraps() throws {
            let valid = try encoded()
            var outcomes: Set<KeychainError.Code?> = []
            for _ in 0..<20_000 {
                var bytes = valid
                for _ in 0..<Int.random(in: 1...4) {
                    let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255)]
                    bytes[Int.random(in: 0..<bytes.count)] = extremes.randomElement() ?? 0
                }
                if Bool.random() { bytes.removeLast(Int.random(in: 0..<bytes.count)) }
                outcomes.insert(code { () throws(KeychainError) in _ = try decode(bytes) })
            }
            #expect(outcomes == [nil, .corrupt, .unsupported])
        }

        @Test func whateverTheHeaderIsNothingTraps() throws {
            let storeID = Sodium.random(16)
            let slot = try KeySlot(
                master: Sodium.randomKey(),
                material: .key(Sodium.randomKey()),
                storeID: storeID,
                cost: .minimal
            )
            let page = FileHeader(storeID: storeID, slot: slot).encoded(key: Sodium.randomKey())
            for _ in 0..<2_000 {
                var bytes = page
                let places = [10, 11, 48, 56, 64, 65, 68, 71, 72, 79, Int.random(in: 12..<4000)]
                for _ in 0..<Int.random(in: 1...4) {
                    bytes[places.randomElement() ?? 0] = [0, 1, 2, 0x7F, 0x80, 0xFF].randomElement() ?? 0
                }
                bytes.replaceSubrange(
                    FileLayout.headerChecksumStart...,
                    with: Sodium.hash(Array(bytes[..<FileLayout.headerChecksumStart]))
                )
                guard case .valid(let header) = try FileHeader.examine(bytes) else { continue }
                let code = code { () throws(KeychainError) in _ = try header.keySlots() }
                #expect([nil, .corrupt, .unsupported].contains(code))
            }
        }

        @Test func aRecordThatCannotBeStoredIsRefused() throws {
            var long = Self.record
            long.attributes[AttributeName(rawValue: String(repeating: "a", count: 256))] = .boolean(true)
            var identity = Self.record
            identity.itemClass = .identity
            for record in [long, identity] {
                let code = code { () throws(KeychainError) in
                    var operation = RecordOperation(.change, record)
                    var writer = ByteWriter()
                    try operation.encode(into: &writer)
                }
                #expect(code == .invalidParameter)
            }
        }

        @Test func aHeadThatCannotBeTrueIsNoFrame() {
            func head(_ frame: UInt64, _ metadata: UInt32, reserved: UInt32 = 0, available: UInt64) -> Frame.Head? {
                var writer = ByteWriter()
                writer.append(frame)
                writer.append(metadata)
                writer.append(reserved)
                writer.pad(to: FileLayout.frameHeadSize)
                return writer.bytes.withUnsafeBytes { Frame.Head($0, available: available) }
            }
            #expect(head(200, 160, available: 200) != nil)
            #expect(head(200, 160, reserved: 1 << 24, available: 200) == nil)
            #expect(head(200, 161, available: 200) == nil)
            #expect(head(200, 16, available: 200) == nil)
            #expect(head(201, 160, available: 200) == nil)
            #expect(head(.max, .max, available: .max) == nil)
            #expect(head(0, 0, available: 200) == nil)
        }
    }
#endif
