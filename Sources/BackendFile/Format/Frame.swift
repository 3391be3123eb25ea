// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    /// One commit: what it does, sealed, and the values that come with it, each sealed for itself.
    struct Frame: Sendable {
        /// What the frame follows; its length is where the frame begins.
        let base: Tip
        /// The items that the frame before is about, nil if they are too many to be named.
        let before: Touched
        /// What the frame does.
        let operations: [RecordOperation]
        /// How far the file goes with it.
        let tip: Tip

        /// The items that a frame is about.
        var touched: Touched { Touched(operations.map(\.reference)) }

        /// The lengths at the beginning of a frame, in clear, and the nonce of its metadata.
        struct Head {
            /// The length of the whole frame.
            let frameCount: UInt64
            /// The length of the sealed metadata.
            let metadataCount: Int
            /// The part that is authenticated along with the metadata.
            let lengths: [UInt8]
            let nonce: Nonce

            /// Reads a head; nil if it cannot be one, or the frame does not fit.
            ///
            /// - Parameters:
            ///   - bytes: As many bytes as a head has.
            ///   - available: How many bytes there are from the beginning of the frame.
            init?(_ bytes: UnsafeRawBufferPointer, available: UInt64) {
                guard bytes.count == FileLayout.frameHeadSize else { return nil }
                frameCount = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
                let count = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                metadataCount = Int(count)
                lengths = [UInt8](bytes[..<16])
                nonce = Nonce(UnsafeRawBufferPointer(rebasing: bytes[16...]))
                guard frameCount <= available, bytes[12..<16].allSatisfy({ $0 == 0 }), metadataCount > Sodium.tagSize,
                    metadataCount <= FileLayout.metadataLimit,
                    UInt64(FileLayout.frameHeadSize + metadataCount) <= frameCount
                else { return nil }
            }
        }

        /// Opens a frame's metadata; nil if it is not authentic.
        ///
        /// What it follows is in it, so that a frame can be opened by itself where those before are damaged.
        ///
        /// - Parameters:
        ///   - head: The frame's head.
        ///   - metadata: The sealed metadata.
        ///   - start: Where the frame begins in the file.
        ///   - header: The header of the file.
        ///   - keys: The keys of the file.
        /// - Throws: `corrupt` or `unsupported` if the frame is authentic and makes no sense.
        static func open(
            _ head: Head,
            metadata: UnsafeRawBufferPointer,
            at start: UInt64,
            header: FileHeader,
            keys: StoreKeys
        ) throws(KeychainError) -> Frame? {
            let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: metadata.count - Sodium.tagSize, alignment: 8)
            defer { plain.deallocate() }
            guard
                Sodium.open(
                    metadata,
                    into: plain,
                    nonce: head.nonce,
                    associated: header.fileID + head.lengths,
                    key: keys.metadata
                )
            else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(plain))
            let chainBefore = try reader.array(Sodium.keySize)
            let sequence = try reader.integer(UInt64.self)
            guard sequence > 0 else { throw .damaged("the frame at byte \(start) contradicts itself") }
            let before = try Touched(from: &reader)
            var offset = start + UInt64(FileLayout.frameHeadSize + head.metadataCount)
            var operations: [RecordOperation] = []
            for _ in 0..<(try reader.integer(UInt32.self)) {
                operations.append(try RecordOperation(from: &reader, valueOffset: &offset, sequence: sequence))
            }
            let padding = try reader.slice(reader.remaining)
            let end = start + head.frameCount
            guard offset == end, padding.allSatisfy({ $0 == 0 }), !operations.isEmpty else {
                throw .damaged("the frame at byte \(start) contradicts itself")
            }
            let tag = [UInt8](metadata.suffix(Sodium.tagSize))
            return Frame(
                base: Tip(length: start, sequence: sequence - 1, chain: chainBefore),
                before: before,
                operations: operations,
                tip: Tip(length: end, sequence: sequence, chain: chain(after: chainBefore, head.nonce, tag))
            )
        }

        /// Seals a frame.
        ///
        /// - Parameters:
        ///   - operations: What the frame does; the places of values are filled in.
        ///   - values: The values that come with it, in order.
        ///   - tip: What the frame follows.
        ///   - before: The items that the frame before is about.
        ///   - header: The header of the file.
        ///   - keys: The keys of the file.
        /// - Returns: The frame, and its bytes.
        /// - Throws: `dataTooLarge` for a value or metadata beyond the limits, `invalidParameter` for a record that
        ///   cannot be stored.
        static func seal(
            _ operations: [RecordOperation],
            values: [SecureBytes],
            after tip: Tip,
            before: Touched,
            header: FileHeader,
            keys: StoreKeys
        ) throws(KeychainError) -> (frame: Frame, bytes: [UInt8]) {
            let sequence = tip.sequence + 1
            var operations = operations
            var writer = ByteWriter()
            writer.append(tip.chain)
            writer.append(sequence)
            before.encode(into: &writer)
            writer.append(UInt32(operations.count))
            var remaining = values[...]
            var valuesCount = 0
            for index in operations.indices {
                if operations[index].kind.hasValue, let value = remaining.popFirst() {
                    operations[index].value = try place(for: value, sequence: sequence, offset: valuesCount)
                    valuesCount += Int(operations[index].value!.sealedCount)
                }
                try operations[index].encode(into: &writer)
            }
            writer.pad(to: FileLayout.paddedSize(writer.bytes.count))
            let metadataCount = writer.bytes.count + Sodium.tagSize
            guard metadataCount <= FileLayout.metadataLimit else {
                throw KeychainError(
                    .dataTooLarge,
                    "The attributes of one commit take more than \(FileLayout.metadataLimit >> 20) MiB. Store fewer "
                        + "items at a time."
                )
            }
            let valuesStart = FileLayout.frameHeadSize + metadataCount
            for index in operations.indices where operations[index].value != nil {
                operations[index].value!.offset += tip.length + UInt64(valuesStart)
            }
            let nonce = Nonce.random()
            var head = ByteWriter()
            head.append(UInt64(valuesStart + valuesCount))
            head.append(UInt32(metadataCount))
            head.append(UInt32(0))
            let associated = header.fileID + head.bytes
            nonce.withBytes { head.append($0) }
            let bytes = [UInt8](unsafeUninitializedCapacity: valuesStart + valuesCount) { buffer, initialized in
                initialized = valuesStart + valuesCount
                let target = UnsafeMutableRawBufferPointer(buffer)
                target.copyBytes(from: head.bytes)
                writer.bytes.withUnsafeBytes {
                    let place = target[FileLayout.frameHeadSize..<valuesStart]
                    Sodium.seal(
                        $0,
                        into: .init(rebasing: place),
                        nonce: nonce,
                        associated: associated,
                        key: keys.metadata
                    )
                }
                var start = valuesStart
                for (operation, value) in zip(operations.filter { $0.value != nil }, values) {
                    guard let place = operation.value else { continue }
                    let end = start + Int(place.sealedCount)
                    seal(
                        value,
                        of: operation.reference,
                        at: place,
                        into: .init(rebasing: target[start..<end]),
                        header: header,
                        keys: keys
                    )
                    start = end
                }
            }
            let tag = [UInt8](bytes[(valuesStart - Sodium.tagSize)..<valuesStart])
            let end = Tip(
                length: tip.length + UInt64(bytes.count),
                sequence: sequence,
                chain: chain(after: tip.chain, nonce, tag)
            )
            return (Frame(base: tip, before: before, operations: operations, tip: end), bytes)
        }

        /// Opens a sealed value.
        ///
        /// - Throws: `corrupt` if it is not the one that belongs there.
        static func openValue(
            _ sealed: UnsafeRawBufferPointer,
            of reference: UUID,
            at place: ValuePlace,
            header: FileHeader,
            keys: StoreKeys
        ) throws(KeychainError) -> SecureBytes {
            let associated = associated(header.fileID, place.sequence, reference)
            let padded = try SecureBytes(count: Int(place.sealedCount) - Sodium.tagSize) {
                (target: UnsafeMutableRawBufferPointer) throws(KeychainError) in
                guard Sodium.open(sealed, into: target, nonce: place.nonce, associated: associated, key: keys.value)
                else {
                    throw .damaged("the value at byte \(place.offset) is not the one that was stored there")
                }
            }
            guard padded.count > Int(place.count) else { return padded }
            return padded.withBytes { SecureBytes(UnsafeRawBufferPointer(rebasing: $0[..<Int(place.count)])) }
        }

        private static func place(for value: SecureBytes, sequence: UInt64, offset: Int) throws(KeychainError)
            -> ValuePlace
        {
            guard value.count <= FileLayout.valueLimit else {
                throw KeychainError(
                    .dataTooLarge,
                    "The value has \(value.count) bytes; a keychain file takes \(FileLayout.valueLimit >> 20) MiB at most."
                )
            }
            return ValuePlace(
                offset: UInt64(offset),
                count: UInt32(value.count),
                sealedCount: UInt32(FileLayout.paddedSize(value.count) + Sodium.tagSize),
                sequence: sequence,
                nonce: .random()
            )
        }

        private static func seal(
            _ value: SecureBytes,
            of reference: UUID,
            at place: ValuePlace,
            into target: UnsafeMutableRawBufferPointer,
            header: FileHeader,
            keys: StoreKeys
        ) {
            let paddedCount = target.count - Sodium.tagSize
            let padded =
                paddedCount == value.count
                ? value
                : SecureBytes(count: paddedCount) { padded in value.withBytes { padded.copyBytes(from: $0) } }
            let associated = associated(header.fileID, place.sequence, reference)
            padded.withBytes {
                Sodium.seal($0, into: target, nonce: place.nonce, associated: associated, key: keys.value)
            }
        }

        private static func associated(_ fileID: [UInt8], _ sequence: UInt64, _ reference: UUID) -> [UInt8] {
            fileID + sequence.littleEndianBytes + withUnsafeBytes(of: reference.uuid) { [UInt8]($0) }
        }

        private static func chain(after chain: [UInt8], _ nonce: Nonce, _ tag: [UInt8]) -> [UInt8] {
            Sodium.hash(chain + nonce.withBytes { [UInt8]($0) } + tag)
        }
    }
#endif
