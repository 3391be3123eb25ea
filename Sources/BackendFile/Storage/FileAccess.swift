// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import KeychainSystem

    extension FileDescriptor: StoredFile {
        /// Reads up to `count` bytes from a place; fewer if the file ends before.
        func read(_ count: Int, at offset: UInt64) throws(KeychainError) -> [UInt8] {
            var got = 0
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                while got < count, let start = buffer.baseAddress {
                    let result = retryingInterruptions {
                        pread(number, start + got, count - got, off_t(clamping: offset + UInt64(got)))
                    }
                    if result < 0 { failure = errno }
                    if result <= 0 { break }
                    got += result
                }
                initialized = got
            }
            guard failure == 0 else { throw .system(failure, "The keychain file could not be read") }
            return bytes
        }

        /// Writes all of the bytes at a place.
        func write(_ bytes: [UInt8], at offset: UInt64) throws(KeychainError) {
            var done = 0
            while done < bytes.count {
                let result = bytes.withUnsafeBytes { buffer in
                    retryingInterruptions {
                        pwrite(number, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
                    }
                }
                guard result >= 0 else { throw .system(errno, "The keychain file could not be written") }
                done += result
            }
        }

        /// Makes the file's contents durable, and its length.
        func synchronizeData() throws(KeychainError) {
            guard retryingInterruptions({ fdatasync(number) }) == 0 else {
                throw .system(errno, "The keychain file could not be written to the disk")
            }
        }

        /// Makes all of the file durable.
        func synchronize() throws(KeychainError) {
            guard retryingInterruptions({ fsync(number) }) == 0 else {
                throw .system(errno, "The keychain file could not be written to the disk")
            }
        }

        /// Cuts the file off at a length.
        func cut(at length: UInt64) throws(KeychainError) {
            guard retryingInterruptions({ ftruncate(number, off_t(length)) }) == 0 else {
                throw .system(errno, "The keychain file could not be cut to its complete part")
            }
        }

        /// Gives the file to another owner; the error's number, 0 if it worked.
        func changeOwner(_ user: uid_t, _ group: gid_t) -> Int32 { fchown(number, user, group) == 0 ? 0 : errno }

        /// Locks the file that no one else can have locked yet.
        func lock() { _ = flock(number, LOCK_EX | LOCK_NB) }
    }

    extension stat {
        /// The length in bytes.
        var length: UInt64 { UInt64(max(0, st_size)) }

        /// Refuses a folder, device, pipe or socket.
        ///
        /// - Parameter path: The path, for the message.
        /// - Throws: `unavailable`, as where there is nothing: no store can be there until the path is another one.
        func requireFile(_ path: String) throws(KeychainError) {
            guard st_mode & S_IFMT == S_IFREG else {
                throw KeychainError(
                    .unavailable,
                    "There is no keychain file at ‘\(path)’, but a folder, device, pipe or socket. Choose another path."
                )
            }
        }

        /// Refuses what is no regular file, and, unless any permissions will do, what belongs to someone else or may be
        /// touched by others.
        ///
        /// - Parameter place: The file's place.
        /// - Throws: `unavailable` or `insecurePermissions`.
        func requireKeychainFile(_ place: FilePlace) throws(KeychainError) {
            let path = place.path
            try requireFile(path)
            guard place.permissions == .ownerOnly else { return }
            guard st_uid == geteuid() || geteuid() == 0 else {
                throw KeychainError(
                    .insecurePermissions,
                    "The keychain file ‘\(path)’ belongs to another user. Use one of your own, or change its owner "
                        + "(chown)."
                )
            }
            try requireClosed("The keychain file ‘\(path)’", path: path)
        }
    }
#endif
