// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// A file that is being written next to the one whose place it will take, and is removed if it never does.
    final class UnfinishedFile: Sendable {
        let file: any StoredFile
        private let place: FilePlace
        private let path: String

        /// Makes an empty file that only its owner may touch.
        init(for place: FilePlace) throws(KeychainError) {
            self.place = place
            path = place.temporaryPath()
            file = try place.system.open(
                path,
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                action: "A new keychain file could not be made in ‘\(place.folder)’"
            )
            // As the file that it replaces is locked; no one else can have locked it yet.
            file.lock()
        }

        /// Gives the file to the owner of another one, so that root does not take a file away from its user.
        func takeOwner(of other: any StoredFile) throws(KeychainError) {
            let (wanted, mine) = (try other.status(), try file.status())
            guard wanted.st_uid != mine.st_uid || wanted.st_gid != mine.st_gid else { return }
            let number = file.changeOwner(wanted.st_uid, wanted.st_gid)
            guard number == 0 else {
                throw .system(number, "The owner of ‘\(place.path)’ could not be kept")
            }
        }

        /// Makes the file durable and gives it its name, which no file has yet; the name is not yet durable.
        ///
        /// - Throws: `duplicateItem` if a file has the name.
        func publishAsNew() throws(KeychainError) {
            try file.synchronize()
            // A link, unlike a rename, never takes the place of a file that someone else has just made.
            let number = place.system.link(path, to: place.path)
            guard number == 0 else {
                if number == EEXIST { throw FilePlace.exists(place.path) }
                throw .system(number, "The keychain file ‘\(place.path)’ could not be created")
            }
            place.system.unlink(path)
        }

        /// Makes the file durable and puts it in the other one's place; until the folder is flushed, a power cut may bring
        /// that one back.
        func publishAsReplacement() throws(KeychainError) {
            try file.synchronize()
            let number = place.system.rename(path, to: place.path)
            guard number == 0 else {
                throw .system(number, "The keychain file ‘\(place.path)’ could not be replaced")
            }
        }

        deinit {
            // Its name is gone once it was published.
            place.system.unlink(path)
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
