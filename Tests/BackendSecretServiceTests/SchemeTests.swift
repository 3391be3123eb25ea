// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// Items for and of programs that name their attributes in another way.
    @Suite struct SchemeTests {
        private static let schemes: [AttributeScheme] = [
            .keytar, .keePassXC, .qtKeychain, AttributeScheme(service: "app", account: "who", constants: ["v": "2"]),
        ]

        private func keychain(_ server: any SecretServer, _ scheme: AttributeScheme) throws -> Keychain {
            Keychain(driver: try server.driver(scheme: scheme))
        }

        private func query(_ service: String, _ account: String) -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: service)
            query.account = account
            return query
        }

        /// Every verb, and what lies there.
        private func expectToWork(_ scheme: AttributeScheme, on server: any SecretServer) throws {
            let keychain = try keychain(server, scheme)
            var query = query("svc", "bob")
            query.comment = "c"
            try keychain.store("one", query: query)
            query.comment = nil
            #expect(throws: KeychainError.self) { try keychain.store("two", query: query) }
            #expect(try keychain.retrieve(query) == "one")
            let present = try #require(try server.allAttributes().first { $0[scheme.account] == "bob" })
            #expect(present[scheme.service] == "svc")
            for (name, text) in scheme.constants { #expect(present[name] == text) }
            try keychain.store("two", query: query, ifExists: .replaceValue)
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "l"
            try keychain.update(query, changes)
            let info = try #require(try keychain.info(for: query))
            #expect(info.service == "svc" && info.account == "bob" && info.label == "l" && info.comment == "c")
            changes.account = "eve"
            changes.service = "other"
            try keychain.update(query, changes)
            #expect(try keychain.contains(query) == false)
            #expect(try keychain.retrieve(self.query("other", "eve")) == "two")
            #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).map(\.account) == ["eve"])
            #expect(try keychain.remove(self.query("other", "eve")))
            #expect(try server.allAttributes().isEmpty)
        }

        @Test(arguments: schemes) func itemsLieThereInTheScheme(scheme: AttributeScheme) throws {
            try expectToWork(scheme, on: PrivateKeyring.start())
        }

        @Test(arguments: schemes) func alsoInKeePassXC(scheme: AttributeScheme) throws {
            try expectToWork(scheme, on: PrivateKeePassXC.start())
        }

        @Test func aSchemeSeesItsOwnItems() throws {
            let keyring = try PrivateKeyring.start()
            for (index, scheme) in Self.schemes.enumerated() {
                try keychain(keyring, scheme).store("\(index)", query: query("svc", "bob"))
            }
            for (index, scheme) in Self.schemes.enumerated() {
                let keychain = try keychain(keyring, scheme)
                #expect(try keychain.retrieve(query("svc", "bob")) == "\(index)")
                #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).count == 1)
            }
            // keytar's items are read in the standard scheme.
            let standard = try keychain(keyring, .standard)
            #expect(try standard.retrieve(query("svc", "bob")) == "0")
            #expect(try standard.infoAll(for: SecItemQuery<GenericPassword>()).count == 1)
            // The other classes are no matter of a scheme.
            let site = SecItemQuery<InternetPassword>.credential(for: "eve", space: .website("https://example.com"))
            try keychain(keyring, .qtKeychain).store("site", query: site)
            #expect(try standard.retrieve(site) == "site")
        }

        @Test func whatOthersWroteInTheirSchemeIsReadAndChanged() throws {
            let keyring = try PrivateKeyring.start()
            let items: [(AttributeScheme, [String: String])] = [
                (.keytar, ["service": "s", "account": "a", "xdg:schema": "org.freedesktop.Secret.Generic"]),
                (.keePassXC, ["Title": "s", "UserName": "a", "URL": "https://example.com"]),
                (.qtKeychain, ["server": "s", "user": "a", "type": "plaintext", "xdg:schema": "org.qt.keychain"]),
            ]
            for (scheme, attributes) in items {
                try keyring.createItem(attributes, label: "theirs", secret: Data("old".utf8))
                let keychain = try keychain(keyring, scheme)
                #expect(try keychain.retrieve(query("s", "a")) == "old", "\(scheme)")
                try keychain.store("new", query: query("s", "a"), ifExists: .replaceValue)
                let needle = [scheme.service, "s", scheme.account, "a"]
                let found = try keyring.secretTool(["lookup"] + needle)
                #expect(found.text == "new", "\(scheme)")
                #expect(try keychain.remove(query("s", "a")))
            }
            #expect(try keyring.allAttributes().isEmpty)
        }

        @Test func binaryOfQtKeychainIsDecoded() throws {
            let keyring = try PrivateKeyring.start()
            let attributes = ["server": "s", "user": "a", "type": "base64", "xdg:schema": "org.qt.keychain"]
            let value = Data([0, 0xFF, 0x0A, 7])
            try keyring.createItem(attributes, label: "theirs", secret: Data(value.base64EncodedString().utf8))
            let keychain = try keychain(keyring, .qtKeychain)
            #expect(try keychain.retrieve(query("s", "a")) == value)
            try keychain.store(Data([1, 2, 0, 3]), query: query("s", "a"), ifExists: .replaceValue)
            #expect(try keychain.retrieve(query("s", "a")) == Data([1, 2, 0, 3]))
            let found = try keyring.secretTool(["lookup", "server", "s", "user", "a", "type", "base64"])
            #expect(Data(base64Encoded: found.text) == Data([1, 2, 0, 3]))
            // What is no base 64 is damaged, and not another value.
            try keyring.createItem(attributes.merging(["user": "b"]) { $1 }, secret: Data("no base 64".utf8))
            let error = #expect(throws: KeychainError.self) { _ = try keychain.retrieve(query("s", "b")) as Data? }
            #expect(error?.code == .corrupt)
        }
    }
#endif
