// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// What one driver knows of its file, shared by all of its threads.
    struct Session: Sendable {
        /// The unlocked file, nil before the first use.
        private(set) var store: StoreFile?
        /// Whether the file was ever there: if it is gone after that, it is not simply empty.
        private var wasSeen = false
        /// Whether what is known failed to follow the file and must not be used.
        private var isOutdated = false
        /// Whether a thread of this driver holds the lock: no one else can change the file then, and only that thread
        /// changes the session.
        private var hasWriter = false
        private let seen: SeenState?

        /// Knows nothing yet.
        ///
        /// - Parameter seen: What was seen of the file before, nil if nobody remembers.
        init(seen: SeenState?) {
            self.seen = seen
        }

        /// What there is to work with.
        enum State: Sendable {
            /// The file as it is now.
            case open(FileView)
            /// There is no file, and there never was.
            case missing
            /// There is a file that has to be unlocked.
            case locked
        }

        /// Brings what is known up to date.
        ///
        /// - Parameter place: Where the file is.
        /// - Throws: `unavailable` if the file has vanished, and why it cannot be read.
        mutating func state(at place: FilePlace) throws(KeychainError) -> State {
            if hasWriter { return (store?.view()).map { .open($0) } ?? .missing }
            switch try refresh(place, forWriting: false) {
            case true?: return (store?.view()).map { .open($0) } ?? .locked
            case false?: return .locked
            case nil: return .missing
            }
        }

        /// The commit that the file is at; nil if that cannot be told.
        mutating func moment(at place: FilePlace) -> FileMoment? {
            guard case .open? = try? state(at: place), let file = store?.file else { return nil }
            return FileMoment(file: file.identity, tip: file.tip)
        }

        /// Brings what is known up to date for the holder of the lock, and reserves the session for it.
        ///
        /// - Returns: Whether that was possible: if not, the file has to be unlocked first.
        /// - Throws: As ``state(at:)``.
        mutating func beginWriting(at place: FilePlace) throws(KeychainError) -> Bool {
            guard try refresh(place, forWriting: true) != false else { return false }
            if let salvage = store?.salvage { throw salvage.refusal }
            hasWriter = true
            return true
        }

        /// Gives the session back.
        mutating func endWriting() {
            hasWriter = false
            // Locked if it was made by this writer.
            store?.file.file.unlock()
        }

        /// Takes a file that another thread did not unlock before.
        mutating func unlocked(_ opened: StoreFile) {
            if store == nil { store = opened }
            wasSeen = true
        }

        /// Takes a file that the writer made or rewrote.
        mutating func replace(with written: StoreFile) {
            store = written
            wasSeen = true
        }

        /// Takes what a commit of the writer has done.
        ///
        /// - Parameter frame: What was appended, nil if the contents are as before.
        mutating func committed(_ file: OpenFile, _ frame: Frame?) {
            store?.file = file
            do {
                if let frame { try store?.index.apply(frame) }
            } catch {
                // It was checked before it was written; should it not fit after all, what is known is of no use.
                isOutdated = true
            }
        }

        /// Has the file read anew before it is used again, after a change of its head that may be half done.
        mutating func doubt() { isOutdated = true }

        /// Puts off the next rewrite, after one that failed.
        mutating func postponeCompaction() {
            guard let store else { return }
            self.store?.file.compactionThreshold = store.garbageByteCount * 2
        }

        /// True if the store is up to date, false if there is a file to be unlocked, nil if there is none.
        private mutating func refresh(_ place: FilePlace, forWriting: Bool) throws(KeychainError) -> Bool? {
            var found = try place.status()
            if found == nil {
                guard wasSeen || seen?.last != nil else { return nil }
                // Another process may have made it, and left its record, after it was looked for.
                found = try place.status()
            }
            guard let status = found else { throw vanished(place) }
            try status.requireKeychainFile(place)
            wasSeen = true
            if case nil = store { return false }
            let isUsable = !isOutdated
            isOutdated = true
            let isCurrent = isUsable ? try store?.refresh(status, forWriting: forWriting) : false
            let isKnown = if isCurrent == true { true } else { try reopen(place) }
            isOutdated = false
            return isKnown
        }

        private func vanished(_ place: FilePlace) -> KeychainError {
            // Of this process, or of one before it: a disk that is not mounted must not look like an empty store.
            let remedy = seen.map { " To begin anew, use keychainctl init, or remove ‘\($0.path)’." } ?? ""
            return KeychainError(
                .unavailable,
                "The keychain file ‘\(place.path)’ was there and has vanished. Put it back; nothing is stored in a new one "
                    + "in its place.\(remedy)"
            )
        }

        /// Opens the file again with the keys that are known; false if it has others now.
        private mutating func reopen(_ place: FilePlace) throws(KeychainError) -> Bool {
            guard let keys = store?.file.keys else { return false }
            let last = seen?.last
            let sealed = try SealedFile(place)
            guard sealed.isAuthentic(keys) else {
                store = nil
                return false
            }
            store = try StoreFile(sealed, keys: keys, seen: seen, last)
            return true
        }
    }

    /// The contents of a file at one moment; readers keep it as long as they need it.
    struct FileView: Sendable {
        let file: OpenFile
        let index: RecordIndex
        /// What is known of the damage, nil for a file that is whole.
        let salvage: Salvage?

        /// The value of a record.
        ///
        /// - Throws: `itemNotFound` if the record is not there, `corrupt` if its value is damaged.
        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            guard let entry = index[record.reference] else { throw .itemNotFound }
            return try file.value(of: record.reference, at: entry.value)
        }
    }
#endif
