// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import FoundationEssentials
    import KeychainAPI

    /// Armoured texts (RFC 7468): one or more blocks between lines of dashes.
    enum PEM {
        /// A block.
        struct Block {
            /// What is between the dashes, for example `PRIVATE KEY`.
            let label: String
            /// The lines before the base 64, empty but for the old form of encryption.
            let header: String
            /// What the base 64 stands for.
            let bytes: SecureBytes
        }

        /// Every block of a text, in order.
        ///
        /// - Throws: `decode` for a block that is cut or is no base 64.
        static func blocks(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [Block] {
            try OpenSSL.run { () throws(KeychainError) in
                try OpenSSL.reading(bytes) { (bio) throws(KeychainError) in
                    var blocks: [Block] = []
                    while let block = try next(bio) { blocks.append(block) }
                    return blocks
                }
            }
        }

        private static func next(_ bio: OpaquePointer) throws(KeychainError) -> Block? {
            var name: UnsafeMutablePointer<CChar>?
            var header: UnsafeMutablePointer<CChar>?
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            guard openssl.PEM_read_bio_ex(bio, &name, &header, &bytes, &count, openssl_pem_secure) == 1 else {
                let number = openssl.ERR_peek_last_error()
                openssl.ERR_clear_error()
                let reason = Int32(truncatingIfNeeded: number & 0x7F_FFFF)
                if number == 0 || reason == PEM_R_NO_START_LINE { return nil }
                throw KeychainError(
                    .decode,
                    "A PEM block is damaged. Copy it again, whole, from its “BEGIN” line to its “END” line.",
                    underlying: .init(domain: "OpenSSL", code: Int(number), message: OpenSSL.text(of: number))
                )
            }
            defer {
                openssl_secure_clear_free(name, name.map { strlen($0) } ?? 0)
                openssl_secure_clear_free(header, header.map { strlen($0) } ?? 0)
                openssl_secure_clear_free(bytes, count)
            }
            return Block(
                label: name.map { String(cString: $0) } ?? "",
                header: header.map { String(cString: $0) } ?? "",
                bytes: SecureBytes(UnsafeRawBufferPointer(start: bytes, count: count))
            )
        }

        /// A text of one block.
        static func text(_ label: String, _ bytes: SecureBytes) throws(KeychainError) -> SecureBytes {
            try bytes.withBytes { (bytes) throws(KeychainError) in
                try OpenSSL.written { bio in
                    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    return openssl.PEM_write_bio(bio, label, "", start, bytes.count) > 0 ? 1 : 0
                }
            }
        }
    }
#endif
