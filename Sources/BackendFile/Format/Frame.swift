// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium

    /// One commit: what it does, sealed, and the values that come with it, each sealed for itself.
    struct Frame: Sendable {
        /// What the frame follows; its length is where the frame begins.
        let base: Tip
        /// The items that the frame before is about, nil if they are too many to be named.
        let before: Touched
        /// The frame's metadata in clear.
        let metadata: [UInt8]
        /// What the frame does, by its metadata.
        let operations: [OperationOutline]
        /// How far the file goes with it.
        let tip: Tip

        /// The items that a frame is about.
        var touched: Touched { Touched(operations.lazy.map(\.reference)) }

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
                guard frameCount <= available, bytes[FileLayout.frameZeros].allSatisfy({ $0 == 0 }),
                    metadataCount > Sodium.tagSize, metadataCount <= FileLayout.metadataLimit,
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
            let count = metadata.count - Sodium.tagSize
            var isAuthentic = false
            let plain = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                isAuthentic = Sodium.open(
                    metadata,
                    into: UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count),
                    nonce: head.nonce,
                    associated: header.fileID + head.lengths,
                    key: keys.metadata
                )
                initialized = isAuthentic ? count : 0
            }
            guard isAuthentic else { return nil }
            return try Frame(
                metadata: plain,
                at: start,
                count: head.frameCount,
                nonce: head.nonce,
                tag: Array(metadata.suffix(Sodium.tagSize))
            )
        }

        /// Examines a frame.
        ///
        /// - Parameters:
        ///   - metadata: Its metadata in clear.
        ///   - start: Where it begins in the file.
        ///   - count: Its length.
        ///   - nonce: The nonce of its metadata.
        ///   - tag: The tag of its metadata.
        /// - Throws: `corrupt` or `unsupported` if the metadata makes no sense.
        private init(
            metadata: [UInt8],
            at start: UInt64,
            count: UInt64,
            nonce: Nonce,
            tag: [UInt8]
        ) throws(KeychainError) {
            var offset = start + UInt64(FileLayout.frameHeadSize + metadata.count + Sodium.tagSize)
            var operations: [OperationOutline] = []
            let (chainBefore, sequence, before) = try metadata.withByteReader { (reader) throws(KeychainError) in
                let chain = try reader.array(Sodium.keySize)
                let sequence = try reader.integer(UInt64.self)
                let before = try Touched(from: &reader)
                let count = Int(try reader.integer(UInt32.self))
                // What the count says is not to be trusted with memory.
                operations.reserveCapacity(min(count, reader.remaining / OperationOutline.smallestCount))
                for _ in 0..<count {
                    operations.append(try OperationOutline(from: &reader, valueOffset: &offset, sequence: sequence))
                }
                guard sequence > 0, sequence < .max, count > 0, try reader.slice(reader.remaining).isZero else {
                    throw .damaged("the frame at byte \(start) contradicts itself")
                }
                return (chain, sequence, before)
            }
            guard offset == start + count else { throw .damaged("the frame at byte \(start) contradicts itself") }
            base = Tip(length: start, sequence: sequence - 1, chain: chainBefore)
            self.before = before
            self.metadata = metadata
            self.operations = operations
            tip = Tip(length: offset, sequence: sequence, chain: Self.chain(after: chainBefore, nonce, tag))
        }

        /// Seals a frame.
        ///
        /// - Parameters:
        ///   - operations: What the frame does.
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
            // All of them at once: each question to the kernel takes longer than sealing a small value.
            var nonces = Nonce.random(values.count + 1)
            let nonce = nonces.removeLast()
            var writer = ByteWriter(capacity: 64 + operations.count * 192)
            writer.append(tip.chain)
            writer.append(sequence)
            before.encode(into: &writer)
            writer.append(UInt32(operations.count))
            var places: [(reference: UUID, place: ValuePlace)] = []
            var valuesCount = 0
            for operation in operations {
                var place: ValuePlace?
                if operation.kind.hasValue {
                    let value = try Self.place(
                        for: values[places.count],
                        sequence: sequence,
                        nonce: nonces.removeLast()
                    )
                    valuesCount += Int(value.sealedCount)
                    places.append((operation.reference, value))
                    place = value
                }
                try operation.encode(value: place, into: &writer)
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
                for ((reference, place), value) in zip(places, values) {
                    let end = start + Int(place.sealedCount)
                    seal(
                        value,
                        of: reference,
                        at: place,
                        into: .init(rebasing: target[start..<end]),
                        header: header,
                        keys: keys
                    )
                    start = end
                }
            }
            // What is in memory is to be what a reader of the file will make of it.
            let frame = try Frame(
                metadata: writer.bytes,
                at: tip.length,
                count: UInt64(bytes.count),
                nonce: nonce,
                tag: Array(bytes[(valuesStart - Sodium.tagSize)..<valuesStart])
            )
            return (frame, bytes)
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

        /// The place of a value that is about to be sealed; where it begins is known once the frame is complete.
        private static func place(
            for value: SecureBytes,
            sequence: UInt64,
            nonce: Nonce
        ) throws(KeychainError) -> ValuePlace {
            guard value.count <= FileLayout.valueLimit else {
                throw KeychainError(
                    .dataTooLarge,
                    "The value has \(value.count) bytes; a keychain file takes \(FileLayout.valueLimit >> 20) MiB at most."
                )
            }
            return ValuePlace(
                offset: 0,
                count: UInt32(value.count),
                sealedCount: UInt32(FileLayout.paddedSize(value.count) + Sodium.tagSize),
                sequence: sequence,
                nonce: nonce
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
            var writer = ByteWriter(capacity: fileID.count + 8 + 16)
            writer.append(fileID)
            writer.append(sequence)
            withUnsafeBytes(of: reference.uuid) { writer.append($0) }
            return writer.bytes
        }

        private static func chain(after chain: [UInt8], _ nonce: Nonce, _ tag: [UInt8]) -> [UInt8] {
            var writer = ByteWriter(capacity: chain.count + Sodium.nonceSize + tag.count)
            writer.append(chain)
            nonce.withBytes { writer.append($0) }
            writer.append(tag)
            return Sodium.hash(writer.bytes)
        }
    }
#endif
