// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// What the driver asks of the file system: the seam at which a test puts a disk that loses power, fills up or fails.
    protocol FileSystem: Sendable {
        /// Opens a file, or makes one that only its owner may touch (`open(2)`).
        ///
        /// - Throws: The system's error, with the action in front.
        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile

        /// What a path leads to, nil if there is nothing (`lstat(2)`).
        func status(_ path: String) throws(KeychainError) -> stat?

        /// Gives a file a second name, which no file may have (`link(2)`); the error's number, 0 if it worked.
        func link(_ path: String, to name: String) -> Int32

        /// Gives a file another name, whatever had it (`rename(2)`); the error's number, 0 if it worked.
        func rename(_ path: String, to name: String) -> Int32

        /// Removes a name, as far as possible (`unlink(2)`).
        func unlink(_ path: String)

        /// The names in a folder, as far as they can be read.
        func names(in folder: String) -> [String]

        /// Makes a folder's entries durable (`fsync(2)`).
        func synchronizeFolder(_ path: String) throws(KeychainError)
    }

    /// An open file.
    protocol StoredFile: AnyObject, Sendable {
        /// The file's status (`fstat(2)`).
        func status() throws(KeychainError) -> stat

        /// Reads up to `count` bytes from a place; fewer if the file ends before.
        func read(_ count: Int, at offset: UInt64) throws(KeychainError) -> [UInt8]

        /// Writes all of the bytes at a place.
        func write(_ bytes: [UInt8], at offset: UInt64) throws(KeychainError)

        /// Makes the file's contents durable, and its length (`fdatasync(2)`).
        func synchronizeData() throws(KeychainError)

        /// Makes all of the file durable (`fsync(2)`).
        func synchronize() throws(KeychainError)

        /// Cuts the file off at a length (`ftruncate(2)`).
        func cut(at length: UInt64) throws(KeychainError)

        /// Gives the file to another owner (`fchown(2)`); the error's number, 0 if it worked.
        func changeOwner(_ user: uid_t, _ group: gid_t) -> Int32

        /// Locks the file that no one else can have locked yet (`flock(2)`).
        func lock()

        /// Gives the lock back.
        func unlock()
    }

    /// The file system that is there.
    struct SystemFiles: FileSystem {
        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile {
            try FileDescriptor(path, flags, action: action)
        }

        func status(_ path: String) throws(KeychainError) -> stat? {
            var status = stat()
            if lstat(path, &status) == 0 { return status }
            // A path that leads through a file is a mistake, and not a store that has yet to be made.
            guard errno == ENOENT else {
                throw .system(errno, "The keychain file ‘\(path)’ could not be examined")
            }
            return nil
        }

        func link(_ path: String, to name: String) -> Int32 { Glibc.link(path, name) == 0 ? 0 : errno }

        func rename(_ path: String, to name: String) -> Int32 { Glibc.rename(path, name) == 0 ? 0 : errno }

        func unlink(_ path: String) { _ = Glibc.unlink(path) }

        func names(in folder: String) -> [String] {
            guard let entries = opendir(folder) else { return [] }
            defer { closedir(entries) }
            var names: [String] = []
            while let entry = readdir(entries) {
                names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) {
                        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
                    }
                )
            }
            return names
        }

        func synchronizeFolder(_ path: String) throws(KeychainError) {
            let file = try FileDescriptor(
                path,
                O_RDONLY | O_DIRECTORY,
                action: "The folder ‘\(path)’ could not be opened"
            )
            guard retryingInterruptions({ fsync(file.number) }) == 0 else {
                throw .system(errno, "The folder ‘\(path)’ could not be written to the disk")
            }
        }
    }
#endif
