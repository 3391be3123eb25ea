// SPDX-License-Identifier: MIT
#if File
    public import KeychainAPI
    import KeychainSodium

    /// One of the ways to unlock a keychain file, as its head tells everyone who can read the file.
    public struct FileKeySlot: Sendable, Equatable, Identifiable {
        /// With what a slot is opened.
        public enum Kind: String, Sendable, Hashable {
            /// A passphrase, from which a key is derived with Argon2id.
            case passphrase
            /// 32 random bytes, from a file or another store.
            case key
        }

        /// The slot's number, 0 to 14; it stays the same as long as the slot is there.
        public let number: Int
        /// With what it is opened.
        public let kind: Kind
        /// Where the passphrase or key is found without being asked for, nil if that is not written down: a systemd
        /// credential, or another store.
        public let source: KeySource?
        /// How much memory deriving the key takes, in bytes; 0 for a slot that needs none.
        public let memory: UInt64
        /// How many passes over the memory deriving the key takes; 0 for a slot that needs none.
        public let passes: UInt32
        /// Whether the passphrase or key that was asked about opens it, nil if none was.
        public let opens: Bool?

        /// The slot's number.
        public var id: Int { number }

        /// The slots of a head by number, and whether they are among those that were opened.
        static func all(of header: FileHeader, opened: Set<Int>? = nil) throws(KeychainError) -> [FileKeySlot] {
            try header.keySlots().map { FileKeySlot($0.number, $0.slot, opens: opened?.contains($0.number)) }
        }

        init(_ number: Int, _ slot: KeySlot, opens: Bool? = nil) {
            self.number = number
            kind = slot.kind == .passphrase ? .passphrase : .key
            source = try? KeySource(parsing: slot.hint)
            // What a slot for a key has there means nothing.
            memory = slot.kind == .passphrase ? slot.cost.memory : 0
            passes = slot.kind == .passphrase ? slot.cost.operations : 0
            self.opens = opens
        }
    }
#endif
