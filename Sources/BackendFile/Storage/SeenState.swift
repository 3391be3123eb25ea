// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
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
        private let path: String
        private let opened = Mutex<FileDescriptor?>(nil)

        /// A state that was seen.
        struct Record: Sendable, Equatable {
            fileprivate var store: String
            fileprivate var sequence: UInt64
            fileprivate var generation: UInt64
        }

        /// Finds the folder; nil where the environment names none.
        init?(_ place: FilePlace, environment: [String: String]) {
            guard environment["XDG_STATE_HOME"] != nil || environment["HOME"] != nil,
                let state = try? PrivateDirectory.state(environment: environment)
            else { return nil }
            folder = state + "/seen"
            path = "\(folder)/\(Sodium.hash(Array(place.path.utf8)).prefix(16).hexadecimal)"
        }

        /// What was last seen, nil if nothing is known.
        ///
        /// Has to be read before the file is opened: what is written down meanwhile may be newer than what was opened.
        var last: Record? {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
            let parts = text.split(whereSeparator: \.isWhitespace)
            guard parts.count == 3, let sequence = UInt64(parts[1]), let generation = UInt64(parts[2]) else {
                return nil
            }
            return Record(store: String(parts[0]), sequence: sequence, generation: generation)
        }

        /// Refuses a file that is older than what was seen before it was opened.
        ///
        /// - Throws: `rolledBack`.
        func require(_ file: OpenFile, notOlderThan last: Record?) throws(KeychainError) {
            guard let last, last.store == file.header.storeID.hexadecimal,
                file.tip.sequence < last.sequence || file.header.generation < last.generation
            else { return }
            throw KeychainError(
                .rolledBack,
                "The keychain file ‘\(file.place.path)’ is older than when it was last seen here (change "
                    + "\(file.tip.sequence) instead of \(last.sequence)): someone has put a former state in its place. If "
                    + "you did so on purpose, to restore a backup for example, remove ‘\(path)’."
            )
        }

        /// Remembers a state; the caller holds the lock.
        func remember(_ file: OpenFile) {
            opened.withLock { opened in
                if opened == nil {
                    guard (try? PrivateDirectory.ensure(folder)) != nil else { return }
                    opened = try? FileDescriptor(path, O_WRONLY | O_CREAT | O_NOFOLLOW, action: "")
                }
                let numbers = [file.tip.sequence, file.header.generation].map { number in
                    let digits = String(number)
                    return String(repeating: "0", count: 20 - digits.count) + digits
                }
                // Always of one length, so that one write replaces another.
                let line = "\(file.header.storeID.hexadecimal) \(numbers[0]) \(numbers[1])\n"
                try? opened?.write(Array(line.utf8), at: 0)
            }
        }
    }
#endif
