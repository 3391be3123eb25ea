// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainSodium

    /// The head of a file: who it is, and how it is unlocked.
    ///
    /// It is kept twice, so that one damaged copy loses nothing.
    struct FileHeader: Sendable, Equatable {
        /// Stays the same as long as the store lives; the key slots are bound to it.
        let storeID: [UInt8]
        /// Is new whenever the file is rewritten; the records are bound to it.
        let fileID: [UInt8]
        /// The sequence number that the first frame follows.
        let firstSequence: UInt64
        /// Counts the changes of the key slots: the copy with the higher one is the newer.
        let generation: UInt64
        /// The key slots, byte by byte, so that kinds of a later version survive.
        let slots: [UInt8]

        /// What one copy of the header is found to be.
        enum Copy: Equatable {
            /// A header whose checksum is right.
            case valid(FileHeader)
            /// It begins as a header does, and its checksum is wrong.
            case damaged
            /// It does not begin as a header does.
            case foreign
            /// A header of a version that this library does not know.
            case newer(UInt16)
        }

        /// Makes the header of a new store.
        init(storeID: [UInt8], slot: KeySlot) {
            self.init(
                storeID: storeID,
                fileID: Sodium.random(FileLayout.identifierSize),
                firstSequence: 0,
                generation: 1,
                slots: Self.encoded([slot])
            )
        }

        private init(storeID: [UInt8], fileID: [UInt8], firstSequence: UInt64, generation: UInt64, slots: [UInt8]) {
            self.storeID = storeID
            self.fileID = fileID
            self.firstSequence = firstSequence
            self.generation = generation
            self.slots = slots
        }

        /// The header of the file that takes this one's place, with the same keys.
        ///
        /// - Parameters:
        ///   - sequence: The sequence number that the first frame follows.
        ///   - seen: A generation of this store that was seen, and that the header is not to be older than.
        func successor(after sequence: UInt64, notOlderThan seen: UInt64 = 0) -> FileHeader {
            FileHeader(
                storeID: storeID,
                fileID: Sodium.random(FileLayout.identifierSize),
                firstSequence: sequence,
                generation: max(generation, seen),
                slots: slots
            )
        }

        /// The header of the file that takes this one's place, with another master key and the slots that wrap it.
        func successor(after sequence: UInt64, slots: [KeySlot]) -> FileHeader {
            FileHeader(
                storeID: storeID,
                fileID: Sodium.random(FileLayout.identifierSize),
                firstSequence: sequence,
                generation: generation + 1,
                slots: Self.encoded(slots)
            )
        }

        /// The same header with another slot in one place, or none.
        func replacing(slot number: Int, with slot: KeySlot?) -> FileHeader {
            var writer = ByteWriter()
            writer.append(slots[..<(number * FileLayout.slotSize)])
            if let slot { writer.append(slot.encoded) }
            writer.pad(to: (number + 1) * FileLayout.slotSize)
            writer.append(slots[((number + 1) * FileLayout.slotSize)...])
            return FileHeader(
                storeID: storeID,
                fileID: fileID,
                firstSequence: firstSequence,
                generation: generation + 1,
                slots: writer.bytes
            )
        }

        private static func encoded(_ slots: [KeySlot]) -> [UInt8] {
            var writer = ByteWriter()
            for (number, slot) in slots.enumerated() {
                writer.append(slot.encoded)
                writer.pad(to: (number + 1) * FileLayout.slotSize)
            }
            writer.pad(to: FileLayout.slotCount * FileLayout.slotSize)
            return writer.bytes
        }

        /// The first place for a slot that is not used, also not by a kind of a later version; nil if there is none.
        var freeSlot: Int? {
            (0..<FileLayout.slotCount).first { number in
                slots[number * FileLayout.slotSize] == 0 && slots[number * FileLayout.slotSize + 1] == 0
            }
        }

        /// Where the chain of frames begins.
        var start: Tip {
            Tip(
                length: UInt64(FileLayout.regionSize),
                sequence: firstSequence,
                chain: Sodium.hash(fileID + firstSequence.littleEndianBytes)
            )
        }

        /// One copy of the header, as it is in the file.
        func encoded(key: SecureBytes) -> [UInt8] {
            var writer = ByteWriter()
            writer.append(FileLayout.magic)
            writer.append(FileLayout.version)
            writer.append(UInt16(0))
            writer.append(UInt32(FileLayout.regionSize))
            writer.append(storeID)
            writer.append(fileID)
            writer.append(firstSequence)
            writer.append(generation)
            writer.append(slots)
            writer.pad(to: FileLayout.headerMACStart)
            writer.append(Sodium.hash(key: key, writer.bytes))
            writer.append(Sodium.hash(writer.bytes))
            return writer.bytes
        }

        /// Looks at one copy.
        ///
        /// - Parameter page: A page of a file.
        /// - Throws: `unsupported` for a layout that this version does not know.
        static func examine(_ page: [UInt8]) throws(KeychainError) -> Copy {
            guard page.count == FileLayout.pageSize, page.starts(with: FileLayout.magic) else { return .foreign }
            let checked = Array(page[..<FileLayout.headerChecksumStart])
            let isIntact = Sodium.areEqual(Sodium.hash(checked), Array(page[FileLayout.headerChecksumStart...]))
            return try page.withByteReader { (reader) throws(KeychainError) in
                _ = try reader.slice(FileLayout.magic.count)
                let version = try reader.integer(UInt16.self)
                guard isIntact else { return .damaged }
                guard version == FileLayout.version else { return .newer(version) }
                _ = try reader.slice(2)
                guard try reader.integer(UInt32.self) == UInt32(FileLayout.regionSize) else { return .damaged }
                let header = FileHeader(
                    storeID: try reader.array(FileLayout.identifierSize),
                    fileID: try reader.array(FileLayout.identifierSize),
                    firstSequence: try reader.integer(UInt64.self),
                    generation: try reader.integer(UInt64.self),
                    slots: try reader.array(FileLayout.slotCount * FileLayout.slotSize)
                )
                // Numbers that could not be counted on.
                guard header.firstSequence < .max, header.generation < .max else { return .damaged }
                return .valid(header)
            }
        }

        /// Whether a copy was written by who knows the master key.
        static func isAuthentic(_ page: [UInt8], key: SecureBytes) -> Bool {
            let end = FileLayout.headerMACStart + Sodium.keySize
            return Sodium.areEqual(
                Sodium.hash(key: key, Array(page[..<FileLayout.headerMACStart])),
                Array(page[FileLayout.headerMACStart..<end])
            )
        }

        /// The key slots that this version knows, in the order of their numbers.
        ///
        /// - Throws: `corrupt` or `unsupported` for parameters that cannot be, or that would cost too much; nothing has
        ///   been derived by then.
        func keySlots() throws(KeychainError) -> [(number: Int, slot: KeySlot)] {
            var found: [(number: Int, slot: KeySlot)] = []
            for number in 0..<FileLayout.slotCount {
                let start = number * FileLayout.slotSize
                guard let slot = try KeySlot(Array(slots[start..<start + FileLayout.slotSize])) else { continue }
                found.append((number, slot))
            }
            // The factors of a passphrase's slot are bounded by now; those of a key's slot mean nothing.
            let costs = found.filter { $0.slot.kind == .passphrase }.map(\.slot.cost)
            let work = costs.reduce(UInt64(0)) { $0 + UInt64($1.operations) * $1.memory }
            guard work <= DerivationCost.workLimit else { throw KeySlot.tooCostly }
            return found
        }

        /// The numbers of the slots of which something is true.
        func slots(
            where isIncluded: (KeySlot) throws(KeychainError) -> Bool
        ) throws(KeychainError) -> Set<Int> {
            var numbers: Set<Int> = []
            for (number, slot) in try keySlots() where try isIncluded(slot) { numbers.insert(number) }
            return numbers
        }

        /// The master key, and the number of the slot that has it.
        ///
        /// - Throws: `authenticationFailed` if no slot opens with the material.
        func masterKey(_ material: KeyMaterial) throws(KeychainError) -> (slot: Int, master: SecureBytes) {
            let slots = try keySlots()
            for (number, slot) in slots {
                if let master = try slot.masterKey(material, storeID: storeID) { return (number, master) }
            }
            let takes = Set(slots.map(\.slot.kind))
            switch material {
            case .passphrase where !takes.contains(.passphrase):
                throw KeychainError(
                    .authenticationFailed,
                    "The keychain file takes no passphrase; it is unlocked with a key (keyfile:PATH or store:URL)."
                )
            case .key where !takes.contains(.key):
                throw KeychainError(
                    .authenticationFailed,
                    "The keychain file takes no key; it is unlocked with a passphrase."
                )
            case .passphrase:
                throw KeychainError(
                    .authenticationFailed,
                    "The passphrase of the keychain file is wrong. Nothing was changed; try again with the right one."
                )
            case .key:
                throw KeychainError(
                    .authenticationFailed,
                    "The key is not the one of the keychain file. Nothing was changed; try again with the right one."
                )
            }
        }
    }

    /// How far a file goes: its length, and what stands for all that is before.
    struct Tip: Sendable, Equatable {
        /// Where the next frame will begin.
        var length: UInt64
        /// The sequence number of the last frame.
        var sequence: UInt64
        /// A hash over everything up to the last frame.
        var chain: [UInt8]
    }

    extension FixedWidthInteger {
        /// The number's bytes, the lowest first.
        var littleEndianBytes: [UInt8] {
            withUnsafeBytes(of: littleEndian) { [UInt8]($0) }
        }
    }
#endif
