// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium

    /// One way to unlock a file: the master key, wrapped under a key that comes from a passphrase or a key file.
    struct KeySlot: Sendable {
        /// From what the wrapping key comes.
        enum Kind: UInt16, Sendable {
            /// A passphrase, with Argon2id.
            case passphrase = 1
            /// 32 random bytes.
            case key = 2
        }

        let kind: Kind
        let cost: DerivationCost
        let salt: [UInt8]
        let nonce: Nonce
        let wrapped: [UInt8]
        /// Where the passphrase or key can be found, as the text of a key source; `""` if that is not written down.
        let hint: String

        /// Wraps a master key.
        ///
        /// - Parameters:
        ///   - master: The master key.
        ///   - material: What it is wrapped with.
        ///   - storeID: The store that the slot is bound to.
        ///   - cost: What deriving a key from a passphrase costs.
        ///   - salt: Random bytes.
        ///   - hint: Where the material can be found.
        /// - Throws: `invalidParameter` for a raw key that is not 32 bytes, `io` if deriving takes too much memory.
        init(
            master: SecureBytes,
            material: KeyMaterial,
            storeID: [UInt8],
            cost: DerivationCost,
            salt: [UInt8] = Sodium.random(Sodium.saltSize),
            hint: String = ""
        ) throws(KeychainError) {
            self.salt = salt
            self.hint = hint.utf8.count > FileLayout.hintLimit ? "" : hint
            switch material {
            case .passphrase: (kind, self.cost) = (.passphrase, cost)
            case .key: (kind, self.cost) = (.key, DerivationCost(operations: 0, memory: 0))
            }
            nonce = .random()
            let associated = Self.associated(kind, self.cost, salt, storeID)
            let wrappingKey = try Self.wrappingKey(material, salt: salt, cost: self.cost)
            wrapped = [UInt8](unsafeUninitializedCapacity: Sodium.keySize + Sodium.tagSize) { [nonce] buffer, count in
                count = Sodium.keySize + Sodium.tagSize
                let target = UnsafeMutableRawBufferPointer(buffer)
                master.withBytes {
                    Sodium.seal(
                        $0,
                        into: .init(rebasing: target[..<count]),
                        nonce: nonce,
                        associated: associated,
                        key: wrappingKey
                    )
                }
            }
        }

        /// Reads a slot; nil for one that is empty or of a kind that this version does not know.
        ///
        /// - Throws: `corrupt` for parameters that nothing could have written, `unsupported` for ones beyond the limits.
        init?(_ bytes: [UInt8]) throws(KeychainError) {
            let slot = try bytes.withByteReader { (reader) throws(KeychainError) -> KeySlot? in
                guard let kind = Kind(rawValue: try reader.integer(UInt16.self)) else { return nil }
                _ = try reader.slice(2)
                let cost = DerivationCost(
                    operations: try reader.integer(UInt32.self),
                    memory: try reader.integer(UInt64.self)
                )
                return KeySlot(
                    kind: kind,
                    cost: cost,
                    salt: try reader.array(Sodium.saltSize),
                    nonce: Nonce(try reader.slice(Sodium.nonceSize)),
                    wrapped: try reader.array(Sodium.keySize + Sodium.tagSize),
                    hint: try reader.text(min(Int(reader.integer(UInt8.self)), FileLayout.hintLimit))
                )
            }
            guard let slot else { return nil }
            self = slot
            guard kind == .passphrase else { return }
            guard cost.operations >= DerivationCost.minimal.operations, cost.memory >= DerivationCost.minimal.memory
            else {
                throw .damaged("a key slot asks for less work than Argon2id can do")
            }
            guard cost.operations <= DerivationCost.operationsLimit, cost.memory <= DerivationCost.memoryLimit else {
                throw Self.tooCostly
            }
        }

        private init(kind: Kind, cost: DerivationCost, salt: [UInt8], nonce: Nonce, wrapped: [UInt8], hint: String) {
            self.kind = kind
            self.cost = cost
            self.salt = salt
            self.nonce = nonce
            self.wrapped = wrapped
            self.hint = hint
        }

        /// The bytes that are used of a slot.
        var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.append(Self.parameters(kind, cost, salt))
            nonce.withBytes { writer.append($0) }
            writer.append(wrapped)
            writer.append(UInt8(hint.utf8.count))
            writer.append(hint.utf8)
            return writer.bytes
        }

        /// The master key, nil if the material is of another kind or not the one that it was wrapped with.
        ///
        /// - Throws: `invalidParameter` for a raw key that is not 32 bytes, `io` if deriving takes too much memory.
        func masterKey(_ material: KeyMaterial, storeID: [UInt8]) throws(KeychainError) -> SecureBytes? {
            switch (material, kind) {
            case (.passphrase, .passphrase), (.key, .key): break
            default: return nil
            }
            let wrappingKey = try Self.wrappingKey(material, salt: salt, cost: cost)
            let associated = Self.associated(kind, cost, salt, storeID)
            var isAuthentic = false
            let master = SecureBytes(count: Sodium.keySize) { target in
                isAuthentic = wrapped.withUnsafeBytes {
                    Sodium.open($0, into: target, nonce: nonce, associated: associated, key: wrappingKey)
                }
            }
            return isAuthentic ? master : nil
        }

        /// The error for a header that asks for more than this library is willing to do.
        static let tooCostly = KeychainError(
            .unsupported,
            "The keychain file asks for more memory or time to be unlocked than is allowed (1 GiB, 16 passes). It was "
                + "made by another program, or is not what it seems."
        )

        private static func wrappingKey(
            _ material: KeyMaterial,
            salt: [UInt8],
            cost: DerivationCost
        ) throws(KeychainError) -> SecureBytes {
            switch material {
            case .passphrase(let passphrase):
                return try Sodium.derive(passphrase: passphrase, salt: salt, cost: cost)
            case .key(let key):
                guard key.count == Sodium.keySize else {
                    throw KeychainError(
                        .invalidParameter,
                        "A raw key has exactly \(Sodium.keySize) bytes; this one has \(key.count)."
                    )
                }
                return Sodium.hashedKey(key: key, Array("key slot".utf8) + salt)
            }
        }

        private static func parameters(_ kind: Kind, _ cost: DerivationCost, _ salt: [UInt8]) -> [UInt8] {
            var writer = ByteWriter()
            writer.append(kind.rawValue)
            writer.append(UInt16(0))
            writer.append(cost.operations)
            writer.append(cost.memory)
            writer.append(salt)
            return writer.bytes
        }

        private static func associated(
            _ kind: Kind,
            _ cost: DerivationCost,
            _ salt: [UInt8],
            _ storeID: [UInt8]
        ) -> [UInt8] {
            FileLayout.magic + storeID + parameters(kind, cost, salt)
        }
    }

    extension Array where Element == UInt8 {
        /// Reads the bytes with a reader.
        func withByteReader<Result>(
            _ body: (inout ByteReader) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            try withUnsafeBufferPointer { (buffer) throws(KeychainError) in
                var reader = ByteReader(UnsafeRawBufferPointer(buffer))
                return try body(&reader)
            }
        }
    }
#endif
