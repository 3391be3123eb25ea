// SPDX-License-Identifier: MIT
#if File
    public import FoundationEssentials
    public import KeychainAPI

    extension DriverIdentifier {
        /// The driver for encrypted files.
        public static let file: DriverIdentifier = "file"
    }

    extension DriverRegistration {
        /// The driver for encrypted files, with the environment of the process.
        public static let file = DriverRegistration.file(environment: .ofProcess)

        /// The driver for encrypted files.
        ///
        /// - Parameter environment: Where `XDG_DATA_HOME`, `KEYCHAIN_KEY` and `CREDENTIALS_DIRECTORY` are looked up.
        public static func file(
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) -> DriverRegistration {
            DriverRegistration(
                identifier: .file,
                summary: "An encrypted file, unlocked with a passphrase or a key file.",
                priority: 100,
                probe: { url in
                    do throws(KeychainError) {
                        let place = try FilePlace(url.path, environment: environment)
                        let status = try place.status()
                        try status?.requireFile(place.path)
                        return .available(
                            status != nil
                                ? "The keychain file ‘\(place.path)’ is there."
                                : "The keychain file ‘\(place.path)’ does not exist yet; it can be created."
                        )
                    } catch {
                        return error.code == .accessDenied ? .unreachable(error.message) : .unavailable(error.message)
                    }
                },
                open: { (url, options) throws(KeychainError) in
                    let driver = try FileDriver(path: url.path, options: options, environment: environment)
                    if options.creation == .mustBeNew {
                        try driver.create(CallContext(.open, timeout: options.timeout))
                    }
                    return driver
                }
            )
        }
    }
#endif
