// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem
    import Synchronization

    /// What this user last saw of a file, so that a former state of it is noticed that someone puts in its place.
    ///
    /// Kept outside of the file, in the user's state folder; written by writers after the commit is durable, so that it
    /// is never ahead of the file, and without waiting for the disk. It is a help, and not a condition: where it cannot be
    /// kept, the file works without.
    final class SeenState: Sendable {
        private let folder: String
        /// Of the keychain file's path and not of the store alone: a copy elsewhere has a history of its own.
        let path: String
        private let opened = Mutex<FileDescriptor?>(nil)

        /// A state that was seen.
        struct Record: Sendable, Equatable {
            let storeID: [UInt8]
            let sequence: UInt64
            let generation: UInt64

            fileprivate static let size = FileLayout.identifierSize + 16

            fileprivate init(_ file: OpenFile, generation: UInt64) {
                storeID = file.header.storeID
                sequence = file.tip.sequence
                self.generation = generation
            }

            /// Reads a record; nil for what is none.
            fileprivate init?(_ bytes: [UInt8]?) {
                guard let bytes, bytes.count == Self.size else { return nil }
                let numbers = bytes.withUnsafeBytes { bytes in
                    [16, 24].map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
                }
                // Numbers that no file has, since they could not be counted on.
                guard numbers.allSatisfy({ $0 < .max - 1 }) else { return nil }
                (storeID, sequence, generation) = (Array(bytes[..<16]), numbers[0], numbers[1])
            }

            /// Always of one length, so that one write replaces another.
            fileprivate var bytes: [UInt8] {
                storeID + sequence.littleEndianBytes + generation.littleEndianBytes
            }
        }

        /// Finds the folder; nil where the environment names none.
        init?(_ place: FilePlace, environment: [String: String]) {
            guard let folder = Self.folder(environment: environment) else { return nil }
            self.folder = folder
            path = "\(folder)/\(Sodium.hash(Array(place.path.utf8)).prefix(16).hexadecimal)"
        }

        /// The folder for what was seen; nil where the environment names none.
        static func folder(environment: [String: String]) -> String? {
            guard environment["XDG_STATE_HOME"] != nil || environment["HOME"] != nil,
                let state = try? PrivateDirectory.state(environment: environment)
            else { return nil }
            return state + "/seen"
        }

        /// What was last seen, nil if nothing is known.
        ///
        /// Has to be read before the file is opened: what is written down meanwhile may be newer than what was opened.
        var last: Record? {
            Record(try? Self.record(path, O_RDONLY)?.read(Record.size, at: 0))
        }

        /// Refuses a file that is older than what was seen before it was opened.
        ///
        /// - Throws: `rolledBack`.
        func require(_ file: OpenFile, notOlderThan last: Record?) throws(KeychainError) {
            if let refusal = refusal(of: file, olderThan: last) { throw refusal }
        }

        /// Why a file is refused that is older than what was seen before it was opened, nil if it is not.
        ///
        /// Of a damaged file, it is the mark that says how far it went.
        func refusal(of file: OpenFile, olderThan last: Record?) -> KeychainError? {
            let sequence = max(file.tip.sequence, file.mark.tip.sequence)
            guard let last, last.storeID == file.header.storeID,
                sequence < last.sequence || file.header.generation < last.generation
            else { return nil }
            let difference =
                sequence < last.sequence
                ? "change \(sequence) instead of \(last.sequence)"
                : "state \(file.header.generation) of its key slots instead of \(last.generation)"
            return KeychainError(
                .rolledBack,
                "The keychain file ‘\(file.place.path)’ is older than when it was last seen here (\(difference)): "
                    + "someone has put a former state in its place. If you did so on purpose, to restore a backup for "
                    + "example, remove ‘\(path)’, or put in its place what keychainctl repair saves of it."
            )
        }

        /// The file of a record; nil if it cannot be opened, or something else lies there that might never answer.
        private static func record(_ path: String, _ flags: Int32) -> FileDescriptor? {
            guard let file = try? FileDescriptor(path, flags | O_NOFOLLOW | O_NONBLOCK, action: ""),
                let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            return file
        }

        /// Remembers a state; the caller holds the lock.
        func remember(_ file: OpenFile) {
            opened.withLock { opened in
                // One that was removed, to accept a former state, is made anew.
                if let known = opened, (try? known.status().st_nlink) ?? 0 == 0 { opened = nil }
                if opened == nil {
                    guard (try? PrivateDirectory.ensure(folder)) != nil else { return }
                    opened = Self.record(path, O_RDWR | O_CREAT)
                }
                // Who opened the file before another writer changed its key slots does not know of that.
                let last = Record(try? opened?.read(Record.size, at: 0))
                let known = last?.storeID == file.header.storeID ? last?.generation ?? 0 : 0
                let record = Record(file, generation: max(file.header.generation, known))
                try? opened?.write(record.bytes, at: 0)
            }
        }
    }
#endif
