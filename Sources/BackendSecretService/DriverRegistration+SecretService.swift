// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    public import KeychainAPI

    extension DriverRegistration {
        /// The desktop's keyring: `secret-service:` for the default collection, `secret-service:COLLECTION` for
        /// another one.
        ///
        /// Opening connects to nothing. A collection is never made here, so that one which must be new is
        /// `unsupported`.
        public static let secretService = DriverRegistration(
            identifier: "secret-service",
            summary: "The desktop's keyring (Secret Service): GNOME Keyring, KWallet, KeePassXC",
            priority: 200,
            probe: { url in
                SecretServiceProbe(collection: url.path, environment: ProcessInfo.processInfo.environment)
                    .availability()
            },
            open: { (url, options) throws(KeychainError) in
                guard options.creation != .mustBeNew else {
                    throw KeychainError(
                        .unsupported,
                        "The keyring's collections are made by the desktop. Make one in Seahorse (Passwords and "
                            + "Keys), then open it."
                    )
                }
                return try SecretServiceDriver(collection: url.path)
            }
        )
    }
#endif
