// SPDX-License-Identifier: MIT
#if File
    public import KeychainAPI
    import Glibc
    import KeychainSystem

    extension Keychain {
        /// Writes items with their values into a new file that is encrypted under a passphrase or key of its own.
        ///
        /// The file holds what was in the store at one moment: every class, marked for synchronization or not. Items whose
        /// `AccessPolicy` keeps them on this device are left out. docs/ArchiveFormat.md states every byte of it.
        ///
        /// - Parameters:
        ///   - path: The new file, which only its owner can read.
        ///   - key: What encrypts it: a passphrase of at least one byte, or 32 random bytes. Deriving a key from a
        ///     passphrase takes about a second and 256 MiB.
        ///   - scope: The items of every group, or of this keychain's alone.
        ///   - progress: Is told how many values have been read, on the thread that does the work.
        /// - Returns: What was written.
        /// - Throws: `itemNotFound` if there is nothing; `duplicateItem` if there is a file already; `unsupported` if all items
        ///   must stay on this device; `invalidParameter` for an empty passphrase; and why the store could not be read or the
        ///   file not be written. Then there is no new file.
        /// - Complexity: All values are in memory at once.
        @discardableResult
        public func exportArchive(
            to path: String,
            key: KeyMaterial,
            scope: MigrationScope = .everyGroup,
            progress: (MigrationProgress) -> Void = { _ in }
        ) throws(KeychainError) -> ArchiveSummary {
            try exportArchive(to: path, key, scope, progress, exporting())
        }

        /// Writes items with their values into a new file that is encrypted under a passphrase or key of its own.
        ///
        /// - Parameters:
        ///   - path: The new file, which only its owner can read.
        ///   - key: What encrypts it.
        ///   - scope: The items of every group, or of this keychain's alone.
        ///   - progress: Is told how many values have been read, on the thread that does the work.
        /// - Returns: What was written.
        /// - Throws: As the synchronous form, and `cancelled`.
        @discardableResult
        public func exportArchive(
            to path: String,
            key: KeyMaterial,
            scope: MigrationScope = .everyGroup,
            progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
        ) async throws(KeychainError) -> ArchiveSummary {
            let call = exporting()
            return try await CallExecutor.run(call) { () throws(KeychainError) in
                try exportArchive(to: path, key, scope, progress, call)
            }
        }

        /// Stores the items of an archive: all of them, or none.
        ///
        /// Nothing is stored before the whole archive has proved to be as it was written. The items are new ones, with
        /// references and dates of their own; of two that match a query, the older one stays the older one.
        ///
        /// - Parameters:
        ///   - path: The archive.
        ///   - key: What it was encrypted with.
        ///   - scope: Whether items come into the groups that they were in, or all into this keychain's.
        ///   - ifExists: What happens if there is an item with the same primary key.
        /// - Returns: What was stored.
        /// - Throws: `authenticationFailed` for another passphrase or key; `decode` for a file that is no archive; `corrupt` for
        ///   one that was changed or cut off; `unsupported` for one of a later version; `duplicateItem` as `ifExists` says,
        ///   or if two items would be one; and why the file could not be read or the store not be written. Then nothing
        ///   was stored.
        /// - Complexity: All values are in memory at once.
        @discardableResult
        public func importArchive(
            from path: String,
            key: KeyMaterial,
            scope: MigrationScope = .everyGroup,
            ifExists: MigrationConflict = .failIfDifferent
        ) throws(KeychainError) -> MigrationSummary {
            try importArchive(from: path, key, scope, ifExists, importing())
        }

        /// Stores the items of an archive: all of them, or none.
        ///
        /// - Parameters:
        ///   - path: The archive.
        ///   - key: What it was encrypted with.
        ///   - scope: Whether items come into the groups that they were in, or all into this keychain's.
        ///   - ifExists: What happens if there is an item with the same primary key.
        /// - Returns: What was stored.
        /// - Throws: As the synchronous form, and `cancelled`.
        @discardableResult
        public func importArchive(
            from path: String,
            key: KeyMaterial,
            scope: MigrationScope = .everyGroup,
            ifExists: MigrationConflict = .failIfDifferent
        ) async throws(KeychainError) -> MigrationSummary {
            let call = importing()
            return try await CallExecutor.run(call) { () throws(KeychainError) in
                try importArchive(from: path, key, scope, ifExists, call)
            }
        }

        private func exportArchive(
            to path: String,
            _ key: KeyMaterial,
            _ scope: MigrationScope,
            _ progress: (MigrationProgress) -> Void,
            _ call: CallContext
        ) throws(KeychainError) -> ArchiveSummary {
            let selection = RecordSelection(accessGroup: scope == .group ? self.accessGroup.rawValue : nil)
            let outgoing = try outgoing([selection], call, progress: progress)
            return try PrivateFile.create(path) { (file) throws(KeychainError) in
                try KeychainArchive.write(outgoing, key: key) { (bytes) throws(KeychainError) in
                    try call.check()
                    try file.write(bytes, action: "The file ‘\(path)’ could not be written")
                }
            }
        }

        private func importArchive(
            from path: String,
            _ key: KeyMaterial,
            _ scope: MigrationScope,
            _ ifExists: MigrationConflict,
            _ call: CallContext
        ) throws(KeychainError) -> MigrationSummary {
            let action = "The archive ‘\(path)’ could not be read"
            let file = try FileDescriptor(path, O_RDONLY | O_NONBLOCK, action: action)
            let items = try KeychainArchive.read(key: { key }) { (target) throws(KeychainError) in
                try call.check()
                return try file.read(into: target, call, action: action)
            }
            return try receive(KeychainArchive.incoming(items, scope, self), ifExists: ifExists, call)
        }
    }
#endif
