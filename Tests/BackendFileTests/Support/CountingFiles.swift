// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import Synchronization

    @testable import BackendFile

    /// The file system that is there, which counts what is read from and written to keychain files.
    final class CountingFiles: FileSystem {
        private let counts = Mutex((read: 0, written: 0))
        private let system = SystemFiles()

        /// How many bytes were written.
        var written: Int { counts.withLock { $0.written } }
        /// How many bytes were read.
        var read: Int { counts.withLock { $0.read } }

        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile {
            CountedFile(try system.open(path, flags, action: action), self)
        }

        func status(_ path: String) throws(KeychainError) -> stat? { try system.status(path) }
        func link(_ path: String, to name: String) -> Int32 { system.link(path, to: name) }
        func rename(_ path: String, to name: String) -> Int32 { system.rename(path, to: name) }
        func unlink(_ path: String) { system.unlink(path) }
        func names(in folder: String) -> [String] { system.names(in: folder) }
        func synchronizeFolder(_ path: String) throws(KeychainError) { try system.synchronizeFolder(path) }

        private final class CountedFile: StoredFile {
            private let file: any StoredFile
            private let counter: CountingFiles

            init(_ file: any StoredFile, _ counter: CountingFiles) {
                self.file = file
                self.counter = counter
            }

            func write(_ bytes: [UInt8], at offset: UInt64) throws(KeychainError) {
                try file.write(bytes, at: offset)
                counter.counts.withLock { $0.written += bytes.count }
            }

            func status() throws(KeychainError) -> stat { try file.status() }
            func read(_ count: Int, at offset: UInt64) throws(KeychainError) -> [UInt8] {
                let bytes = try file.read(count, at: offset)
                counter.counts.withLock { $0.read += bytes.count }
                return bytes
            }
            func synchronizeData() throws(KeychainError) { try file.synchronizeData() }
            func synchronize() throws(KeychainError) { try file.synchronize() }
            func cut(at length: UInt64) throws(KeychainError) { try file.cut(at: length) }
            func changeOwner(_ user: uid_t, _ group: gid_t) -> Int32 { file.changeOwner(user, group) }
            func lock() { file.lock() }
            func unlock() { file.unlock() }
        }
    }
#endif
