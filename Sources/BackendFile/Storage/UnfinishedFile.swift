// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// A file that is being written next to the one whose place it will take, and is removed if it never does.
    final class UnfinishedFile: Sendable {
        let file: FileDescriptor
        private let place: FilePlace
        private let path: String

        /// Makes an empty file that only its owner may touch.
        init(for place: FilePlace) throws(KeychainError) {
            self.place = place
            path = place.temporaryPath()
            file = try FileDescriptor(
                path,
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                action: "A new keychain file could not be made in ‘\(place.folder)’"
            )
            // As the file that it replaces is locked; no one else can have locked it yet.
            _ = flock(file.number, LOCK_EX | LOCK_NB)
        }

        /// Gives the file to the owner of another one, so that root does not take a file away from its user.
        func takeOwner(of other: FileDescriptor) throws(KeychainError) {
            let (wanted, mine) = (try other.status(), try file.status())
            guard wanted.st_uid != mine.st_uid || wanted.st_gid != mine.st_gid else { return }
            guard fchown(file.number, wanted.st_uid, wanted.st_gid) == 0 else {
                throw .system(errno, "The owner of ‘\(place.path)’ could not be kept")
            }
        }

        /// Makes the file durable and gives it its name, which no file has yet.
        ///
        /// - Throws: `duplicateItem` if a file has the name.
        func publishAsNew() throws(KeychainError) {
            try file.synchronize()
            // A link, unlike a rename, never takes the place of a file that someone else has just made.
            guard link(path, place.path) == 0 else {
                if errno == EEXIST { throw FilePlace.exists(place.path) }
                throw .system(errno, "The keychain file ‘\(place.path)’ could not be created")
            }
            _ = unlink(path)
            try place.synchronizeFolder()
        }

        /// Makes the file durable and puts it in the other one's place.
        func publishAsReplacement() throws(KeychainError) {
            try file.synchronize()
            guard rename(path, place.path) == 0 else {
                throw .system(errno, "The keychain file ‘\(place.path)’ could not be replaced")
            }
            try place.synchronizeFolder()
        }

        deinit {
            // Its name is gone once it was published.
            _ = unlink(path)
        }
    }

    extension FilePlace {
        /// The error for a file that should be made and exists.
        static func exists(_ path: String) -> KeychainError {
            KeychainError(
                .duplicateItem,
                "There is a file at ‘\(path)’ already. Open it, or choose another path for a new keychain file."
            )
        }
    }
#endif
