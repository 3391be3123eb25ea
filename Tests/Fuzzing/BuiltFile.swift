// SPDX-License-Identifier: MIT
#if File && DEBUG
    import Foundation
    import KeychainAPI

    import KeychainSodium
    @testable import BackendFile

    /// A file that is made of the clear metadata of its frames, so that what is made up gets past the cryptography.
    ///
    /// The input is a byte of flags, and the frames: for each a byte of flags, a length of two bytes, and so many bytes
    /// of metadata, without what is in its first 40 bytes.
    struct BuiltFile {
        static let keys = StoreKeys(master: FuzzInput.masterKey)

        /// The header of every such file.
        static let header: FileHeader = {
            let storeID = [UInt8](repeating: 1, count: FileLayout.identifierSize)
            let slot = try? KeySlot(
                master: FuzzInput.masterKey,
                material: .key(FuzzInput.rawKey),
                storeID: storeID,
                cost: .minimal
            )
            guard let slot else { preconditionFailure("A key of 32 bytes can always be wrapped") }
            return FileHeader(storeID: storeID, slot: slot)
        }()

        /// What may be wrong with a frame.
        private struct Flaws: OptionSet {
            let rawValue: UInt8
            static let otherSequence = Flaws(rawValue: 1)
            static let otherChain = Flaws(rawValue: 2)
            static let notAuthentic = Flaws(rawValue: 4)
            static let garbageBefore = Flaws(rawValue: 8)
        }

        private let header: FileHeader
        private var tip: Tip
        private var mark: Tip
        private var frames: [UInt8] = []

        init(_ input: [UInt8]) {
            let flags = input.first ?? 0
            // Also the last numbers that there are: what follows them is a case of its own.
            header = Self.header.successor(after: flags & 1 == 0 ? 0 : .max - UInt64(flags >> 4))
            tip = header.start
            mark = tip
            var tips = [tip]
            var rest = input.dropFirst()
            while rest.count > 3 {
                let head = Array(rest.prefix(3))
                let count = Int(head[1]) | Int(head[2]) << 8
                append(Array(rest.dropFirst(3).prefix(count)), Flaws(rawValue: head[0]))
                rest = rest.dropFirst(3 + count)
                tips.append(tip)
            }
            mark = tips[[tips.count - 1, min(1, tips.count - 1), 0][Int(flags >> 1 & 7) % 3]]
        }

        /// Opens the file, and asks it for everything.
        func examine() throws(KeychainError) {
            let bytes = OpenFile.region(header, keys: Self.keys, tip: mark) + frames
            try OpenedFile(MemoryFiles(bytes), keys: Self.keys).examine(areValuesIntact: true)
        }

        private mutating func append(_ body: [UInt8], _ flaws: Flaws) {
            let sequence = tip.sequence &+ (flaws.contains(.otherSequence) ? 2 : 1)
            let chain = flaws.contains(.otherChain) ? [UInt8](repeating: 2, count: Sodium.keySize) : tip.chain
            let metadata = chain + sequence.littleEndianBytes + body
            let places = ((try? Self.operations(in: metadata)) ?? []).compactMap { operation in
                operation.value.map { (operation.reference, $0) }
            }
            let valuesCount = places.reduce(0) { $0 + Int($1.1.sealedCount) }
            guard valuesCount < 1 << 16 else { return }
            if flaws.contains(.garbageBefore) { frames += [1, 2, 3, 4, 5] }
            var frame = Self.sealedFrame(metadata, valuesCount: UInt64(valuesCount), header, Self.keys)
            let tag = Array(frame.suffix(Sodium.tagSize))
            for (reference, place) in places { frame += sealedValue(of: reference, at: place) }
            if flaws.contains(.notAuthentic) { frame[FileLayout.frameHeadSize] ^= 1 }
            frames += frame
            tip = Tip(
                length: UInt64(FileLayout.regionSize + frames.count),
                sequence: sequence,
                chain: Sodium.hash(chain + [UInt8](repeating: 0, count: Sodium.nonceSize) + tag)
            )
        }

        private func sealedValue(of reference: UUID, at place: ValuePlace) -> [UInt8] {
            let plain = SecureBytes(count: Int(place.sealedCount) - Sodium.tagSize) { _ in }
            var sealed = [UInt8](repeating: 0, count: Int(place.sealedCount))
            let associated =
                header.fileID + place.sequence.littleEndianBytes
                + withUnsafeBytes(of: reference.uuid) { [UInt8]($0) }
            plain.withBytes { plain in
                sealed.withUnsafeMutableBytes {
                    Sodium.seal(plain, into: $0, nonce: place.nonce, associated: associated, key: Self.keys.value)
                }
            }
            return sealed
        }

        /// What the metadata of a frame says.
        static func operations(in metadata: [UInt8]) throws(KeychainError) -> [OperationOutline] {
            try metadata.withByteReader { (reader) throws(KeychainError) in
                _ = try reader.slice(Sodium.keySize)
                let sequence = try reader.integer(UInt64.self)
                _ = try Touched(from: &reader)
                var offset: UInt64 = 0
                var operations: [OperationOutline] = []
                for _ in 0..<(try reader.integer(UInt32.self)) {
                    operations.append(try OperationOutline(from: &reader, valueOffset: &offset, sequence: sequence))
                }
                return operations
            }
        }

        /// A frame without its values.
        static func sealedFrame(
            _ metadata: [UInt8],
            valuesCount: UInt64,
            _ header: FileHeader,
            _ keys: StoreKeys
        ) -> [UInt8] {
            let metadata = metadata.isEmpty ? [0] : metadata
            let sealedCount = metadata.count + Sodium.tagSize
            var writer = ByteWriter()
            writer.append(UInt64(FileLayout.frameHeadSize + sealedCount) + valuesCount)
            writer.append(UInt32(sealedCount))
            writer.append(UInt32(0))
            let lengths = writer.bytes
            // Always the same one, so that the same input always is the same file.
            let nonce = [UInt8](repeating: 0, count: Sodium.nonceSize)
            writer.append(nonce)
            var frame = writer.bytes + [UInt8](repeating: 0, count: sealedCount)
            frame.withUnsafeMutableBytes { frame in
                metadata.withUnsafeBytes { metadata in
                    nonce.withUnsafeBytes { nonce in
                        Sodium.seal(
                            metadata,
                            into: UnsafeMutableRawBufferPointer(rebasing: frame[FileLayout.frameHeadSize...]),
                            nonce: Nonce(nonce),
                            associated: header.fileID + lengths,
                            key: keys.metadata
                        )
                    }
                }
            }
            return frame
        }
    }
#endif
