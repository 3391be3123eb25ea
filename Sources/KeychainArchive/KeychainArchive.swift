// SPDX-License-Identifier: MIT
#if File
    package import KeychainAPI
    package import KeychainSodium

    /// Archives without the files that they are in, for the command, which also writes and reads pipes.
    package enum KeychainArchive {
        /// What every archive begins with.
        package static var magic: [UInt8] { ArchiveHeader.magic }

        /// Writes an archive.
        ///
        /// - Parameters:
        ///   - outgoing: What is in it.
        ///   - key: What encrypts it.
        ///   - cost: What deriving its key from a passphrase costs.
        ///   - write: Writes bytes.
        /// - Throws: `invalidParameter` for an empty passphrase, and what the closure throws.
        package static func write(
            _ outgoing: OutgoingItems,
            key: KeyMaterial,
            cost: DerivationCost = .moderate,
            to write: @escaping (UnsafeRawBufferPointer) throws(KeychainError) -> Void
        ) throws(KeychainError) -> ArchiveSummary {
            var writer = try ArchiveWriter(key, cost, write: write)
            for item in outgoing.items { try writer.append(item.record, item.value) }
            try writer.finish()
            return ArchiveSummary(archived: outgoing.items.count, keptOnDevice: outgoing.keptOnDevice)
        }

        /// Reads a whole archive.
        ///
        /// - Parameters:
        ///   - key: Is asked for what opens it, once it is known to be an archive.
        ///   - read: Reads some bytes and says how many, 0 at the end.
        /// - Returns: The items, in the order in which they were written.
        /// - Throws: As `Keychain.importArchive`, and what the closures throw.
        package static func read(
            key: () throws(KeychainError) -> KeyMaterial,
            from read: @escaping (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
        ) throws(KeychainError) -> [(record: ItemRecord, value: SecureBytes)] {
            var reader = try ArchiveReader(key: key, read: read)
            var items: [(record: ItemRecord, value: SecureBytes)] = []
            while let item = try reader.next() { items.append(item) }
            return items
        }

        /// The items of an archive as a keychain takes them in.
        package static func incoming(
            _ items: [(record: ItemRecord, value: SecureBytes)],
            _ scope: MigrationScope,
            _ target: Keychain
        ) -> [MigrationItem] {
            items.map { item in
                let group = scope == .group ? target.accessGroup : AccessGroup(rawValue: item.record.accessGroup)
                return MigrationItem(item.record, group, item.value)
            }
        }
    }
#endif
