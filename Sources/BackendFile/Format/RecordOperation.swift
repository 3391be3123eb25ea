// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    /// Where a sealed value is, and what opens it.
    struct ValuePlace: Sendable, Equatable {
        /// Where the sealed value begins in the file.
        var offset: UInt64
        /// The length of the value.
        var count: UInt32
        /// The length of what was sealed, the tag included.
        var sealedCount: UInt32
        /// The sequence number of the frame that the value was sealed for.
        var sequence: UInt64
        /// The nonce, which also ties the item to exactly this value.
        var nonce: Nonce
    }

    /// One change of the store's contents, as a frame's metadata describes it.
    struct RecordOperation: Sendable {
        /// What is done.
        enum Kind: UInt8, Sendable {
            /// An item is added.
            case insert = 1
            /// An item's record and value take the place of those before.
            case replace = 2
            /// An item's record takes the place of the one before; the value stays.
            case change = 3
            /// An item is removed.
            case delete = 4

            /// Whether the operation comes with a value.
            var hasValue: Bool { self == .insert || self == .replace }
            /// Whether the operation comes with a record.
            var hasRecord: Bool { self != .delete }
        }

        let kind: Kind
        let reference: UUID
        /// The new record; nil for a removal.
        let record: ItemRecord?
        /// The new value's place; nil if none comes with the operation.
        var value: ValuePlace?
        /// How many bytes describe the operation.
        var encodedCount: Int
    }

    extension RecordOperation {
        /// Makes an operation as a writer begins with it: the value's place is known once the frame is sealed.
        ///
        /// - Parameters:
        ///   - kind: What is done.
        ///   - record: The record that is stored, or that of the item that is removed.
        init(_ kind: Kind, _ record: ItemRecord) {
            // Made anew: what is in memory is to be what a reader of the file will make of it.
            let stored = ItemRecord(
                reference: record.reference,
                itemClass: record.itemClass,
                accessGroup: record.accessGroup,
                isSynchronizable: record.isSynchronizable,
                attributes: record.attributes,
                creationDate: record.creationDate,
                modificationDate: record.modificationDate
            )
            self.init(
                kind: kind,
                reference: record.reference,
                record: kind.hasRecord ? stored : nil,
                value: nil,
                encodedCount: 0
            )
        }

        /// Appends the operation to a frame's metadata.
        ///
        /// - Throws: `invalidParameter` for a class that cannot be stored or a name that is too long.
        mutating func encode(into writer: inout ByteWriter) throws(KeychainError) {
            let start = writer.bytes.count
            writer.append(kind.rawValue)
            withUnsafeBytes(of: reference.uuid) { writer.append($0) }
            if let record { try Self.encode(record, into: &writer) }
            if let value {
                writer.append(value.count)
                writer.append(value.sealedCount)
                value.nonce.withBytes { writer.append($0) }
            }
            encodedCount = writer.bytes.count - start
        }

        /// Reads an operation from a frame's metadata.
        ///
        /// - Parameters:
        ///   - reader: Stands where the operation begins.
        ///   - valueOffset: Where the operation's value begins; is moved past it.
        ///   - sequence: The frame's number.
        /// - Throws: `corrupt`, or `unsupported` for what only a later version can have written.
        init(
            from reader: inout ByteReader,
            valueOffset: inout UInt64,
            sequence: UInt64
        ) throws(KeychainError) {
            let start = reader.position
            guard let kind = Kind(rawValue: try reader.integer(UInt8.self)) else { throw Self.newer }
            let reference = UUID(uuid: try reader.slice(16).loadUnaligned(as: uuid_t.self))
            let record = kind.hasRecord ? try Self.record(reference, from: &reader) : nil
            var value: ValuePlace?
            if kind.hasValue {
                let place = ValuePlace(
                    offset: valueOffset,
                    count: try reader.integer(UInt32.self),
                    sealedCount: try reader.integer(UInt32.self),
                    sequence: sequence,
                    nonce: Nonce(try reader.slice(Sodium.nonceSize))
                )
                guard Int(place.sealedCount) >= Int(place.count) + Sodium.tagSize else {
                    throw .damaged("a value is longer than its place")
                }
                valueOffset += UInt64(place.sealedCount)
                value = place
            }
            self.init(
                kind: kind,
                reference: reference,
                record: record,
                value: value,
                encodedCount: reader.position - start
            )
        }

        private static func encode(_ record: ItemRecord, into writer: inout ByteWriter) throws(KeychainError) {
            guard record.itemClass != .identity else {
                throw KeychainError(.invalidParameter, "An identity has no record; store its key and its certificate.")
            }
            writer.append(record.itemClass.rawValue.utf8)
            writer.append(UInt8(record.isSynchronizable ? 1 : 0))
            writer.append(record.creationDate.microseconds)
            writer.append(record.modificationDate.microseconds)
            writer.appendCounted(record.accessGroup.utf8)
            writer.append(UInt16(record.attributes.count))
            for attribute in record.attributes {
                let name = attribute.name.rawValue.utf8
                guard let count = UInt8(exactly: name.count) else {
                    throw KeychainError(.invalidParameter, "The name of an attribute is longer than 255 bytes.")
                }
                writer.append(count)
                writer.append(name)
                switch attribute.value {
                case .text(let text):
                    writer.append(UInt8(1))
                    writer.appendCounted(text.utf8)
                case .data(let data):
                    writer.append(UInt8(2))
                    writer.appendCounted(data)
                case .integer(let number):
                    writer.append(UInt8(3))
                    writer.append(number)
                case .boolean(let flag):
                    writer.append(UInt8(4))
                    writer.append(UInt8(flag ? 1 : 0))
                }
            }
        }

        private static func record(
            _ reference: UUID,
            from reader: inout ByteReader
        ) throws(KeychainError) -> ItemRecord {
            guard let itemClass = ItemClass(rawValue: try reader.text(4)), itemClass != .identity else { throw newer }
            let isSynchronizable = try reader.boolean()
            let creationDate = ItemDate(microseconds: try reader.integer(Int64.self))
            let modificationDate = ItemDate(microseconds: try reader.integer(Int64.self))
            let accessGroup = try reader.text(Int(reader.integer(UInt32.self)))
            var attributes = AttributeSet()
            var previous: AttributeName?
            for _ in 0..<(try reader.integer(UInt16.self)) {
                let name = AttributeName(rawValue: try reader.text(Int(reader.integer(UInt8.self))))
                if let previous, previous >= name { throw .damaged("attributes are out of order") }
                previous = name
                attributes[name] = try attributeValue(from: &reader)
            }
            return ItemRecord(
                reference: reference,
                itemClass: itemClass,
                accessGroup: accessGroup,
                isSynchronizable: isSynchronizable,
                attributes: attributes,
                creationDate: creationDate,
                modificationDate: modificationDate
            )
        }

        private static func attributeValue(from reader: inout ByteReader) throws(KeychainError) -> AttributeValue {
            switch try reader.integer(UInt8.self) {
            case 1: return .text(try reader.text(Int(reader.integer(UInt32.self))))
            case 2: return .data(Data(try reader.slice(Int(reader.integer(UInt32.self)))))
            case 3: return .integer(try reader.integer(Int64.self))
            case 4: return .boolean(try reader.boolean())
            default: throw newer
            }
        }

        private static let newer = KeychainError(
            .unsupported,
            "The keychain file contains an item that this version does not know. Update the program."
        )
    }
#endif
