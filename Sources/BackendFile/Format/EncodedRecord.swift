// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI

    /// The form in which a record stands in a frame's metadata, and what can be learned from it without decoding it.
    ///
    /// An open store keeps its records in this form: a large one is opened as fast as it is decrypted, and takes no more
    /// memory than its file. The bytes that are read have been examined before, or come from ``encode(_:into:)``.
    enum EncodedRecord {
        /// Writes a record; key attributes with their default are left out, as in every record that was made.
        ///
        /// - Throws: `invalidParameter` for a class that cannot be stored or a name that is too long.
        static func encode(_ record: ItemRecord, into writer: inout ByteWriter) throws(KeychainError) {
            guard record.itemClass != .identity else {
                throw KeychainError(.invalidParameter, "An identity has no record; store its key and its certificate.")
            }
            let schema = AttributeSchema.schema(of: record.itemClass)
            let attributes = record.attributes.filtered { !schema.isDefaultOfKey($0) }
            writer.append(record.itemClass.rawValue.utf8)
            writer.append(UInt8(record.isSynchronizable ? 1 : 0))
            writer.append(record.creationDate.microseconds)
            writer.append(record.modificationDate.microseconds)
            writer.appendCounted(record.accessGroup.utf8)
            writer.append(UInt16(attributes.count))
            for attribute in attributes { try encode(attribute.name, attribute.value, into: &writer) }
        }

        /// Examines a record and moves past it.
        ///
        /// - Returns: The hash of its primary key: while a store is opened, most records are read this once.
        /// - Throws: `corrupt`, or `unsupported` for what only a later version can have written.
        static func examine(_ reader: inout ByteReader) throws(KeychainError) -> UInt64 {
            var hasher = Hasher()
            let head = reader.position
            let itemClass = try reader.textBytes(4)
            guard let schema = KeySchema.of(itemClass) else { throw .newerRecord }
            _ = try reader.boolean()
            hasher.combine(bytes: reader.slice(from: head))
            _ = try reader.slice(16)
            let group = reader.position
            _ = try reader.textBytes(Int(reader.integer(UInt32.self)))
            hasher.combine(bytes: reader.slice(from: group))
            var previous: UnsafeRawBufferPointer?
            for _ in 0..<(try reader.integer(UInt16.self)) {
                let start = reader.position
                let name = try reader.slice(Int(reader.integer(UInt8.self)))
                // The order of other names would depend on who compares them.
                guard name.isASCII else { throw .damaged("the name of an attribute is not ASCII") }
                if let previous, !previous.isOrderedBefore(name) { throw .damaged("attributes are out of order") }
                previous = name
                let value = reader.position
                switch try reader.integer(UInt8.self) {
                case 1: _ = try reader.textBytes(Int(reader.integer(UInt32.self)))
                case 2: _ = try reader.slice(Int(reader.integer(UInt32.self)))
                case 3: _ = try reader.slice(8)
                case 4: _ = try reader.boolean()
                default: throw .newerRecord
                }
                if schema.isPart(name, reader.slice(from: value)) {
                    hasher.combine(bytes: reader.slice(from: start))
                }
            }
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }

        /// Decodes a record.
        static func decode(_ reference: UUID, _ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> ItemRecord {
            var reader = ByteReader(bytes)
            guard let itemClass = itemClass(of: try reader.slice(4)) else { throw .newerRecord }
            let isSynchronizable = try reader.boolean()
            let creationDate = ItemDate(microseconds: try reader.integer(Int64.self))
            let modificationDate = ItemDate(microseconds: try reader.integer(Int64.self))
            let accessGroup = try reader.text(Int(reader.integer(UInt32.self)))
            let count = Int(try reader.integer(UInt16.self))
            var attributes: [AttributeSet.Element] = []
            attributes.reserveCapacity(count)
            for _ in 0..<count {
                let name = AttributeName(rawValue: try reader.text(Int(reader.integer(UInt8.self))))
                attributes.append(AttributeSet.Element(name: name, value: try value(from: &reader)))
            }
            return ItemRecord(
                reference: reference,
                itemClass: itemClass,
                accessGroup: accessGroup,
                isSynchronizable: isSynchronizable,
                attributes: AttributeSet(sorted: attributes),
                creationDate: creationDate,
                modificationDate: modificationDate
            )
        }

        /// Whether a record has a class, a synchronizability and a group, as far as they are given.
        static func matches(
            _ bytes: UnsafeRawBufferPointer,
            _ selection: RecordSelection
        ) throws(KeychainError) -> Bool {
            var reader = ByteReader(bytes)
            let itemClass = try reader.slice(4)
            if let wanted = selection.itemClass, !itemClass.elementsEqual(wanted.rawValue.utf8) { return false }
            let isSynchronizable = try reader.boolean()
            if let wanted = selection.isSynchronizable, wanted != isSynchronizable { return false }
            _ = try reader.slice(16)
            let accessGroup = try reader.slice(Int(reader.integer(UInt32.self)))
            return selection.accessGroup.map { accessGroup.elementsEqual($0.utf8) } ?? true
        }
    }

    // Keys: what makes a record unique, as bytes that are equal if and only if the primary keys are.
    extension EncodedRecord {
        /// Writes a primary key.
        static func encode(_ key: PrimaryKey, into writer: inout ByteWriter) throws(KeychainError) {
            writer.append(key.itemClass.rawValue.utf8)
            writer.append(UInt8(key.isSynchronizable ? 1 : 0))
            writer.appendCounted(key.accessGroup.utf8)
            for attribute in key.attributes { try encode(attribute.name, attribute.value, into: &writer) }
        }

        /// Writes the primary key of a record.
        static func encodeKey(of bytes: UnsafeRawBufferPointer, into writer: inout ByteWriter) throws(KeychainError) {
            var reader = ByteReader(bytes)
            let head = try reader.slice(5)
            guard let schema = KeySchema.of(UnsafeRawBufferPointer(rebasing: head.prefix(4))) else {
                throw .newerRecord
            }
            writer.append(head)
            _ = try reader.slice(16)
            writer.append(try reader.counted())
            for _ in 0..<(try reader.integer(UInt16.self)) {
                let start = reader.position
                let name = try reader.slice(Int(reader.integer(UInt8.self)))
                let value = try reader.attributeValue()
                if schema.isPart(name, value) { writer.append(reader.slice(from: start)) }
            }
        }

        /// The hash of a primary key that was written: that of its parts one by one, as ``examine(_:)`` comes to them.
        ///
        /// Keyed anew in each process: who chooses the names of items cannot let them meet in one place.
        static func hash(ofKey key: [UInt8]) throws(KeychainError) -> UInt64 {
            try key.withByteReader { (reader) throws(KeychainError) in
                var hasher = Hasher()
                hasher.combine(bytes: try reader.slice(5))
                hasher.combine(bytes: try reader.counted())
                while reader.remaining > 0 {
                    let start = reader.position
                    _ = try reader.slice(Int(reader.integer(UInt8.self)))
                    _ = try reader.attributeValue()
                    hasher.combine(bytes: reader.slice(from: start))
                }
                return UInt64(bitPattern: Int64(hasher.finalize()))
            }
        }

        /// The encoded value of an attribute, nil if the record does not have it.
        static func value(
            of name: AttributeName,
            in bytes: UnsafeRawBufferPointer
        ) throws(KeychainError) -> UnsafeRawBufferPointer? {
            var reader = ByteReader(bytes)
            _ = try reader.slice(21)
            _ = try reader.counted()
            for _ in 0..<(try reader.integer(UInt16.self)) {
                let found = try reader.slice(Int(reader.integer(UInt8.self)))
                let value = try reader.attributeValue()
                if found.elementsEqual(name.rawValue.utf8) { return value }
            }
            return nil
        }

        /// Writes the value of an attribute.
        static func encode(_ value: AttributeValue, into writer: inout ByteWriter) {
            switch value {
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

        private static func encode(
            _ name: AttributeName,
            _ value: AttributeValue,
            into writer: inout ByteWriter
        ) throws(KeychainError) {
            guard let count = UInt8(exactly: name.rawValue.utf8.count) else {
                throw KeychainError(.invalidParameter, "The name of an attribute is longer than 255 bytes.")
            }
            writer.append(count)
            writer.append(name.rawValue.utf8)
            encode(value, into: &writer)
        }

        /// The class of a record, by the bytes of its code; nil for a class that is not stored.
        fileprivate static func itemClass(of code: UnsafeRawBufferPointer) -> ItemClass? {
            switch UInt32(bigEndian: code.loadUnaligned(as: UInt32.self)) {
            case 0x6765_6E70: .genericPassword
            case 0x696E_6574: .internetPassword
            case 0x6B65_7973: .key
            case 0x6365_7274: .certificate
            default: nil
            }
        }

        private static func value(from reader: inout ByteReader) throws(KeychainError) -> AttributeValue {
            switch try reader.integer(UInt8.self) {
            case 1: return .text(try reader.text(Int(reader.integer(UInt32.self))))
            case 2: return .data(Data(try reader.slice(Int(reader.integer(UInt32.self)))))
            case 3: return .integer(try reader.integer(Int64.self))
            case 4: return .boolean(try reader.boolean())
            default: throw .newerRecord
            }
        }
    }

    /// Which attributes belong to the primary key of a class, in a form that is compared without a loop.
    private struct KeySchema {
        /// A name of up to 24 bytes; no key attribute has a longer one.
        private struct ShortName: Equatable {
            var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

            init?(_ name: UnsafeRawBufferPointer) {
                guard name.count <= 24 else { return nil }
                withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: name) }
            }

            static func == (left: ShortName, right: ShortName) -> Bool { left.words == right.words }
        }

        private let parts: [(name: ShortName, defaultValue: (form: UInt8, count: Int))]

        private init(_ itemClass: ItemClass) {
            parts = AttributeSchema.schema(of: itemClass).primaryKey.compactMap { attribute in
                var writer = ByteWriter()
                EncodedRecord.encode(attribute.form.defaultValue, into: &writer)
                let name = Array(attribute.name.rawValue.utf8).withUnsafeBytes { ShortName($0) }
                return name.map { ($0, (writer.bytes[0], writer.bytes.count)) }
            }
        }

        /// Whether an attribute belongs to the key: not with its default, which is the same as its absence.
        func isPart(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
            guard let name = ShortName(name) else { return false }
            for part in parts where part.name == name {
                return value.count != part.defaultValue.count || value[0] != part.defaultValue.form
                    || !value.dropFirst().allSatisfy { $0 == 0 }
            }
            return false
        }

        /// The schema of a class that is stored, by the bytes of its code.
        static func of(_ code: UnsafeRawBufferPointer) -> KeySchema? {
            switch EncodedRecord.itemClass(of: code) {
            case .genericPassword: genericPassword
            case .internetPassword: internetPassword
            case .key: key
            case .certificate: certificate
            case .identity, nil: nil
            }
        }

        private static let genericPassword = KeySchema(.genericPassword)
        private static let internetPassword = KeySchema(.internetPassword)
        private static let key = KeySchema(.key)
        private static let certificate = KeySchema(.certificate)
    }

    extension UnsafeRawBufferPointer {
        /// Whether these bytes come before others, as names are ordered.
        fileprivate func isOrderedBefore(_ other: UnsafeRawBufferPointer) -> Bool {
            let common = Swift.min(count, other.count)
            let order = common == 0 ? 0 : memcmp(baseAddress!, other.baseAddress!, common)
            return order != 0 ? order < 0 : count < other.count
        }
    }

    extension KeychainError {
        /// The error for an item of a later version.
        static let newerRecord = KeychainError(
            .unsupported,
            "The keychain file contains an item that this version does not know. Update the program."
        )
    }
#endif
