// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainSodium

    /// The fixed places of a keychain file, version 1; `docs/FileFormat.md` is the description.
    enum FileLayout {
        /// What each copy of the header begins with: a byte that is no text, the name, and line ends that a
        /// transfer as text would change.
        static let magic: [UInt8] = [0x89, 0x53, 0x4B, 0x43, 0x0D, 0x0A, 0x1A, 0x0A]
        /// The version that this library writes and reads.
        static let version: UInt16 = 1
        /// The length of a page; the two header copies and the two marks have one each.
        static let pageSize = 4096
        /// Where the two copies of the header begin.
        static let headerCopies = [0, 4096]
        /// Where the two marks begin.
        static let marks = [8192, 12288]
        /// The length of what comes before the first frame.
        static let regionSize = 16384
        /// The length of an identifier.
        static let identifierSize = 16
        /// How many key slots there are.
        static let slotCount = 15
        /// The length of a key slot.
        static let slotSize = 256
        /// The most bytes of a slot's hint.
        static let hintLimit = slotSize - 105
        /// Where the first slot begins in a header copy.
        static let slotsStart = 64
        /// Where the keyed hash begins in a header copy.
        static let headerMACStart = 4032
        /// Where the checksum begins in a header copy.
        static let headerChecksumStart = 4064
        /// The length of what is used of a mark's page.
        static let markSize = 80
        /// The length of a frame's head: its lengths and its nonce.
        static let frameHeadSize = 40
        /// What is zero in a frame's head.
        static let frameZeros = 12..<16
        /// The most bytes of metadata in a frame, sealed.
        static let metadataLimit = 64 << 20
        /// The largest value.
        static let valueLimit = 64 << 20

        /// The length to which `count` bytes are padded before they are sealed, so that their length says little.
        ///
        /// A multiple of an eighth of the largest power of two that is not above it, at least of 32: an eighth is
        /// the most that is lost.
        static func paddedSize(_ count: Int) -> Int {
            guard count > 32 else { return 32 }
            let granule = max(32, 1 << (Int.bitWidth - 1 - count.leadingZeroBitCount - 3))
            return (count + granule - 1) / granule * granule
        }
    }

    /// The keys of an unlocked file, each for one purpose.
    struct StoreKeys: Sendable {
        /// Authenticates the header.
        let header: SecureBytes
        /// Authenticates the marks.
        let mark: SecureBytes
        /// Seals what describes items.
        let metadata: SecureBytes
        /// Seals values.
        let value: SecureBytes
        /// The master key, kept to be wrapped again when a key slot is added.
        let master: SecureBytes

        /// Derives the keys from the master key.
        init(master: SecureBytes) {
            self.master = master
            header = Sodium.subkey(1, of: master)
            mark = Sodium.subkey(2, of: master)
            metadata = Sodium.subkey(3, of: master)
            value = Sodium.subkey(4, of: master)
        }
    }
#endif
