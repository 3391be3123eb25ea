// SPDX-License-Identifier: MIT
#if SecretService
    import BackendMemory
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import KeychainImport

    @Suite struct CollectionTests {
        /// What programs write, each with a value of its own.
        private static let attributes: [[String: String]] = [
            ["service": "s", "username": "u", "application": "Python keyring library"],
            ["service": "s", "account": "keytar"],
            ["server": "git.example.com", "user": "bob", "protocol": "https", "port": "8443", "object": "a/b.git"],
            [
                "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "h", "user": "u", "protocol": "imap",
                "domain": "d", "authtype": "plain",
            ],
            ["docker_cli": "1", "label": "Docker Credentials", "server": "https://docker.io", "username": "bob"],
            ["xdg:schema": "org.example.Own", "color": "blue", "size": "ü"],
            ["application": "chrome"],
            [
                "xdg:schema": "org.epiphany.FormPassword", "id": "{1}", "uri": "https://example.com:8443",
                "target_origin": "https://example.com:8443", "form_username": "login", "form_password": "pw",
                "username": "eve", "server_time_modified": "0",
            ],
        ]

        private func store(_ attributes: [String: String], _ value: String, on keyring: PrivateKeyring) throws {
            let pairs = attributes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            let stored = try keyring.run(
                "secret-tool",
                ["store", "--label=item \(value)"] + pairs,
                input: Data(value.utf8)
            )
            #expect(stored.status == 0, "\(stored.errors)")
        }

        private func keychain(_ keyring: PrivateKeyring) throws -> Keychain {
            Keychain(driver: try SecretServiceDriver(environment: keyring.environment))
        }

        private func filledKeyring() throws -> PrivateKeyring {
            let keyring = try PrivateKeyring.start()
            for (index, attributes) in Self.attributes.enumerated() {
                try store(attributes, "value \(index)", on: keyring)
            }
            return keyring
        }

        @Test func secretToolsOutputIsReadAsTheDriverReadsTheItems() throws {
            let keyring = try filledKeyring()
            let source = try keychain(keyring)
            for (index, attributes) in Self.attributes.enumerated() {
                let pair = try #require(attributes.filter { $0.key != "xdg:schema" }.max { $0.key < $1.key })
                // Shared by two of them.
                let name = index == 1 ? "account" : pair.key
                let printed = try keyring.run(
                    "sh",
                    ["-c", "secret-tool search --all --unlock \"$@\" 2>&1", "sh", name, attributes[name] ?? ""]
                )
                let items = try SecretToolOutput.items(in: SecureBytes(printed.output))
                let item = try #require(items.first { $0.value == SecureBytes(Data("value \(index)".utf8)) })
                #expect(item.label == "item value \(index)")
                let target = Keychain(driver: MemoryDriver())
                try target.importItems([item], ifExists: .fail)
                let isKnown = ![4, 5, 6].contains(index)
                #expect(try found(item, in: source) == isKnown, "\(attributes)")
                #expect(try found(item, in: target))
            }
        }

        /// Whether a keychain has an item with the key attributes of another one.
        private func found(_ item: ImportedItem, in keychain: Keychain) throws -> Bool {
            func query<Item>(_ query: SecItemQuery<Item>) -> SecItemQuery<Item> {
                var query = query
                for attribute in AttributeSchema.schema(of: item.itemClass).primaryKey {
                    query[attribute.name] = item.attributes[attribute.name] ?? attribute.form.defaultValue
                }
                return query
            }
            return item.itemClass == .genericPassword
                ? try keychain.contains(query(SecItemQuery<GenericPassword>()))
                : try keychain.contains(query(SecItemQuery<InternetPassword>()))
        }

        @Test func everyItemOfACollectionComes() async throws {
            let keyring = try filledKeyring()
            let source = try keychain(keyring)
            try await source.store(Data([0, 0xFF, 0x0A]), query: SecItemQuery<GenericPassword>.credential(for: "ours"))
            // An older item for the same password, as a second program adds it.
            try store(["service": "s", "username": "u", "target": "default"], "newer", on: keyring)
            let target = Keychain(driver: MemoryDriver())
            let done = try await Keychain.importCollection(from: source, to: target, ifExists: .fail)
            #expect(done.unclassified == 3 && done.outdated == 1)
            #expect(done.migration.migrated == 9 && done.migration.skipped == 0)
            let generic = try await target.infoAll(for: SecItemQuery<GenericPassword>())
            #expect(generic.count == 6)
            #expect(try await target.infoAll(for: SecItemQuery<InternetPassword>()).count == 3)
            var own = SecItemQuery<GenericPassword>()
            own.service = "org.example.Own"
            own.account = #"{"color":"blue","size":"ü"}"#
            #expect(try await target.retrieve(own) == "value 5")
            #expect(try await target.retrieve(.credential(for: "ours")) == Data([0, 0xFF, 0x0A]))
            let eve: String? = try await SharedWebCredential.retrieve(
                "https://example.com:8443",
                account: "eve",
                from: target
            )
            #expect(eve == "value 7")
            // The same again: nothing new, nothing lost, nothing half.
            await #expect(throws: KeychainError.duplicateItem) {
                try await Keychain.importCollection(from: source, to: target, ifExists: .fail)
            }
            let again = try await Keychain.importCollection(from: source, to: target, ifExists: .skip)
            #expect(again.migration.skipped == 9 && again.migration.migrated == 0)
            #expect(try await target.infoAll(for: SecItemQuery<GenericPassword>()).count == 6)
        }

        @Test func anEmptyOneAndAnotherStoreAreErrors() throws {
            let keyring = try PrivateKeyring.start()
            let target = Keychain(driver: MemoryDriver())
            let empty = #expect(throws: KeychainError.self) {
                try Keychain.importCollection(from: keychain(keyring), to: target, ifExists: .fail)
            }
            #expect(empty?.code == .itemNotFound)
            let other = #expect(throws: KeychainError.self) {
                try Keychain.importCollection(from: target, to: target, ifExists: .fail)
            }
            #expect(other?.code == .unsupported)
        }
    }
#endif
