// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials

    /// The metadata of all frames that were read, in clear.
    ///
    /// In pieces that are never moved: a large store is not copied again and again while it is opened, and a view of the
    /// store shares all but the last piece with it.
    struct MetadataLog: Sendable {
        /// Where an operation begins.
        struct Place: Sendable {
            fileprivate let piece: UInt32
            fileprivate let offset: UInt32

            /// The place of what is described further on in the same frame.
            func advanced(by count: Int) -> Place { Place(piece: piece, offset: offset + UInt32(count)) }
        }

        private var pieces: [[UInt8]] = []

        /// Frames that are smaller share a piece of this size.
        private static let pieceSize = 32 << 10

        /// Adds a frame's metadata.
        ///
        /// - Returns: Where it begins.
        mutating func append(_ metadata: [UInt8]) -> Place {
            if metadata.count > Self.pieceSize / 2 {
                pieces.append(metadata)
                return Place(piece: UInt32(pieces.count - 1), offset: 0)
            }
            if pieces.last.map({ Self.pieceSize - $0.count < metadata.count }) ?? true {
                pieces.append([])
                pieces[pieces.count - 1].reserveCapacity(Self.pieceSize)
            }
            let place = Place(piece: UInt32(pieces.count - 1), offset: UInt32(pieces[pieces.count - 1].count))
            pieces[pieces.count - 1].append(contentsOf: metadata)
            return place
        }

        /// Calls a closure with the operation that begins at a place, which has to be one.
        func withOperation<Result, Failure: Error>(
            at place: Place?,
            _ body: (OperationBytes) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            guard let place else { preconditionFailure("An entry that is free has no operation") }
            return try OperationBytes.with(pieces[Int(place.piece)], Int(place.offset), body)
        }
    }

    /// The bytes of an operation and of what follows it.
    struct OperationBytes {
        private let bytes: UnsafeRawBufferPointer

        /// Calls a closure with the operation that begins at an offset.
        static func with<Result, Failure: Error>(
            _ metadata: [UInt8],
            _ offset: Int,
            _ body: (OperationBytes) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try metadata.withUnsafeBufferPointer { (buffer) throws(Failure) in
                let rest = UnsafeRawBufferPointer(buffer)[offset...]
                return try body(OperationBytes(bytes: UnsafeRawBufferPointer(rebasing: rest)))
            }
        }

        /// The reference of the item.
        var reference: UUID {
            UUID(uuid: bytes.loadUnaligned(fromByteOffset: OperationOutline.referenceStart, as: uuid_t.self))
        }

        /// The record, if the operation has one.
        var record: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[OperationOutline.recordStart...])
        }
    }
#endif
