// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium

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

    /// What a change of the store's contents does.
    enum OperationKind: UInt8, Sendable {
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

    /// One change of the store's contents, as a writer begins with it.
    struct RecordOperation: Sendable {
        let kind: OperationKind
        let reference: UUID
        /// The new record; nil for a removal.
        let record: ItemRecord?

        /// Makes an operation.
        ///
        /// - Parameters:
        ///   - kind: What is done.
        ///   - record: The record that is stored, or that of the item that is removed.
        init(_ kind: OperationKind, _ record: ItemRecord) {
            self.kind = kind
            reference = record.reference
            self.record = kind.hasRecord ? record : nil
        }

        /// Appends the operation to a frame's metadata.
        ///
        /// - Parameters:
        ///   - value: The value's place, if one comes with the operation.
        ///   - writer: Takes the bytes.
        /// - Throws: `invalidParameter` for a class that cannot be stored or a name that is too long.
        func encode(value: ValuePlace?, into writer: inout ByteWriter) throws(KeychainError) {
            writer.append(kind.rawValue)
            withUnsafeBytes(of: reference.uuid) { writer.append($0) }
            if let record { try EncodedRecord.encode(record, into: &writer) }
            if let value {
                writer.append(value.count)
                writer.append(value.sealedCount)
                value.nonce.withBytes { writer.append($0) }
            }
        }
    }

    /// One change of the store's contents, as it stands in a frame's metadata: examined, and not decoded.
    struct OperationOutline: Sendable {
        let kind: OperationKind
        let reference: UUID
        /// Where the operation begins in the metadata.
        let start: Int
        /// How many bytes describe it.
        let count: Int
        /// The hash of the record's primary key; nil for a removal.
        let keyHash: UInt64?
        /// The new value's place; nil if none comes with the operation.
        let value: ValuePlace?

        /// The fewest bytes that an operation takes.
        static let smallestCount = 17
        /// Where an operation's reference begins in its bytes.
        static let referenceStart = 1
        /// Where its record begins.
        static let recordStart = 17

        /// Examines an operation: whatever the bytes are, after this its record can be read.
        ///
        /// - Parameters:
        ///   - reader: Stands where the operation begins; is moved past it.
        ///   - valueOffset: Where the operation's value begins; is moved past it.
        ///   - sequence: The frame's number.
        /// - Throws: `corrupt`, or `unsupported` for what only a later version can have written.
        init(
            from reader: inout ByteReader,
            valueOffset: inout UInt64,
            sequence: UInt64
        ) throws(KeychainError) {
            start = reader.position
            guard let kind = OperationKind(rawValue: try reader.integer(UInt8.self)) else { throw .newerRecord }
            self.kind = kind
            reference = UUID(uuid: try reader.slice(16).loadUnaligned(as: uuid_t.self))
            keyHash = kind.hasRecord ? try EncodedRecord.examine(&reader) : nil
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
            } else {
                value = nil
            }
            count = reader.position - start
        }
    }
#endif
