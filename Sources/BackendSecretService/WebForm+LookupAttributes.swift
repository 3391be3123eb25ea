// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI
    import KeychainSystem

    /// How the password of a web form lies in the service, and is searched for.
    extension WebForm {
        /// Whether the attributes are those of such a password, whether their values are hashed or not.
        static func isOne(_ attributes: LookupAttributes) -> Bool { isOne(hasName: attributes.hasName) }

        /// Writes what GNOME Web knows such a password by, and takes it away if the item is none any more.
        ///
        /// What is there already stays as it is where it says the same: the fields of a form, of which an internet
        /// password knows nothing, have the names that GNOME Web has seen, else the usual ones.
        static func write(_ record: ItemRecord, to attributes: inout LookupAttributes) {
            guard let origin = origin(of: record.attributes) else {
                guard isOne(attributes) else { return }
                let names = [
                    identifierName, originName, targetName, accountName, accountFieldName, passwordFieldName,
                    synchronizationName,
                ]
                for name in names { attributes[name] = nil }
                return
            }
            var account: String?
            if case .text(let text)? = record.attributes[.account], !text.isEmpty { account = text }
            let present = Self.attributes(of: { attributes[$0] })
            if present.flatMap(self.origin) != origin {
                attributes[originName] = origin
                attributes[targetName] = origin
            }
            attributes[ItemLayout.schemaName] = schema
            attributes[identifierName] = attributes[identifierName] ?? "{\(record.reference.uuidString.lowercased())}"
            attributes[accountName] = account
            attributes[accountFieldName] = account == nil ? nil : attributes[accountFieldName] ?? "username"
            attributes[passwordFieldName] = attributes[passwordFieldName] ?? "password"
            attributes[synchronizationName] = attributes[synchronizationName] ?? "0"
        }

        /// What finds the passwords of web forms that GNOME Web wrote and a selection can match; nil if none can.
        ///
        /// By the schema only where no origin is known. A keyring that has been locked ever since does not find by
        /// that, but then nothing is believed of it before it is unlocked.
        static func needle(_ selection: RecordSelection) -> LookupAttributes? {
            guard selection.itemClass == .internetPassword else { return nil }
            var attributes = selection.attributes
            let isAny = [AttributeName.server, .protocol, .port].contains { attributes[$0] == nil }
            attributes[.server] = attributes[.server] ?? .text("localhost")
            attributes[.protocol] = attributes[.protocol] ?? .text(ProtocolType.https.rawValue)
            attributes[.authenticationType] =
                attributes[.authenticationType] ?? .text(AuthenticationType.htmlForm.rawValue)
            guard let origin = origin(of: attributes) else { return nil }
            var needle = LookupAttributes()
            if isAny || selection.matchesSubdomains {
                needle[ItemLayout.schemaName] = schema
            } else {
                needle[originName] = origin
            }
            if case .text(let account)? = attributes[.account], !account.isEmpty { needle[accountName] = account }
            return needle
        }

        /// Whether an item that was found by its origin has an account, and one without was looked for.
        static func isOfSomeoneElse(_ attributes: LookupAttributes, _ selection: RecordSelection) -> Bool {
            guard isOne(attributes), attributes.hasName(accountName) else { return false }
            if case .text(let account)? = selection.attributes[.account] { return account.isEmpty }
            return true
        }
    }
#endif
