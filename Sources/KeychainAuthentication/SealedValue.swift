// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium

    /// How a key is made of a password.
    struct Derivation: Sendable, Hashable {
        let cost: DerivationCost
        let salt: [UInt8]
    }

    /// A value under an application password: a header that says how the key is made, a nonce, and what was sealed.
    ///
    /// docs/ApplicationPassword.md describes the form.
    struct SealedValue {
        private static let magic = Array("kcpw".utf8)
        private static let version: UInt8 = 1
        /// Magic, version, three zero bytes, operations, memory and salt.
        private static let headerSize = 8 + 4 + 8 + Sodium.saltSize
        private static let textOffset = headerSize + Sodium.nonceSize

        let derivation: Derivation
        private let bytes: SecureBytes

        /// Reads the header.
        ///
        /// - Throws: `corrupt` for what is no sealed value, `unsupported` for one of a later version.
        init(_ bytes: SecureBytes) throws(KeychainError) {
            self.bytes = bytes
            derivation = try bytes.withBytes { (bytes) throws(KeychainError) in
                guard bytes.count >= Self.textOffset + Sodium.tagSize, bytes.starts(with: Self.magic) else {
                    throw Self.damaged
                }
                guard bytes[4] == Self.version else {
                    throw KeychainError(
                        .unsupported,
                        "The item was encrypted with its password by a later version of this library. Use that one."
                    )
                }
                let cost = DerivationCost(
                    operations: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)),
                    memory: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
                )
                guard bytes[5...7].allSatisfy({ $0 == 0 }), cost.isWithinLimits else { throw Self.damaged }
                return Derivation(cost: cost, salt: Array(bytes[20..<Self.headerSize]))
            }
        }

        /// Seals a value for one item.
        static func seal(
            _ value: SecureBytes,
            for item: UUID,
            _ derivation: Derivation,
            _ key: SecureBytes
        ) -> SecureBytes {
            let header = header(derivation)
            let nonce = Nonce.random()
            return SecureBytes(count: textOffset + value.count + Sodium.tagSize) { target in
                target.copyBytes(from: header)
                nonce.withBytes { nonce in
                    UnsafeMutableRawBufferPointer(rebasing: target[headerSize..<textOffset]).copyMemory(from: nonce)
                }
                value.withBytes { value in
                    Sodium.seal(
                        value,
                        into: UnsafeMutableRawBufferPointer(rebasing: target[textOffset...]),
                        nonce: nonce,
                        associated: header + item.bytes,
                        key: key
                    )
                }
            }
        }

        /// The value.
        ///
        /// - Throws: `authenticationFailed` if the key is of another password, or what was sealed was changed or belongs to
        ///   another item: cryptography cannot tell these apart.
        func opened(for item: UUID, _ key: SecureBytes) throws(KeychainError) -> SecureBytes {
            try bytes.withBytes { (sealed) throws(KeychainError) in
                let text = UnsafeRawBufferPointer(rebasing: sealed[Self.textOffset...])
                let nonce = Nonce(UnsafeRawBufferPointer(rebasing: sealed[Self.headerSize...]))
                return try SecureBytes(count: text.count - Sodium.tagSize) { (target) throws(KeychainError) in
                    let isAuthentic = Sodium.open(
                        text,
                        into: target,
                        nonce: nonce,
                        associated: Self.header(derivation) + item.bytes,
                        key: key
                    )
                    guard isAuthentic else {
                        throw KeychainError(
                            .authenticationFailed,
                            "The application password is not the one that the item was stored with. Give that one."
                        )
                    }
                }
            }
        }

        private static func header(_ derivation: Derivation) -> [UInt8] {
            var header = magic + [version, 0, 0, 0]
            withUnsafeBytes(of: derivation.cost.operations.littleEndian) { header += $0 }
            withUnsafeBytes(of: derivation.cost.memory.littleEndian) { header += $0 }
            return header + derivation.salt
        }

        private static let damaged = KeychainError(
            .corrupt,
            "The value of the item is not encrypted as its policy says. Restore it from a backup, or store it again."
        )
    }

    extension UUID {
        fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
    }
#endif
