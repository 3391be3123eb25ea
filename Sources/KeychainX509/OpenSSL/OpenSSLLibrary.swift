// SPDX-License-Identifier: MIT
#if X509
    import COpenSSLFunctions
    import KeychainAPI

    /// The functions of OpenSSL's libcrypto.
    ///
    /// To be called only after ``OpenSSL/load()`` has succeeded, as whoever has a key or a certificate may take for granted.
    let openssl = keychain_openssl().pointee

    extension OpenSSL {
        /// Loads libcrypto, if it is not there yet.
        ///
        /// - Throws: `unavailable` if it is missing.
        static func load() throws(KeychainError) {
            guard keychain_openssl() == nil else { return }
            throw KeychainError(
                .unavailable,
                "OpenSSL 3, which reads keys and certificates, could not be loaded "
                    + "(\(String(cString: keychain_openssl_failure()))). Install it: on Debian and Ubuntu, the package libssl3."
            )
        }
    }
#endif
