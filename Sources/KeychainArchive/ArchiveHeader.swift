// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainSodium

    /// The beginning of an archive, in clear: how its key is made.
    ///
    /// docs/ArchiveFormat.md describes it.
    struct ArchiveHeader {
        /// What every archive begins with.
        static let magic = Array("kcarchiv".utf8)
        /// The length of what is authenticated with each message; the header of the stream follows.
        static let size = 40
        private static let version: UInt8 = 1

        /// How the key of the stream is made.
        enum Kind: UInt8 {
            case passphrase = 1
            case key = 2
        }

        private let kind: Kind
        private let cost: DerivationCost
        private let salt: [UInt8]

        /// The header of a new archive.
        init(_ material: KeyMaterial, _ cost: DerivationCost) {
            switch material {
            case .passphrase: (kind, self.cost) = (.passphrase, cost)
            case .key: (kind, self.cost) = (.key, DerivationCost(operations: 0, memory: 0))
            }
            salt = Sodium.random(Sodium.saltSize)
        }

        /// Reads a header.
        ///
        /// - Parameter bytes: ``size`` bytes.
        /// - Throws: `decode` for what is no archive; `unsupported` for one of a later version; `corrupt`.
        init(_ bytes: [UInt8]) throws(KeychainError) {
            guard bytes.count == Self.size, bytes.starts(with: Self.magic) else { throw Self.notAnArchive }
            guard bytes[8] == Self.version else {
                throw KeychainError(
                    .unsupported,
                    "The archive was written by a later version of this library. Use that one to read it."
                )
            }
            guard let kind = Kind(rawValue: bytes[9]), bytes[10] == 0, bytes[11] == 0 else { throw Self.damaged }
            let cost = bytes.withUnsafeBytes { bytes in
                DerivationCost(
                    operations: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)),
                    memory: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
                )
            }
            switch kind {
            case .passphrase: guard cost.isWithinLimits else { throw Self.damaged }
            case .key: guard cost.operations == 0, cost.memory == 0 else { throw Self.damaged }
            }
            self.kind = kind
            self.cost = cost
            salt = Array(bytes[24..<Self.size])
        }

        /// The header as it is written.
        var bytes: [UInt8] {
            var bytes = Self.magic + [Self.version, kind.rawValue, 0, 0]
            withUnsafeBytes(of: cost.operations.littleEndian) { bytes += $0 }
            withUnsafeBytes(of: cost.memory.littleEndian) { bytes += $0 }
            return bytes + salt
        }

        /// The key of the stream.
        ///
        /// - Throws: `authenticationFailed` for a key where the archive takes a passphrase, and the other way round;
        ///   `invalidParameter` for an empty passphrase and a key that has not 32 bytes; `io` without enough memory.
        func key(from material: KeyMaterial) throws(KeychainError) -> SecureBytes {
            switch (kind, material) {
            case (.passphrase, .passphrase(let passphrase)):
                guard !passphrase.isEmpty else {
                    throw KeychainError(.invalidParameter, "An archive takes no empty passphrase. Give another one.")
                }
                return try Sodium.derive(passphrase: passphrase, salt: salt, cost: cost)
            case (.key, .key(let key)):
                guard key.count == Sodium.keySize else {
                    throw KeychainError(.invalidParameter, "A key is exactly \(Sodium.keySize) random bytes.")
                }
                // Not the key itself, which unlocks other files as well.
                return Sodium.hashedKey(key: key, Self.magic + salt)
            case (.passphrase, .key):
                throw KeychainError(.authenticationFailed, "The archive takes a passphrase, and no key file.")
            case (.key, .passphrase):
                throw KeychainError(
                    .authenticationFailed,
                    "The archive takes a key file (keyfile:PATH), and no passphrase."
                )
            }
        }

        static let notAnArchive = KeychainError(
            .decode,
            "This is no archive of a keychain: it does not begin as one. Check that it is the right file."
        )

        private static let damaged = KeychainError(
            .corrupt,
            "The beginning of the archive is damaged. Take another copy of it."
        )
    }
#endif
