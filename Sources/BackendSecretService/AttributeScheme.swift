// SPDX-License-Identifier: MIT
#if SecretService

    /// The attributes by which other programs know a generic password.
    ///
    /// The programs of the desktop do not agree on them. A driver with another scheme than ``standard`` writes generic
    /// passwords such that the programs of that scheme find them, and finds those that they wrote, and no others. All
    /// other classes of items are as ever, and so are the attributes of this library's own.
    public struct AttributeScheme: Sendable, Hashable {
        /// The attribute that holds the service.
        public let service: String
        /// The attribute that holds the account.
        public let account: String
        /// The name of the schema that new items get (`xdg:schema`), which programs are to show and not to search by.
        public let schema: String
        /// What else the programs of the scheme search for: attributes that have the same text in each of their items.
        public let constants: [String: String]

        /// Makes a scheme.
        ///
        /// - Parameters:
        ///   - service: The attribute that holds the service.
        ///   - account: The attribute that holds the account, another one.
        ///   - schema: The name of the schema that new items get.
        ///   - constants: Attributes that have the same text in each item.
        /// - Precondition: No name is empty, has NUL in it, begins with `keychain.` or is there twice.
        public init(
            service: String,
            account: String,
            schema: String = "org.freedesktop.Secret.Generic",
            constants: [String: String] = [:]
        ) {
            let names = [service, account] + constants.keys
            precondition(
                Set(names).count == names.count
                    && (names + constants.values + [schema]).allSatisfy { !$0.utf8.contains(0) }
                    && names.allSatisfy { !$0.isEmpty && !$0.hasPrefix("keychain.") && $0 != "xdg:schema" },
                "The names of a scheme are not empty, differ from each other, and are not this library's own."
            )
            self.service = service
            self.account = account
            self.schema = schema
            self.constants = constants
        }

        /// `service` and `username`, as Python's keyring, go-keyring, keyring-rs, r-lib's keyring and most others have
        /// it; what keytar wrote is found as well.
        public static let standard = AttributeScheme(service: "service", account: "username")

        /// `service` and `account`, as keytar has it, and with it many programs built on Electron.
        public static let keytar = AttributeScheme(service: "service", account: "account")

        /// `Title` and `UserName`, the fields of every entry of KeePassXC, also of those that a person made there.
        ///
        /// The service is the title of the entry.
        public static let keePassXC = AttributeScheme(service: "Title", account: "UserName")

        /// `server`, `user` and `type`, as QtKeychain has it, and with it KDE's own programs on the Secret Service.
        ///
        /// What QtKeychain stored as binary is decoded. It reads a value that is text as it is; another one it reads
        /// in the form that ``SecretServiceDriver/ValueForm/safe`` gives it.
        public static let qtKeychain = AttributeScheme(
            service: "server",
            account: "user",
            schema: "org.qt.keychain",
            constants: ["type": "plaintext"]
        )

        /// Whether the service is the title of an entry of KeePassXC, which is the label at the same time.
        var hasServiceAsLabel: Bool { service == "Title" }
    }
#endif
