// SPDX-License-Identifier: MIT
#if File
    public import KeychainAPI

    /// How long a keychain file was before it was rewritten, and how long it is now.
    public struct FileCompaction: Sendable, Hashable {
        /// The length before, in bytes.
        public let before: UInt64
        /// The length now, in bytes.
        public let after: UInt64
    }

    /// What an examination of a keychain file found.
    public struct FileReport: Sendable {
        /// How many items are there with a value that is authentic.
        public internal(set) var itemCount = 0
        /// The places that are not as they were written, in the order of the file; empty for a file that is whole.
        public private(set) var damages: [FileDamage]
        /// The items whose value is lost.
        public private(set) var lost: [ItemRecord]
        /// The items that are there, and of which a newer state, or a removal, may have been damaged.
        public let doubtful: [ItemRecord]
        /// Whether there may have been items that nothing is known of any more.
        public let isIncomplete: Bool
        /// How many bytes are about nothing that is there any more, and would have been cleared away by now; 0 unless a
        /// damaged value keeps the file from being rewritten.
        public private(set) var stuckByteCount: UInt64 = 0
        /// What the next writer will mend by itself: the damaged one of two copies.
        public let mendable: [FileDamage]

        /// Why the file is refused as older than when it was last seen here, nil if it is not.
        public let rollback: KeychainError?

        /// Whether nothing is wrong.
        public var isWhole: Bool { damages.isEmpty && mendable.isEmpty && rollback == nil }

        init(_ sealed: SealedFile, _ store: StoreFile, rollback: KeychainError? = nil) throws(KeychainError) {
            self.rollback = rollback
            let salvage = store.salvage
            damages = salvage?.damages ?? []
            lost = salvage.map { Array($0.valueless.values) } ?? []
            var doubtful: [ItemRecord] = []
            for reference in salvage?.doubtful ?? [] {
                if let entry = store.index[reference] { doubtful.append(try store.index.record(of: entry)) }
            }
            self.doubtful = doubtful
            isIncomplete = salvage?.isIncomplete ?? false
            let copies = sealed.staleCopies.map { number in
                FileDamage(
                    offset: UInt64(FileLayout.headerCopies[number]),
                    count: UInt64(FileLayout.pageSize),
                    finding: "one of the two copies of the head differs"
                )
            }
            let marks = store.file.tornMarks.map { number in
                FileDamage(
                    offset: UInt64(FileLayout.marks[number]),
                    count: UInt64(FileLayout.markSize),
                    finding: "one of the two marks is not whole"
                )
            }
            mendable = copies + (salvage == nil ? marks : [])
        }

        /// Notes a value that is not the one that was stored.
        mutating func lose(_ record: ItemRecord, _ value: ValuePlace, of store: StoreFile) {
            lost.append(record)
            if store.isWorthCompacting { stuckByteCount = store.garbageByteCount }
            damages.append(
                FileDamage(
                    offset: value.offset,
                    count: UInt64(value.sealedCount),
                    finding: "a value is not the one that was stored there"
                )
            )
            damages.sort { $0.offset < $1.offset }
        }
    }
#endif
