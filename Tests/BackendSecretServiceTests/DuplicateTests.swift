// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Several items that other programs have left for one primary key.
    @Suite(.timeLimit(.minutes(2))) struct DuplicateTests {
        private var query: SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: "svc")
            query.account = "bob"
            return query
        }

        private static let attributes = ["service": "svc", "username": "bob"]

        /// A keyring with two items for one key: of Python's keyring and of go-keyring, the second one newer.
        private func keyring() throws -> PrivateKeyring {
            let keyring = try PrivateKeyring.start()
            let application = ["application": "Python keyring library"]
            try keyring.createItem(Self.attributes.merging(application) { $1 }, label: "old", secret: Data("1".utf8))
            try keyring.createItem(Self.attributes, label: "new", secret: Data("2".utf8))
            return keyring
        }

        private func secrets(_ keyring: PrivateKeyring) throws -> [String] {
            let text = try keyring.python(
                """
                service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
                output, session = service.OpenSession('plain', dbus.String('', variant_level=1))
                paths = service.SearchItems(dbus.Dictionary({'service': 'svc'}, signature='ss'))[0]
                print(json.dumps([bytes(service.GetSecrets([path], session)[path][2]).decode()
                    for path in sorted(paths)]))
                """
            )
            return try JSONDecoder().decode([String].self, from: Data(text.utf8))
        }

        @Test func theMostRecentlyModifiedOneSpeaks() throws {
            let keyring = try keyring()
            let keychain = Keychain(driver: try keyring.driver())
            #expect(try keychain.retrieve(query) as String? == "2")
            #expect(try keychain.infoAll(for: query).map(\.label) == ["new"])
            #expect(code { try keychain.store("3", query: query) } == .duplicateItem)
            #expect(try secrets(keyring) == ["1", "2"])
            try keychain.store("3", query: query, ifExists: .replaceValue)
            #expect(try keychain.retrieve(query) as String? == "3")
            #expect(try secrets(keyring) == ["1", "3"])
            #expect(try keychain.remove(query))
            #expect(try secrets(keyring) == [])
        }

        @Test func theyAreAmbiguousForWhoIsStrict() throws {
            let keyring = try keyring()
            let keychain = Keychain(driver: try keyring.driver(), refusesDuplicates: true)
            #expect(code { _ = try keychain.retrieve(query) as String? } == .ambiguous)
            #expect(code { _ = try keychain.info(for: query) } == .ambiguous)
            #expect(code { _ = try keychain.contains(query) } == .ambiguous)
            #expect(code { try keychain.store("3", query: query) } == .ambiguous)
            #expect(code { try keychain.store("3", query: query, ifExists: .replaceValue) } == .ambiguous)
            #expect(code { try keychain.remove(query) } == .ambiguous)
            #expect(try secrets(keyring) == ["1", "2"])
            // What is unique is not touched by it.
            var other = query
            other.account = "eve"
            try keychain.store("3", query: other)
            #expect(try keychain.retrieve(other) as String? == "3")
            #expect(try keyring.secretTool(["clear", "application", "Python keyring library"]).status == 0)
            #expect(try keychain.retrieve(query) as String? == "2")
        }

        /// A program that copies an item copies what this library wrote to it.
        @Test func aCopyWithTheSameReferenceIsAnotherItem() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            try keychain.store("1", query: .credential(for: "one"))
            var copy = try #require(try keyring.allAttributes().first)
            copy["service"] = "two"
            copy["keychain.length"] = "9223372036854775807"
            try keyring.createItem(copy, secret: Data("2".utf8))
            let info = try #require(try keychain.info(for: SecItemQuery<GenericPassword>.credential(for: "one")))
            let both = SecItemQuery<GenericPassword>.item(info.persistentReference)
            #expect(code { try keychain.remove(both) } == .ambiguous)
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "l"
            #expect(code { _ = try keychain.update(both, changes) } == .ambiguous)
            // Its length is not to be believed.
            #expect(try keychain.update(.credential(for: "two"), changes) == 1)
            var named = both
            named.service = "one"
            #expect(try keychain.remove(named))
            #expect(try keychain.retrieve(.credential(for: "two")) == "2")
        }
    }
#endif
