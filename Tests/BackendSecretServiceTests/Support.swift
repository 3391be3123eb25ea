// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture

    extension SecretServer {
        /// A driver for this server.
        func driver(
            _ collection: String = "",
            scheme: AttributeScheme = .standard,
            valueForm: SecretServiceDriver.ValueForm = .safe,
            maximumValueSize: Int = 1 << 20
        ) throws -> SecretServiceDriver {
            try SecretServiceDriver(
                collection: collection,
                scheme: scheme,
                valueForm: valueForm,
                maximumValueSize: maximumValueSize,
                environment: environment
            )
        }

        /// Runs `secret-tool`.
        func secretTool(_ arguments: [String], input: String = "") throws -> ProgramOutput {
            try run("secret-tool", arguments, input: Data(input.utf8))
        }

        /// The attributes of every item of the default collection, sorted by path.
        func allAttributes() throws -> [[String: String]] {
            let text = try python(
                """
                paths = sorted(bus.get_object(NAME, sys.argv[1]).Get('org.freedesktop.Secret.Collection', 'Items',
                    dbus_interface='org.freedesktop.DBus.Properties'))
                print(json.dumps([{str(k): str(v) for k, v in
                    bus.get_object(NAME, p).Get('org.freedesktop.Secret.Item', 'Attributes',
                        dbus_interface='org.freedesktop.DBus.Properties').items()} for p in paths]))
                """,
                [collection]
            )
            return try JSONDecoder().decode([[String: String]].self, from: Data(text.utf8))
        }

        /// Creates an item as another program would, with a plain session.
        ///
        /// - Returns: Its object path.
        @discardableResult
        func createItem(_ attributes: [String: String], label: String = "", secret: Data) throws -> String {
            let json = String(decoding: try JSONEncoder().encode(attributes), as: UTF8.self)
            return try python(
                """
                import base64
                service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
                output, session = service.OpenSession('plain', dbus.String('', variant_level=1))
                collection = dbus.Interface(bus.get_object(NAME, sys.argv[4]), 'org.freedesktop.Secret.Collection')
                value = dbus.ByteArray(base64.b64decode(sys.argv[3]))
                secret = dbus.Struct((session, dbus.ByteArray(b''), value, 'text/plain'), signature='oayays')
                item, prompt = collection.CreateItem({
                    'org.freedesktop.Secret.Item.Label': dbus.String(sys.argv[2], variant_level=1),
                    'org.freedesktop.Secret.Item.Attributes':
                        dbus.Dictionary(json.loads(sys.argv[1]), signature='ss', variant_level=1),
                }, secret, False)
                print(finish(prompt) if prompt != '/' else item, end='')
                """,
                [json, label, secret.base64EncodedString(), collection]
            )
        }
    }

    extension SecretServiceDriver {
        func records(
            _ selection: RecordSelection,
            _ call: CallContext = CallContext(.retrieve)
        ) throws -> [ItemRecord] {
            try read(call) { (reader) throws(KeychainError) in try reader.records(selection).filter(selection.matches) }
        }

        /// The record and the value of the most recently modified item that matches.
        func item(
            _ selection: RecordSelection,
            _ call: CallContext = CallContext(.retrieve)
        ) throws -> (record: ItemRecord, value: Data)? {
            try read(call) { (reader) throws(KeychainError) -> (record: ItemRecord, value: Data)? in
                let found = try reader.records(selection).filter(selection.matches)
                guard let record = found.max(by: { $0.modificationDate < $1.modificationDate }) else { return nil }
                return (record, Data(try reader.value(of: record)))
            }
        }

        func commit(_ mutations: [RecordMutation], _ call: CallContext = CallContext(.store)) throws {
            try write(call) { (writer) throws(KeychainError) in try writer.commit(mutations) }
        }

        /// Changes the most recently modified item that matches.
        func update(
            _ selection: RecordSelection,
            value: Data? = nil,
            _ change: (inout ItemRecord) -> Void = { _ in }
        ) throws {
            try write(CallContext(.update)) { (writer) throws(KeychainError) in
                let found = try writer.records(selection).filter(selection.matches)
                guard let old = found.max(by: { $0.modificationDate < $1.modificationDate }) else {
                    throw .itemNotFound
                }
                var new = old
                change(&new)
                try writer.commit([.update(old: old, new: new, value: value.map { SecureBytes($0) })])
            }
        }
    }

    extension Data {
        init(_ bytes: SecureBytes) {
            self = bytes.withBytes { Data($0) }
        }
    }

    extension ItemRecord {
        /// A record for a new generic password.
        static func password(
            _ service: String,
            _ account: String,
            group: String = "",
            isSynchronizable: Bool = false,
            _ others: [AttributeName: AttributeValue] = [:]
        ) -> ItemRecord {
            new(
                .genericPassword,
                [.service: .text(service), .account: .text(account)].merging(others) { $1 },
                group,
                isSynchronizable
            )
        }

        /// A record for a new item.
        static func new(
            _ itemClass: ItemClass,
            _ values: [AttributeName: AttributeValue],
            _ group: String = "",
            _ isSynchronizable: Bool = false
        ) -> ItemRecord {
            var attributes = AttributeSet()
            for (name, value) in values { attributes[name] = value }
            let now = StampSource.system.now()
            return ItemRecord(
                reference: UUID(),
                itemClass: itemClass,
                accessGroup: group,
                isSynchronizable: isSynchronizable,
                attributes: attributes,
                creationDate: now,
                modificationDate: now
            )
        }

        /// The selection of exactly this item.
        var selection: RecordSelection { RecordSelection(primaryKey) }
    }

    extension RecordSelection {
        static func password(_ service: String, _ account: String) -> RecordSelection {
            ItemRecord.password(service, account).selection
        }
    }

    /// The code of the error that a closure throws, nil if it throws none of ours.
    func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeychainError)?.code
        }
    }
#endif
