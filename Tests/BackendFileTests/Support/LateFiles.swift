// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import Synchronization

    @testable import BackendFile

    /// The files of the system, of which one is not there yet when it is looked at for the n-th time.
    final class LateFiles: FileSystem {
        private let path: String
        private let hiddenAt: Int
        private let looks = Mutex(0)
        private let system = SystemFiles()

        init(path: String, hiddenAt: Int) {
            self.path = path
            self.hiddenAt = hiddenAt
        }

        func status(_ path: String) throws(KeychainError) -> stat? {
            guard path == self.path else { return try system.status(path) }
            let look = looks.withLock { looks in
                looks += 1
                return looks
            }
            return look == hiddenAt ? nil : try system.status(path)
        }

        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile {
            try system.open(path, flags, action: action)
        }

        func link(_ path: String, to name: String) -> Int32 { system.link(path, to: name) }
        func rename(_ path: String, to name: String) -> Int32 { system.rename(path, to: name) }
        func unlink(_ path: String) { system.unlink(path) }
        func names(in folder: String) -> [String] { system.names(in: folder) }
        func synchronizeFolder(_ path: String) throws(KeychainError) { try system.synchronizeFolder(path) }
    }
#endif
