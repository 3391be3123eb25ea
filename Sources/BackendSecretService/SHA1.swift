// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret

    /// SHA-1, for naming things; not for anything secret.
    enum SHA1 {
        static func hash(of bytes: [UInt8]) -> [UInt8] {
            let checksum = g_checksum_new(G_CHECKSUM_SHA1)
            defer { g_checksum_free(checksum) }
            g_checksum_update(checksum, bytes, bytes.count)
            var digest = [UInt8](repeating: 0, count: 20)
            var count = gsize(digest.count)
            g_checksum_get_digest(checksum, &digest, &count)
            return digest
        }
    }
#endif
