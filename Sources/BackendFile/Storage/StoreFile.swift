// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem

    /// An unlocked keychain file and what it contains.
    struct StoreFile: Sendable {
        var file: OpenFile
        var index = RecordIndex()
        /// What is known of the damage, nil for a file that is whole.
        private(set) var salvage: Salvage?

        /// Reads a file that was unlocked; of a damaged one, what can be read.
        ///
        /// - Parameters:
        ///   - sealed: The file.
        ///   - keys: Its keys.
        ///   - seen: Who remembers what was seen of the file, nil if it may be of any age.
        ///   - last: What was last seen when the file was not yet opened.
        /// - Throws: `rolledBack`, `unsupported` if a later version wrote to it, and what reading throws.
        /// - Complexity: O(n) in the number of commits since the last compaction; no value is opened.
        init(
            _ sealed: SealedFile,
            keys: StoreKeys,
            seen: SeenState? = nil,
            _ last: SeenState.Record? = nil
        ) throws(KeychainError) {
            do throws(KeychainError) {
                file = try OpenFile(sealed, keys: keys)
                if try readFrames(), sealed.blemishes.isEmpty {
                    try seen?.require(file, notOlderThan: last)
                    return
                }
            } catch  where error.code == .corrupt {}
            let salvage: Salvage
            (file, index, salvage) = try Salvage.read(sealed, keys: keys)
            // Else a former state would pass if it were damaged as well.
            try seen?.require(file, notOlderThan: last)
            self.salvage = salvage.damages.isEmpty ? nil : salvage
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
            // No writer goes on with a damaged file: it is either the one that was read, or has to be read anew.
            if let salvage { return salvage.isOf(status) }
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

        /// What the file contains now, for a reader.
        ///
        /// Mutating only so that it is asked in its place: Swift copies an optional store as a whole, with a reference for
        /// everything that a writer needs, to ask it what changes nothing.
        mutating func view() -> FileView {
            FileView(file: file, index: index, salvage: salvage)
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
            let end = file.size
            return try file.readFrames { (frame) throws(KeychainError) in
                index.makeRoom(for: frame, before: end)
                do {
                    try index.apply(frame)
                } catch {
                    throw .damaged("a record contradicts those before it")
                }
            }
        }
    }

    // Making files; the caller holds the lock.
    extension StoreFile {
        /// Makes a new file, complete and durable before it has its name; the name is made durable by who goes on with it.
        ///
        /// - Throws: `duplicateItem` if there is one, and what writing throws.
        static func create(
            at place: FilePlace,
            slot makeSlot: (_ master: SecureBytes, _ storeID: [UInt8]) throws(KeychainError) -> KeySlot
        ) throws(KeychainError) -> StoreFile {
            let storeID = Sodium.random(FileLayout.identifierSize)
            let master = Sodium.randomKey()
            let slot = try makeSlot(master, storeID)
            let header = FileHeader(storeID: storeID, slot: slot)
            let keys = StoreKeys(master: master)
            let unfinished = try UnfinishedFile(for: place)
            try unfinished.file.write(OpenFile.region(header, keys: keys, tip: header.start), at: 0)
            // All that may fail comes before: once the file has its name, it is the one to go on with.
            let store = StoreFile(
                file: try OpenFile(
                    written: unfinished.file,
                    at: place,
                    header: header,
                    keys: keys,
                    tip: header.start,
                    touched: .items([])
                )
            )
            try unfinished.publishAsNew()
            return store
        }

        /// Writes a new file with what is there and puts it in this one's place.
        ///
        /// - Throws: `corrupt` if a value is damaged, and what writing throws; the file is as it was then.
        func compacted(_ call: CallContext) throws(KeychainError) -> StoreFile {
            // With the key slots as they are now: another writer may have changed them since this one has looked.
            try rewritten(file.currentHead().header.successor(after: file.tip.sequence), file.keys, call)
        }

        /// Does the same with another head and other keys.
        func rewritten(
            _ header: FileHeader,
            _ keys: StoreKeys,
            _ call: CallContext
        ) throws(KeychainError) -> StoreFile {
            try writeCopy(of: index.all, header, keys, at: file.place, call) {
                (unfinished) throws(KeychainError) in try unfinished.publishAsReplacement()
            }
        }

        /// Writes a new file with some items.
        ///
        /// - Parameters:
        ///   - entries: The items; every value is opened and sealed again, one at a time.
        ///   - header: The head of the new file.
        ///   - keys: The keys of the new file.
        ///   - place: Where the file will be.
        ///   - call: Deadline and cancellation.
        ///   - publish: Gives the file its name when it is complete.
        func writeCopy(
            of entries: [RecordIndex.Entry],
            _ header: FileHeader,
            _ keys: StoreKeys,
            at place: FilePlace,
            _ call: CallContext,
            publish: (UnfinishedFile) throws(KeychainError) -> Void
        ) throws(KeychainError) -> StoreFile {
            let unfinished = try UnfinishedFile(for: place)
            try unfinished.takeOwner(of: file.file)
            var tip = header.start
            var touched = Touched.items([])
            var index = RecordIndex()
            var batch: [RecordIndex.Entry] = []
            var batchCount: UInt64 = 0
            let entries = entries.sorted { $0.value.offset < $1.value.offset }
            for (number, entry) in entries.enumerated() {
                batch.append(entry)
                batchCount += entry.byteCount
                guard batchCount > Self.batchLimit || number == entries.count - 1 else { continue }
                try call.check()
                let (frame, bytes) = try sealed(batch, after: tip, before: touched, header: header, keys: keys)
                try unfinished.file.write(bytes, at: tip.length)
                try index.apply(frame)
                (tip, touched) = (frame.tip, frame.touched)
                (batch, batchCount) = ([], 0)
            }
            try unfinished.file.write(OpenFile.region(header, keys: keys, tip: tip), at: 0)
            var store = StoreFile(
                file: try OpenFile(
                    written: unfinished.file,
                    at: place,
                    header: header,
                    keys: keys,
                    tip: tip,
                    touched: touched
                )
            )
            store.index = index
            try publish(unfinished)
            return store
        }

        /// How many bytes of items go into one frame of a rewritten file.
        private static let batchLimit: UInt64 = 1 << 20

        private func sealed(
            _ batch: [RecordIndex.Entry],
            after tip: Tip,
            before: Touched,
            header: FileHeader,
            keys: StoreKeys
        ) throws(KeychainError) -> (Frame, [UInt8]) {
            var values: [SecureBytes] = []
            var operations: [RecordOperation] = []
            for entry in batch {
                let record = try index.record(of: entry)
                operations.append(RecordOperation(.insert, record))
                values.append(try file.value(of: record.reference, at: entry.value))
            }
            return try Frame.seal(operations, values: values, after: tip, before: before, header: header, keys: keys)
        }
    }
#endif
