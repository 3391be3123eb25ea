// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI
    import KeychainSystem

    /// How a record lies in the service: which attributes and which label stand for it.
    ///
    /// Every item of ours has these attributes, `""` where it has no value:
    /// - generic password: `service`, `username`, which other programs share;
    /// - internet password: `server`, `user`, `protocol`, `port`, `object`, `domain`, `authtype`, which others share;
    /// - key, certificate: `keychain.` and the name, for each key attribute;
    /// - internet password of a web form: besides, those by which GNOME Web finds it (``WebForm``);
    /// - all: `keychain.class`, `keychain.group`, `keychain.sync`, `keychain.version`.
    ///
    /// For information, and never searched by but for the reference, it has `keychain.reference`, `keychain.created` and,
    /// once it was changed, `keychain.modified` (in microseconds), `keychain.length`, `keychain.` and the name of each
    /// other attribute that is set, and `xdg:schema`.
    ///
    /// `keychain.length` is no exact length, which would tell too much about a password: it is the next power of two,
    /// 4096 at least.
    ///
    /// A scheme other than the standard one puts other names in the place of `service` and `username`.
    struct ItemLayout {
        let scheme: AttributeScheme

        static let className = "keychain.class"
        static let groupName = "keychain.group"
        static let syncName = "keychain.sync"
        static let versionName = "keychain.version"
        static let referenceName = "keychain.reference"
        static let createdName = "keychain.created"
        static let modifiedName = "keychain.modified"
        static let lengthName = "keychain.length"
        static let schemaName = SecretServiceNames.schema

        private static let prefix = "keychain."
        private static let version = "1"

        private static let schemas: [ItemClass: String] = [
            .internetPassword: SecretServiceNames.networkPasswordSchema,
            .key: "org.swift-keychain.Key",
            .certificate: "org.swift-keychain.Certificate",
        ]

        // MARK: Names and texts

        /// The name under which the service keeps an attribute of a class.
        func name(of attribute: AttributeName, in itemClass: ItemClass) -> String {
            switch (itemClass, attribute) {
            case (.genericPassword, .service): return scheme.service
            case (.genericPassword, .account): return scheme.account
            case (.internetPassword, _):
                return SecretServiceNames.internetPassword[attribute] ?? Self.prefix + attribute.rawValue
            default: return Self.prefix + attribute.rawValue
            }
        }

        /// The name under which keytar keeps an attribute, which is read in the standard scheme as well.
        func alternativeName(of attribute: AttributeName, in itemClass: ItemClass) -> String? {
            itemClass == .genericPassword && attribute == .account && scheme == .standard ? "account" : nil
        }

        /// What is recorded of a value's length.
        static func lengthLimit(_ count: Int) -> Int {
            var limit = 4096
            while limit < count { limit *= 2 }
            return limit
        }

        // MARK: Records to attributes

        /// The attributes of an item of ours.
        ///
        /// - Parameters:
        ///   - record: The item.
        ///   - valueCount: The number of bytes of its value.
        ///   - existing: What is there already; attributes that this layout does not know are kept.
        /// - Throws: `invalidParameter` for NUL in a text, at which the bus would end the connection.
        func attributes(
            of record: ItemRecord,
            valueCount: Int,
            over existing: LookupAttributes = LookupAttributes()
        ) throws(KeychainError) -> LookupAttributes {
            var attributes = existing
            attributes[Self.className] = record.itemClass.rawValue
            attributes[Self.groupName] = record.accessGroup
            attributes[Self.syncName] = record.isSynchronizable ? "1" : "0"
            attributes[Self.versionName] = Self.version
            attributes[Self.lengthName] = String(Self.lengthLimit(valueCount))
            if record.itemClass == .genericPassword {
                attributes[Self.schemaName] = scheme.schema
                for (name, text) in scheme.constants { attributes[name] = text }
            } else {
                attributes[Self.schemaName] = Self.schemas[record.itemClass]
            }
            Self.stamp(&attributes, record)
            let isChanged = record.modificationDate > record.creationDate
            attributes[Self.modifiedName] = isChanged ? String(record.modificationDate.microseconds) : nil
            let schema = AttributeSchema.schema(of: record.itemClass)
            for attribute in schema.primaryKey {
                let value = record.attributes[attribute.name] ?? attribute.form.defaultValue
                let name = name(of: attribute.name, in: record.itemClass)
                attributes[name] = AttributeText.text(of: value, attribute.name, in: record.itemClass)
            }
            for attribute in schema.others {
                attributes[Self.prefix + attribute.name.rawValue] = Self.text(of: attribute.name, record)
            }
            if record.itemClass == .internetPassword { WebForm.write(record, to: &attributes) }
            try Self.refuseNUL(attributes)
            return attributes
        }

        /// The attributes of another program's item after a change: its own, and of ours only what is needed.
        ///
        /// - Parameters:
        ///   - new: The item after the change, of the default group and not synchronizable.
        ///   - existing: The attributes before it.
        /// - Throws: `invalidParameter` for NUL in a text.
        func attributes(
            ofForeign new: ItemRecord,
            over existing: LookupAttributes
        ) throws(KeychainError) -> LookupAttributes {
            var attributes = existing
            let schema = AttributeSchema.schema(of: new.itemClass)
            let isWebForm = WebForm.isOne(existing)
            if isWebForm { WebForm.write(new, to: &attributes) }
            for attribute in schema.primaryKey where !isWebForm {
                var name = name(of: attribute.name, in: new.itemClass)
                if attributes[name] == nil, let other = alternativeName(of: attribute.name, in: new.itemClass) {
                    name = other
                }
                let wanted = new.attributes[attribute.name] ?? attribute.form.defaultValue
                let present = attributes[name].flatMap { AttributeText.value($0, attribute, in: new.itemClass) }
                // What stays the same keeps the spelling that its program gave it, and may stay left out.
                if present ?? attribute.form.defaultValue != wanted {
                    attributes[name] = AttributeText.text(of: wanted, attribute.name, in: new.itemClass)
                }
            }
            // The label is where the program itself put it: in the service's own property.
            for attribute in schema.others where attribute.name != .label {
                attributes[Self.prefix + attribute.name.rawValue] = Self.text(of: attribute.name, new)
            }
            try Self.refuseNUL(attributes)
            return attributes
        }

        /// Whether another program's item can stay in that program's form after a change.
        func canStayForeign(_ new: ItemRecord, _ existing: LookupAttributes) -> Bool {
            !WebForm.isOne(existing) || WebForm.origin(of: new.attributes) != nil
        }

        private static func text(of attribute: AttributeName, _ record: ItemRecord) -> String? {
            record.attributes[attribute].map { AttributeText.text(of: $0, attribute, in: record.itemClass) }
        }

        /// Writes down the reference and the date of creation, which the service would otherwise decide.
        static func stamp(_ attributes: inout LookupAttributes, _ record: ItemRecord) {
            attributes[referenceName] = record.reference.uuidString
            attributes[createdName] = String(record.creationDate.microseconds)
        }

        private static func refuseNUL(_ attributes: LookupAttributes) throws(KeychainError) {
            guard let pair = attributes.pairs.first(where: { $0.value.utf8.contains(0) || $0.name.utf8.contains(0) })
            else {
                return
            }
            throw KeychainError(
                .invalidParameter,
                "The attribute ‘\(pair.name)’ contains NUL, which no keyring can keep."
            )
        }

        // MARK: Labels

        /// The label that other programs show: the item's own on one line, else a description.
        ///
        /// Where the service is the title of an entry, it is the label too.
        func shownLabel(_ record: ItemRecord) -> String {
            if record.itemClass == .genericPassword, scheme.hasServiceAsLabel {
                if case .text(let service)? = record.attributes[.service] { return service }
                return ""
            }
            if case .text(let label)? = record.attributes[.label] {
                let line = Self.onOneLine(label)
                if !line.isEmpty { return line }
            }
            return Self.describedLabel(record)
        }

        private static func describedLabel(_ record: ItemRecord) -> String {
            func text(_ name: AttributeName) -> String {
                if case .text(let text)? = record.attributes[name] { return text }
                return ""
            }
            let description: String
            switch record.itemClass {
            case .genericPassword:
                description = joined(text(.account), text(.service))
            case .internetPassword:
                if let label = WebForm.label(of: record.attributes) { return onOneLine(label) }
                let scheme = ProtocolType(rawValue: text(.protocol)).description
                var place = scheme.isEmpty ? text(.server) : "\(scheme)://\(text(.server))"
                if case .integer(let port)? = record.attributes[.port] { place += ":\(port)" }
                let path = text(.path)
                place += path.isEmpty || path.isAbsolutePath ? path : "/\(path)"
                description = joined(text(.account), place)
            case .key:
                let tag = record.attributes[.applicationTag]
                if case .data(let data)? = tag, let text = String(data: data, encoding: .utf8) {
                    description = text
                } else {
                    description = ""
                }
            case .certificate, .identity:
                description = ""
            }
            let line = onOneLine(description)
            return line.isEmpty ? record.itemClass.description : line
        }

        private static func joined(_ account: String, _ place: String) -> String {
            account.isEmpty ? place : "\(account) on \(place)"
        }

        private static func onOneLine(_ text: String) -> String {
            String(text.map { $0.isNewline || $0.unicodeScalars.allSatisfy { $0.value < 0x20 } ? " " : $0 }).trimmed
        }

        // MARK: Attributes to records

        /// The record that an item stands for, ours or another program's; nil if it is none of either.
        func record(of item: StoredItem) -> ItemRecord? {
            guard let itemClass = itemClass(of: item.attributes) else { return nil }
            let schema = AttributeSchema.schema(of: itemClass)
            var attributes = AttributeSet()
            let isWebForm = !item.isOwn && WebForm.isOne(item.attributes)
            if isWebForm {
                guard let form = WebForm.attributes(of: { item.attributes[$0] }) else { return nil }
                attributes = form
            }
            let rest = isWebForm ? schema.others : schema.all
            for attribute in rest where attribute.name != .label {
                var text = item.attributes[name(of: attribute.name, in: itemClass)]
                if text == nil, let other = alternativeName(of: attribute.name, in: itemClass) {
                    text = item.attributes[other]
                }
                attributes[attribute.name] = text.flatMap { AttributeText.value($0, attribute, in: itemClass) }
            }
            var record = ItemRecord(
                reference: item.attributes[Self.referenceName].flatMap { UUID(uuidString: $0) }
                    ?? Self.reference(of: item.path),
                itemClass: itemClass,
                accessGroup: item.attributes[Self.groupName] ?? "",
                isSynchronizable: item.attributes[Self.syncName] == "1",
                attributes: attributes,
                creationDate: ItemDate(microseconds: Self.microseconds(item.created)),
                modificationDate: ItemDate(microseconds: Self.microseconds(item.modified)),
                handle: item.path
            )
            if let created = item.attributes[Self.createdName].flatMap({ Int64($0) }) {
                record.creationDate = ItemDate(microseconds: created)
                // The service counts whole seconds: within the second of its creation, an item is not older than that.
                if created / 1_000_000 >= Int64(clamping: item.modified) {
                    record.modificationDate = record.creationDate
                }
            }
            // Until another program changes the item: then only the service knows when. It takes a moment to write, and
            // of attributes that are set KWallet keeps no date.
            if let modified = item.attributes[Self.modifiedName].flatMap({ Int64($0) }),
                Int64(clamping: item.modified) <= modified / 1_000_000 + 1
            {
                record.modificationDate = ItemDate(microseconds: modified)
            }
            record.attributes[.label] = label(of: item, record)
            return record
        }

        /// The label of an item: what someone else called it in the meantime, else what was stored with it.
        private func label(of item: StoredItem, _ record: ItemRecord) -> AttributeValue? {
            let stored = item.attributes[Self.prefix + AttributeName.label.rawValue]
            var labelled = record
            labelled.attributes[.label] = stored.map { .text($0) }
            let shown = item.label.trimmed
            if shown.isEmpty || shown.hasSameBytes(as: shownLabel(labelled)) { return labelled.attributes[.label] }
            return .text(item.label)
        }

        private func itemClass(of attributes: LookupAttributes) -> ItemClass? {
            guard let name = attributes[Self.className] else { return foreignClass(of: attributes) }
            switch ItemClass(rawValue: name) {
            // One that was stored in another scheme is none of this one.
            case .genericPassword: return hasNames(attributes) ? .genericPassword : nil
            case .identity: return nil
            case let itemClass: return itemClass
            }
        }

        /// Whether a generic password has the names of the scheme.
        private func hasNames(_ attributes: LookupAttributes) -> Bool {
            attributes.hasName(scheme.service) && scheme.constants.keys.allSatisfy { attributes.hasName($0) }
                && (attributes.hasName(scheme.account)
                    || alternativeName(of: .account, in: .genericPassword).map { attributes.hasName($0) } ?? false)
        }

        /// The class of another program's item, by the names it uses, whether their values are hashed or not.
        ///
        /// Generic passwords have the names of the scheme, in the standard one `service` with `username` (Python's
        /// keyring, go-keyring, keyring-rs, r-lib) or with `account` (keytar). For internet passwords see
        /// ``SecretServiceNames``.
        func foreignClass(of attributes: LookupAttributes) -> ItemClass? {
            guard !attributes.hasName(Self.className) else { return nil }
            if hasNames(attributes) { return .genericPassword }
            let isInternetPassword = SecretServiceNames.isInternetPassword(
                schema: attributes[Self.schemaName],
                hasName: attributes.hasName
            )
            return isInternetPassword ? .internetPassword : nil
        }

        private static func microseconds(_ seconds: UInt64) -> Int64 {
            let (product, overflow) = Int64(truncatingIfNeeded: min(seconds, UInt64(Int64.max)))
                .multipliedReportingOverflow(by: 1_000_000)
            return overflow ? .max : product
        }

        /// The persistent reference of another program's item: a name-based UUID (RFC 9562, version 5) of its path.
        static func reference(of path: String) -> UUID {
            // The namespace is a random UUID that stands for object paths of the Secret Service.
            let namespace = UUID(uuidString: "6E0F3C52-7D1B-4C61-9B0A-2E4B9D5A7C10")!.uuid
            let hash = SHA1.hash(of: withUnsafeBytes(of: namespace) { Array($0) } + Array(path.utf8))
            var bytes = UUID().uuid
            withUnsafeMutableBytes(of: &bytes) { target in
                target.copyBytes(from: hash.prefix(16))
                target[6] = target[6] & 0x0F | 0x50
                target[8] = target[8] & 0x3F | 0x80
            }
            return UUID(uuid: bytes)
        }
    }
#endif
