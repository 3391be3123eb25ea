// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    public import KeychainAPI
    import KeychainSystem
    import Synchronization

    extension FileDriver {
        /// Rewrites the file without what was removed or replaced, whose ciphertext is gone after that.
        ///
        /// It also happens by itself when more than half of the file, and more than 64 KiB, is of that kind. What keeps it
        /// from happening fails no commit; of a damaged value, ``check(_:progress:)`` tells (``FileReport/stuckByteCount``).
        ///
        /// - Parameter call: Deadline, cancellation and interaction policy.
        /// - Returns: The lengths of the file.
        /// - Throws: `unavailable` if there is no file, `corrupt` if a value is damaged, `outOfSpace`; the file is as it
        ///   was then.
        /// - Complexity: O(n) in the size of what the file contains.
        @discardableResult
        public func compact(_ call: CallContext) throws(KeychainError) -> FileCompaction {
            try exclusively(call) { () throws(KeychainError) in
                guard let store = session.withLock({ $0.store }) else { throw noFile }
                let compacted = try store.compacted(call)
                try adopt(compacted)
                return FileCompaction(before: store.file.size, after: compacted.file.size)
            }
        }

        /// Where it is remembered what was seen of files, nil where the environment names no place for that.
        package static func seenFolder(environment: [String: String]) -> String? {
            SeenState.folder(environment: environment)
        }

        /// Looks at every byte that matters: both copies of the head, the marks, every record, every value.
        ///
        /// Changes nothing, and takes no lock. Of a file that was put back to a former state it says so, and looks at it.
        ///
        /// - Parameters:
        ///   - call: Deadline, cancellation and interaction policy.
        ///   - progress: Is told now and then of how many of all values have been looked at, on the thread that does it.
        /// - Returns: What is there, and what is wrong with it.
        /// - Throws: Why the file cannot be looked at: `unavailable`, `authenticationFailed`, `corrupt` for a file whose
        ///   head is lost or that is no keychain file, `io`.
        /// - Complexity: O(n) in the size of the file.
        public func check(
            _ call: CallContext,
            progress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
        ) throws(KeychainError) -> FileReport {
            try examined(call, progress) { (_, _, _) throws(KeychainError) in }
        }

        /// Saves all that is intact into a new keychain file, which is unlocked as this one is.
        ///
        /// This file is not changed. Items of which a newer state may have been damaged are saved as they are. What is saved
        /// of a former state is no older than the newest state that was seen here: put in this file's place, it is accepted.
        ///
        /// - Parameters:
        ///   - path: Where the new file is made; nothing may be there.
        ///   - call: Deadline, cancellation and interaction policy.
        ///   - progress: Is told now and then of how many of all values have been looked at, on the thread that does it.
        /// - Returns: What was saved, and what was wrong.
        /// - Throws: `duplicateItem` if there is a file at the path, why this one cannot be looked at, and why the new one
        ///   cannot be written; there is none then.
        /// - Complexity: O(n) in the size of the file.
        public func repair(
            to path: String,
            _ call: CallContext,
            progress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
        ) throws(KeychainError) -> FileReport {
            let target = try place.moved(to: path)
            guard try target.status() == nil else { throw FilePlace.exists(target.path) }
            try PrivateDirectory.ensure(target.folder)
            return try examined(call, progress) { (store, seen, intact) throws(KeychainError) in
                let last = max(store.file.tip.sequence, store.file.mark.tip.sequence, seen?.sequence ?? 0)
                let header = store.file.header.successor(after: last, notOlderThan: seen?.generation ?? 0)
                var copy = try store.writeCopy(of: intact, header, store.file.keys, at: target, call) {
                    (unfinished) throws(KeychainError) in try unfinished.publishAsNew()
                }
                try copy.file.synchronizeFolder()
            }
        }

        /// Reads the file anew, opens every value, and tells of what was found.
        private func examined(
            _ call: CallContext,
            _ progress: (_ completed: Int, _ total: Int) -> Void,
            _ use: (StoreFile, SeenState.Record?, [RecordIndex.Entry]) throws(KeychainError) -> Void
        ) throws(KeychainError) -> FileReport {
            let (sealed, store, last, rollback) = try examinable(call)
            var report = try FileReport(sealed, store, rollback: rollback)
            var intact: [RecordIndex.Entry] = []
            let entries = store.index.all.sorted { $0.value.offset < $1.value.offset }
            for (index, entry) in entries.enumerated() {
                try call.check()
                if index.isMultiple(of: 64) { progress(index, entries.count) }
                do throws(KeychainError) {
                    _ = try store.file.value(of: store.index.reference(of: entry), at: entry.value)
                    intact.append(entry)
                } catch  where error.code == .corrupt {
                    report.lose(try store.index.record(of: entry), entry.value, of: store)
                }
            }
            progress(entries.count, entries.count)
            report.itemCount = intact.count
            // Of another store that was here before, nothing counts.
            try use(store, last?.storeID == store.file.header.storeID ? last : nil, intact)
            return report
        }
    }
#endif
