// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession

    /// SHA-1, for naming things; not for anything secret.
    enum SHA1 {
        static func hash(of bytes: [UInt8]) -> [UInt8] {
            let checksum = glib.g_checksum_new(G_CHECKSUM_SHA1)
            defer { glib.g_checksum_free(checksum) }
            glib.g_checksum_update(checksum, bytes, bytes.count)
            var digest = [UInt8](repeating: 0, count: 20)
            var count = gsize(digest.count)
            glib.g_checksum_get_digest(checksum, &digest, &count)
            return digest
        }
    }
#endif
