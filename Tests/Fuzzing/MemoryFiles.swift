// SPDX-License-Identifier: MIT
#if File && DEBUG
    import Glibc
    import KeychainAPI
    import Synchronization

    @testable import BackendFile

    /// A file system in memory, with one keychain file to begin with.
    final class MemoryFiles: FileSystem {
        private static let path = "/fuzzing/a.keychain"
        private let files: Mutex<[String: MemoryFile]>

        init(_ bytes: [UInt8]) {
            files = Mutex([Self.path: MemoryFile(bytes, number: 1)])
        }

        /// Where the keychain file is.
        func place() throws(KeychainError) -> FilePlace {
            try FilePlace(Self.path, system: self, environment: [:])
        }

        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile {
            let file = files.withLock { files in
                if files[path] == nil, flags & O_CREAT != 0 { files[path] = MemoryFile([], number: files.count + 1) }
                return files[path]
            }
            guard let file else { throw KeychainError(.unavailable, action) }
            return file
        }

        func status(_ path: String) throws(KeychainError) -> stat? { try files.withLock { $0[path] }?.status() }

        func link(_ path: String, to name: String) -> Int32 {
            files.withLock { files in
                guard files[name] == nil else { return EEXIST }
                files[name] = files[path]
                return 0
            }
        }

        func rename(_ path: String, to name: String) -> Int32 {
            files.withLock { $0[name] = $0.removeValue(forKey: path) }
            return 0
        }

        func unlink(_ path: String) { _ = files.withLock { $0.removeValue(forKey: path) } }

        func names(in folder: String) -> [String] { [] }

        func synchronizeFolder(_ path: String) throws(KeychainError) {}
    }

    /// A file in memory.
    private final class MemoryFile: StoredFile {
        private let bytes: Mutex<[UInt8]>
        private let number: UInt64

        init(_ bytes: [UInt8], number: Int) {
            self.bytes = Mutex(bytes)
            self.number = UInt64(number)
        }

        func status() throws(KeychainError) -> stat {
            var status = stat()
            status.st_mode = S_IFREG | 0o600
            status.st_uid = geteuid()
            status.st_ino = ino_t(number)
            status.st_size = bytes.withLock { off_t($0.count) }
            return status
        }

        func read(_ count: Int, at offset: UInt64) throws(KeychainError) -> [UInt8] {
            bytes.withLock { bytes in
                guard offset < UInt64(bytes.count) else { return [] }
                return Array(bytes[Int(offset)...].prefix(count))
            }
        }

        func write(_ more: [UInt8], at offset: UInt64) throws(KeychainError) {
            bytes.withLock { bytes in
                let end = Int(offset) + more.count
                bytes += [UInt8](repeating: 0, count: max(0, end - bytes.count))
                bytes.replaceSubrange(Int(offset)..<end, with: more)
            }
        }

        func cut(at length: UInt64) throws(KeychainError) {
            bytes.withLock { $0 = Array($0.prefix(Int(length))) }
        }

        func synchronizeData() throws(KeychainError) {}

        func synchronize() throws(KeychainError) {}

        func changeOwner(_ user: uid_t, _ group: gid_t) -> Int32 { 0 }

        func lock() {}

        func unlock() {}
    }
#endif
