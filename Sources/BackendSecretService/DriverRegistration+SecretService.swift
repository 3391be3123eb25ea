// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    public import KeychainAPI

    extension DriverRegistration {
        /// The desktop's keyring: `secret-service:` for the default collection, `secret-service:COLLECTION` for
        /// another one.
        ///
        /// Opening connects to nothing. A collection is created only if it must be new
        /// (`StoreOptions.Creation.mustBeNew`), never by a write.
        public static let secretService = DriverRegistration(
            identifier: "secret-service",
            summary: "The desktop's keyring (Secret Service): GNOME Keyring, KWallet, KeePassXC",
            priority: 200,
            probe: { url in
                SecretServiceProbe(collection: url.path, environment: ProcessInfo.processInfo.environment)
                    .availability()
            },
            open: { (url, options) throws(KeychainError) in
                let driver = try SecretServiceDriver(collection: url.path)
                if options.creation == .mustBeNew {
                    let call = CallContext(.open, timeout: options.timeout, interaction: options.interaction)
                    try driver.create(call)
                }
                return driver
            }
        )
    }
#endif
