// SPDX-License-Identifier: MIT
#if File
    import CSodium
    package import KeychainAPI

    /// Everything that is asked of libsodium, in one place.
    package enum Sodium {
        /// The length of keys, hashes and chain values.
        package static let keySize = 32
        /// The length of a nonce of XChaCha20-Poly1305.
        package static let nonceSize = 24
        /// The length that sealing adds.
        package static let tagSize = 16
        /// The length of a salt of Argon2id.
        package static let saltSize = 16

        private static let isReady = sodium_init() >= 0

        /// Makes libsodium usable; cheap after the first time.
        package static func prepare() throws(KeychainError) {
            guard isReady else {
                throw KeychainError(.internal, "libsodium could not be initialised. Check its installation.")
            }
        }

        /// Random bytes from the kernel's generator.
        package static func random(_ count: Int) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                randombytes_buf(buffer.baseAddress!, count)
                initialized = count
            }
        }

        /// A random key, written straight into guarded memory.
        package static func randomKey() -> SecureBytes {
            SecureBytes(count: keySize) { randombytes_buf($0.bytes, keySize) }
        }

        /// BLAKE2b with 32 bytes of output, keyed if there is a key.
        package static func hash(key: SecureBytes? = nil, _ message: [UInt8]) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: keySize) { buffer, initialized in
                let target = buffer.baseAddress!
                if let key {
                    key.withBytes { key in
                        _ = crypto_generichash(target, keySize, message, UInt64(message.count), key.bytes, key.count)
                    }
                } else {
                    _ = crypto_generichash(target, keySize, message, UInt64(message.count), nil, 0)
                }
                initialized = keySize
            }
        }

        /// The same hash, as a key in guarded memory.
        package static func hashedKey(key: SecureBytes, _ message: [UInt8]) -> SecureBytes {
            SecureBytes(count: keySize) { target in
                key.withBytes { key in
                    _ = crypto_generichash(
                        target.bytes,
                        keySize,
                        message,
                        UInt64(message.count),
                        key.bytes,
                        key.count
                    )
                }
            }
        }

        /// Compares without telling by the time it takes where two hashes differ.
        package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
            left.count == right.count && sodium_memcmp(left, right, left.count) == 0
        }

        /// Whether all bytes are zero.
        package static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool {
            bytes.withUnsafeBufferPointer { sodium_is_zero($0.baseAddress!, $0.count) == 1 }
        }

        /// A key for one purpose, derived from the master key (`crypto_kdf`).
        package static func subkey(_ number: UInt64, of master: SecureBytes) -> SecureBytes {
            SecureBytes(count: keySize) { target in
                master.withBytes { master in
                    _ = crypto_kdf_derive_from_key(target.bytes, keySize, number, "KeychnF1", master.bytes)
                }
            }
        }

        /// A key from a passphrase with Argon2id, version 1.3.
        ///
        /// - Throws: `io` if there is not enough memory.
        package static func derive(
            passphrase: SecureBytes,
            salt: [UInt8],
            cost: DerivationCost
        ) throws(KeychainError) -> SecureBytes {
            try SecureBytes(count: keySize) { (target: UnsafeMutableRawBufferPointer) throws(KeychainError) in
                let result = passphrase.withBytes { passphrase in
                    crypto_pwhash(
                        target.bytes,
                        UInt64(keySize),
                        passphrase.baseAddress!.assumingMemoryBound(to: CChar.self),
                        UInt64(passphrase.count),
                        salt,
                        UInt64(cost.operations),
                        Int(cost.memory),
                        crypto_pwhash_alg_argon2id13()
                    )
                }
                guard result == 0 else {
                    throw KeychainError(
                        .io,
                        "The \(cost.memory >> 20) MiB of memory that unlocking takes could not be had. Free some, or "
                            + "raise the limit (ulimit -v)."
                    )
                }
            }
        }

        /// Seals a plaintext into a place of its length plus ``tagSize``.
        package static func seal(
            _ plaintext: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer,
            nonce: Nonce,
            associated: [UInt8],
            key: SecureBytes
        ) {
            precondition(target.count == plaintext.count + tagSize, "A sealed text is its text and a tag")
            key.withBytes { key in
                nonce.withBytes { nonce in
                    _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                        target.bytes,
                        nil,
                        plaintext.bytes,
                        UInt64(plaintext.count),
                        associated,
                        UInt64(associated.count),
                        nil,
                        nonce.bytes,
                        key.bytes
                    )
                }
            }
        }

        /// Overwrites the stack below the caller, where a call that has returned may have left a piece of a value or key.
        ///
        /// A register can hold one for long after it was copied, and the dynamic linker writes all registers to the stack
        /// when it looks for a function that is called for the first time.
        package static func clearStack() {
            sodium_stackzero(8 * 1024)
        }

        /// Opens a sealed text into a place of its length less ``tagSize``; false if it is not authentic.
        package static func open(
            _ sealed: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer,
            nonce: Nonce,
            associated: [UInt8],
            key: SecureBytes
        ) -> Bool {
            guard sealed.count == target.count + tagSize else { return false }
            return key.withBytes { key in
                nonce.withBytes { nonce in
                    crypto_aead_xchacha20poly1305_ietf_decrypt(
                        target.bytes,
                        nil,
                        nil,
                        sealed.bytes,
                        UInt64(sealed.count),
                        associated,
                        UInt64(associated.count),
                        nonce.bytes,
                        key.bytes
                    ) == 0
                }
            }
        }
    }

    /// A nonce of XChaCha20-Poly1305, without memory of its own: an opened store keeps one for every value.
    package struct Nonce: Sendable, Hashable {
        private let words: (UInt64, UInt64, UInt64)

        /// A random nonce; 24 bytes are enough for that.
        package static func random() -> Nonce { random(1)[0] }

        /// Random nonces.
        package static func random(_ count: Int) -> [Nonce] {
            let bytes = Sodium.random(count * Sodium.nonceSize)
            return bytes.withUnsafeBytes { bytes in
                (0..<count).map { Nonce(UnsafeRawBufferPointer(rebasing: bytes[($0 * Sodium.nonceSize)...])) }
            }
        }

        /// A nonce from the first 24 bytes of a place.
        package init(_ bytes: UnsafeRawBufferPointer) {
            words = (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            )
        }

        /// The 24 bytes.
        package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            withUnsafeBytes(of: words) { body($0) }
        }

        package static func == (left: Nonce, right: Nonce) -> Bool { left.words == right.words }

        package func hash(into hasher: inout Hasher) {
            withBytes { hasher.combine(bytes: $0) }
        }
    }

    /// What deriving a key from a passphrase costs.
    package struct DerivationCost: Sendable, Hashable {
        /// Passes over the memory.
        package var operations: UInt32
        /// Bytes of memory.
        package var memory: UInt64

        /// A cost.
        package init(operations: UInt32, memory: UInt64) {
            self.operations = operations
            self.memory = memory
        }

        /// About a tenth of a second and 64 MiB.
        package static let interactive = DerivationCost(
            operations: UInt32(crypto_pwhash_argon2id_opslimit_interactive()),
            memory: UInt64(crypto_pwhash_argon2id_memlimit_interactive())
        )
        /// About a second and 256 MiB, for what may be guessed at elsewhere and for years.
        package static let moderate = DerivationCost(
            operations: UInt32(crypto_pwhash_argon2id_opslimit_moderate()),
            memory: UInt64(crypto_pwhash_argon2id_memlimit_moderate())
        )
        /// The least that libsodium takes; for tests only.
        package static let minimal = DerivationCost(
            operations: UInt32(crypto_pwhash_argon2id_opslimit_min()),
            memory: UInt64(crypto_pwhash_argon2id_memlimit_min())
        )
        /// The most that a file may ask for: 1 GiB.
        package static let memoryLimit: UInt64 = 1 << 30
        /// The most passes that a file may ask for.
        package static let operationsLimit: UInt32 = 16
        /// Whether a cost that was read is one that libsodium takes, and none that would keep a reader busy for long.
        package var isWithinLimits: Bool {
            (Self.minimal.operations...Self.operationsLimit).contains(operations)
                && (Self.minimal.memory...Self.memoryLimit).contains(memory)
                && UInt64(operations) * memory <= Self.sealedWorkLimit
        }
        /// The most that a sealed value may ask for, in bytes times passes: about a second of work.
        package static let sealedWorkLimit: UInt64 = 1 << 30
        /// The most that all passphrase slots of a file may ask for together, in bytes times passes: 16 GiB.
        package static let workLimit: UInt64 = 1 << 34
    }

    extension UnsafeRawBufferPointer {
        /// The address as libsodium takes it; there is one, also where there are no bytes of a secret.
        package var bytes: UnsafePointer<UInt8> { baseAddress!.assumingMemoryBound(to: UInt8.self) }
    }

    extension UnsafeMutableRawBufferPointer {
        /// The address as libsodium takes it; there is one, also where there are no bytes of a secret.
        package var bytes: UnsafeMutablePointer<UInt8> { baseAddress!.assumingMemoryBound(to: UInt8.self) }
    }
#endif
