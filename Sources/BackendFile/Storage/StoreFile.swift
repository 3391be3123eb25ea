// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// An unlocked keychain file and what it contains.
    struct StoreFile: Sendable {
        var file: OpenFile
        var index = RecordIndex()

        /// Reads a file that was unlocked.
        ///
        /// - Throws: `corrupt` if it is damaged, `unsupported` if a later version wrote to it.
        /// - Complexity: O(n) in the number of commits since the last compaction; no value is opened.
        init(_ sealed: SealedFile, keys: StoreKeys) throws(KeychainError) {
            file = try OpenFile(sealed, keys: keys)
            guard try readFrames() else {
                throw .damaged("the record at byte \(file.tip.length) is not the one that was written there")
            }
        }

        private init(file: OpenFile) {
            self.file = file
        }

        /// Brings what is known up to date.
        ///
        /// - Parameters:
        ///   - status: What the path leads to.
        ///   - forWriting: Whether to take nothing on trust that is not marked.
        /// - Returns: Whether that was possible; if not, the file has to be opened again.
        mutating func refresh(_ status: stat, forWriting: Bool) throws(KeychainError) -> Bool {
            do {
                switch try file.compare(with: status) {
                case .current: return !(forWriting && file.isAheadOfMark)
                case .longer: return try readFrames() && !(forWriting && file.isAheadOfMark)
                case .stale: return false
                }
            } catch  where error.code == .corrupt || error.code == .unsupported {
                // What does not go on from what was read may be another file in the same place.
                return false
            }
        }

        /// How many bytes of the file are about nothing that is there any more.
        var garbageByteCount: UInt64 {
            let used = UInt64(FileLayout.regionSize) + index.liveByteCount
            return file.tip.length > used ? file.tip.length - used : 0
        }

        /// Whether a rewrite would make the file less than half as long.
        var isWorthCompacting: Bool {
            garbageByteCount > index.liveByteCount && garbageByteCount > file.compactionThreshold
        }

        private mutating func readFrames() throws(KeychainError) -> Bool {
            try file.readFrames { (frame) throws(KeychainError) in
                do {
                    index.apply(try index.outcome(of: frame.operations))
                } catch {
                    throw .damaged("a record contradicts those before it")
                }
            }
        }
    }

    // Making files; the caller holds the lock.
    extension StoreFile {
        /// Makes a new file, complete and durable before it has its name.
        ///
        /// - Throws: `duplicateItem` if there is one, and what writing throws.
        static func create(
            at place: FilePlace,
            material: KeyMaterial,
            cost: DerivationCost
        ) throws(KeychainError) -> StoreFile {
            try Sodium.prepare()
            let storeID = Sodium.random(FileLayout.identifierSize)
            let master = Sodium.randomKey()
            let slot = try KeySlot(master: master, material: material, storeID: storeID, cost: cost)
            let header = FileHeader(storeID: storeID, slot: slot)
            let keys = StoreKeys(master: master)
            let unfinished = try UnfinishedFile(for: place)
            try unfinished.file.write(OpenFile.region(header, keys: keys, tip: header.start), at: 0)
            try unfinished.publishAsNew()
            return StoreFile(
                file: try OpenFile(
                    written: unfinished.file,
                    at: place,
                    header: header,
                    keys: keys,
                    tip: header.start
                )
            )
        }

        /// Writes a new file with what is there and puts it in this one's place.
        ///
        /// Every value is opened and sealed again, one at a time, so that a damaged one is noticed and the file stays.
        ///
        /// - Throws: `corrupt` if a value is damaged, and what writing throws; the file is as it was then.
        func compacted(_ call: CallContext) throws(KeychainError) -> StoreFile {
            let header = file.header.successor(after: file.tip.sequence)
            let unfinished = try UnfinishedFile(for: file.place)
            try unfinished.takeOwner(of: file.file)
            var tip = header.start
            var index = RecordIndex()
            var batch: [RecordIndex.Entry] = []
            var batchCount: UInt64 = 0
            let entries = self.index.all.sorted { $0.value.offset < $1.value.offset }
            for (number, entry) in entries.enumerated() {
                batch.append(entry)
                batchCount += entry.byteCount
                guard batchCount > Self.batchLimit || number == entries.count - 1 else { continue }
                try call.check()
                let (frame, bytes) = try sealed(batch, after: tip, header: header)
                try unfinished.file.write(bytes, at: tip.length)
                index.apply(try index.outcome(of: frame.operations))
                tip = frame.tip
                (batch, batchCount) = ([], 0)
            }
            try unfinished.file.write(OpenFile.region(header, keys: file.keys, tip: tip), at: 0)
            try unfinished.publishAsReplacement()
            var store = StoreFile(
                file: try OpenFile(written: unfinished.file, at: file.place, header: header, keys: file.keys, tip: tip)
            )
            store.index = index
            return store
        }

        /// How many bytes of items go into one frame of a rewritten file.
        private static let batchLimit: UInt64 = 1 << 20

        private func sealed(
            _ batch: [RecordIndex.Entry],
            after tip: Tip,
            header: FileHeader
        ) throws(KeychainError) -> (Frame, [UInt8]) {
            var values: [SecureBytes] = []
            for entry in batch {
                values.append(try file.value(of: entry.record.reference, at: entry.value))
            }
            let operations = batch.map { RecordOperation(.insert, $0.record) }
            return try Frame.seal(operations, values: values, after: tip, header: header, keys: file.keys)
        }
    }
#endif
