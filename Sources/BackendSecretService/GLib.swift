// SPDX-License-Identifier: MIT
#if SecretService
    import CSecretSession
    import KeychainAPI

    /// The functions of GLib.
    ///
    /// To be called only after ``GLibrary/load()`` has succeeded.
    let glib = keychain_glib().pointee

    /// libsecret and GLib, which are loaded with the first store that needs them.
    enum GLibrary {
        /// Loads the libraries, if they are not there yet.
        ///
        /// - Throws: `unavailable` if one is missing.
        static func load() throws(KeychainError) {
            guard keychain_glib() == nil else { return }
            throw KeychainError(
                .unavailable,
                "libsecret, through which the desktop's keyring is reached, could not be loaded "
                    + "(\(String(cString: keychain_glib_failure()))). Install it: on Debian and Ubuntu, the package "
                    + "libsecret-1-0."
            )
        }
    }
#endif
