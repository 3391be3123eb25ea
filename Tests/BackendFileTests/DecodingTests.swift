// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import KeychainSodium
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

        private func encoded(_ kind: OperationKind = .replace, _ record: ItemRecord = Self.record) throws -> [UInt8] {
            let place = ValuePlace(offset: 0, count: 5, sealedCount: 48, sequence: 9, nonce: .random())
            var writer = ByteWriter()
            try RecordOperation(kind, record).encode(value: kind.hasValue ? place : nil, into: &writer)
            return writer.bytes
        }

        private func examine(_ bytes: [UInt8]) throws(KeychainError) -> OperationOutline {
            try bytes.withByteReader { (reader) throws(KeychainError) in
                var offset: UInt64 = 100
                return try OperationOutline(from: &reader, valueOffset: &offset, sequence: 9)
            }
        }

        private func decode(_ operation: [UInt8]) throws(KeychainError) -> ItemRecord {
            try operation.withUnsafeBufferPointer { (buffer) throws(KeychainError) in
                let bytes = UnsafeRawBufferPointer(buffer)[OperationOutline.recordStart...]
                return try EncodedRecord.decode(Self.record.reference, UnsafeRawBufferPointer(rebasing: bytes))
            }
        }

        @Test func anOperationComesBack() throws {
            let operation = try examine(try encoded())
            #expect(operation.kind == .replace)
            #expect(operation.value?.offset == 100)
            #expect(operation.value?.count == 5)
            #expect(operation.count == (try encoded().count))
            #expect(try decode(try encoded()) == Self.record)
        }

        /// The key that is made of a record's bytes is the one that is made of the record, whatever the class and whether
        /// attributes are absent or have their default.
        @Test func keysOfBytesAreThoseOfRecords() throws {
            for itemClass in ItemClass.stored {
                let schema = AttributeSchema.schema(of: itemClass)
                for left in schema.all {
                    var record = Self.record
                    record.itemClass = itemClass
                    record.attributes = AttributeSet()
                    for attribute in schema.all where attribute.name != left.name {
                        record.attributes[attribute.name] = attribute.form.defaultValue
                    }
                    let value: AttributeValue
                    switch left.form {
                    case .text: value = .text("ä")
                    case .data: value = .data(Data([0, 0]))
                    case .integer: value = .integer(-2)
                    case .boolean: value = .boolean(true)
                    }
                    record.attributes[left.name] = value
                    let bytes = try encoded(.insert, record)
                    _ = try examine(bytes)
                    let decoded = try decode(bytes)
                    #expect(decoded.primaryKey == record.normalized.primaryKey)
                    #expect(decoded.attributes[left.name] == value)
                    var ofRecord = ByteWriter()
                    try EncodedRecord.encode(decoded.primaryKey, into: &ofRecord)
                    var ofBytes = ByteWriter()
                    try bytes.withUnsafeBufferPointer { (buffer) throws(KeychainError) in
                        let record = UnsafeRawBufferPointer(buffer)[OperationOutline.recordStart...]
                        try EncodedRecord.encodeKey(of: UnsafeRawBufferPointer(rebasing: record), into: &ofBytes)
                    }
                    #expect(ofRecord.bytes == ofBytes.bytes)
                }
            }
        }

        @Test func everyCutOfAnOperationIsRefused() throws {
            let bytes = try encoded()
            for length in 0..<bytes.count {
                #expect(code { () throws(KeychainError) in _ = try examine(Array(bytes.prefix(length))) } == .corrupt)
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
                let code = code { () throws(KeychainError) in _ = try examine(bytes) }
                outcomes.insert(code)
                // What was examined can be decoded.
                if code == nil, bytes[0] != OperationKind.delete.rawValue { _ = try decode(bytes) }
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

        @Test func numbersThatCannotGrowAreRefused() throws {
            let master = Sodium.randomKey()
            let storeID = Sodium.random(16)
            let slot = try KeySlot(master: master, material: .key(master), storeID: storeID, cost: .minimal)
            let header = FileHeader(storeID: storeID, slot: slot)
            let keys = StoreKeys(master: master)
            for (number, isLast) in [(UInt64.max - 1, false), (.max, true)] {
                for place in [48, 56] {
                    var page = header.encoded(key: keys.header)
                    page.replaceSubrange(place..<place + 8, with: number.littleEndianBytes)
                    let end = FileLayout.headerChecksumStart
                    page.replaceSubrange(end..., with: Sodium.hash(Array(page[..<end])))
                    #expect((try FileHeader.examine(page) == .damaged) == isLast)
                }
                var tip = header.start
                tip.sequence = number - 1
                let code = code { () throws(KeychainError) in
                    _ = try Frame.seal(
                        [RecordOperation(.delete, Self.record)],
                        values: [],
                        after: tip,
                        before: .items([]),
                        header: header,
                        keys: keys
                    )
                }
                #expect(code == (isLast ? .corrupt : nil))
            }
        }

        @Test func aNameThatIsNotASCIIIsRefused() throws {
            var record = Self.record
            record.attributes[AttributeName(rawValue: "größe")] = .boolean(true)
            var writer = ByteWriter()
            try RecordOperation(.change, record).encode(value: nil, into: &writer)
            let code = code { () throws(KeychainError) in
                try writer.bytes.withByteReader { (reader) throws(KeychainError) in
                    var offset: UInt64 = 0
                    _ = try OperationOutline(from: &reader, valueOffset: &offset, sequence: 1)
                }
            }
            #expect(code == .corrupt)
        }

        @Test func aRecordThatCannotBeStoredIsRefused() throws {
            var long = Self.record
            long.attributes[AttributeName(rawValue: String(repeating: "a", count: 256))] = .boolean(true)
            var identity = Self.record
            identity.itemClass = .identity
            for record in [long, identity] {
                let code = code { () throws(KeychainError) in
                    var writer = ByteWriter()
                    try RecordOperation(.change, record).encode(value: nil, into: &writer)
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

    extension ItemRecord {
        /// The record as its initializer makes it: without key attributes that have their default.
        fileprivate var normalized: ItemRecord {
            ItemRecord(
                reference: reference,
                itemClass: itemClass,
                accessGroup: accessGroup,
                isSynchronizable: isSynchronizable,
                attributes: attributes,
                creationDate: creationDate,
                modificationDate: modificationDate
            )
        }
    }
#endif
