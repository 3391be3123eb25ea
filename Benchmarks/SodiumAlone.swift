// SPDX-License-Identifier: MIT
#if File
    import CSodium

    /// What the cryptography alone takes: XChaCha20-Poly1305 over texts of given lengths, one call each.
    final class SodiumAlone {
        private let lengths: [Int]
        private let key: [UInt8]
        private let nonce: [UInt8]
        private var plain: [UInt8]
        private var sealed: [[UInt8]]

        /// - Parameters:
        ///   - values: The lengths of values.
        ///   - metadata: The lengths of what describes them.
        init(values: [Int] = [], metadata: [Int]) {
            lengths = values + metadata
            key = [UInt8](repeating: 1, count: Int(crypto_aead_xchacha20poly1305_ietf_keybytes()))
            nonce = [UInt8](repeating: 2, count: Int(crypto_aead_xchacha20poly1305_ietf_npubbytes()))
            plain = [UInt8](repeating: 3, count: lengths.max() ?? 0)
            let tag = Int(crypto_aead_xchacha20poly1305_ietf_abytes())
            sealed = lengths.map { [UInt8](repeating: 0, count: $0 + tag) }
            sealAll()
        }

        /// Seals every text.
        func sealAll() {
            for (index, length) in lengths.enumerated() {
                let result = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed[index],
                    nil,
                    plain,
                    UInt64(length),
                    nonce,
                    UInt64(nonce.count),
                    nil,
                    nonce,
                    key
                )
                precondition(result == 0)
            }
        }

        /// Opens every text.
        func openAll() {
            for sealed in sealed {
                let result = crypto_aead_xchacha20poly1305_ietf_decrypt(
                    &plain,
                    nil,
                    nil,
                    sealed,
                    UInt64(sealed.count),
                    nonce,
                    UInt64(nonce.count),
                    nonce,
                    key
                )
                precondition(result == 0)
            }
        }
    }
#endif
