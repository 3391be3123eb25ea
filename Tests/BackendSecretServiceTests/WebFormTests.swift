// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Passwords of web forms that go to and fro between this library and GNOME Web.
    @Suite struct WebFormTests {
        private let schema = ["xdg:schema", "org.epiphany.FormPassword"]

        private func keychain(_ server: any SecretServer) throws -> Keychain {
            Keychain(driver: try server.driver())
        }

        /// What GNOME Web stores.
        private func attributes(
            _ origin: String,
            _ account: String?,
            field: String = "login"
        ) -> [String: String] {
            var attributes = [
                "xdg:schema": "org.epiphany.FormPassword", "id": "{\(UUID().uuidString.lowercased())}", "uri": origin,
                "target_origin": origin, "form_password": "pw", "server_time_modified": "1700000000.1",
            ]
            attributes["username"] = account
            attributes["form_username"] = account.map { _ in field }
            return attributes
        }

        private func retrieve(_ site: String, _ account: String?, _ keychain: Keychain) throws -> String? {
            try SharedWebCredential.retrieve(site, account: account, from: keychain)
        }

        /// Looks with exactly what GNOME Web searches by when it fills in a form, lists users, or is asked for all.
        private func expectFound(_ origin: String, _ account: String, _ value: String, _ server: any SecretServer)
            throws
        {
            let place = ["uri", origin, "target_origin", origin]
            let fields = ["username", account, "form_username", "username", "form_password", "password"]
            for needle in [schema, schema + place + ["form_password", "password"], schema + place + fields] {
                #expect(try server.secretTool(["lookup"] + needle).text == value, "\(needle)")
            }
        }

        @Test func webFindsWhatWeStore() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try keychain(keyring)
            try SharedWebCredential.store("example.com", account: "bob", password: "one", in: keychain)
            try expectFound("https://example.com", "bob", "one", keyring)
            let present = try #require(try keyring.allAttributes().first)
            // It leaves out what has none of these.
            for name in ["id", "uri", "target_origin", "server_time_modified"] { #expect(present[name] != nil) }
            #expect(present["id"]?.hasPrefix("{") == true && present["server"] == "example.com")
            let printed = try keyring.secretTool(["search", "uri", "https://example.com"]).text
            #expect(printed.contains("label = Password for bob in a form in https://example.com\n"))
            #expect(try retrieve("example.com", "bob", keychain) == "one")
            #expect(try keychain.info(for: .webCredential(for: "example.com"))?.label == nil)
        }

        @Test func aChangeMovesBothSetsOfAttributes() throws {
            for server in [try PrivateKeyring.start(), try PrivateKeePassXC.start()] as [any SecretServer] {
                let keychain = try keychain(server)
                try SharedWebCredential.store("example.com", account: "bob", password: "one", in: keychain)
                let id = try server.allAttributes().first?["id"]
                var changes = SecItemUpdate<InternetPassword>()
                changes.account = "eve"
                changes.port = 8443
                try keychain.update(.webCredential(for: "example.com", account: "bob"), changes)
                try expectFound("https://example.com:8443", "eve", "one", server)
                #expect(try retrieve("https://example.com:8443", "eve", keychain) == "one")
                #expect(try retrieve("example.com", "bob", keychain) == nil)
                #expect(try server.allAttributes().map { $0["id"] } == [id])
                // What is for no form any more is none of GNOME Web's.
                changes = SecItemUpdate()
                changes.authenticationType = .httpBasic
                try keychain.update(.webCredential(for: "https://example.com:8443", account: "eve"), changes)
                let rest = try #require(try server.allAttributes().first)
                for name in ["id", "uri", "target_origin", "username", "form_username", "form_password"] {
                    #expect(rest[name] == nil, "\(name)")
                }
                #expect(rest["xdg:schema"] == "org.gnome.keyring.NetworkPassword")
            }
        }

        @Test(arguments: [
            ("https://example.com", "example.com"), ("https://example.com:8443", "https://example.com:8443"),
            ("http://localhost:3000", "http://localhost:3000"), ("http://[::1]", "http://[::1]"),
        ])
        func weFindWhatWebStores(_ origin: String, _ site: String) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try keychain(keyring)
            try keyring.createItem(
                attributes(origin, "Jürgen"),
                label: "Password for Jürgen in a form in \(origin)",
                secret: Data("t0ken".utf8)
            )
            #expect(try retrieve(site, "Jürgen", keychain) == "t0ken")
            #expect(try retrieve(site, nil, keychain) == "t0ken")
            #expect(try retrieve(site, "bob", keychain) == nil)
            #expect(try retrieve("https://other.example", "Jürgen", keychain) == nil)
            let all = try keychain.infoAll(for: SecItemQuery<InternetPassword>())
            #expect(all.map(\.account) == ["Jürgen"] && all.map(\.authenticationType) == [.htmlForm])
            #expect(all.map(\.label) == [nil])
            var byServer = SecItemQuery<InternetPassword>()
            byServer.server = all.first?.server
            #expect(try keychain.contains(byServer))
            #expect(throws: KeychainError.duplicateItem) {
                try SharedWebCredential.store(site, account: "Jürgen", password: "x", in: keychain)
            }
            #expect(try SharedWebCredential.remove(site, account: "Jürgen", from: keychain))
            #expect(try keyring.allAttributes().isEmpty)
        }

        @Test func anItemOfWebStaysOne() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try keychain(keyring)
            let before = attributes("https://example.com", "bob")
            try keyring.createItem(
                before,
                label: "Password for bob in a form in https://example.com",
                secret: Data("1".utf8)
            )
            try SharedWebCredential.store(
                "example.com",
                account: "bob",
                password: "2",
                in: keychain,
                ifExists: .replaceValue
            )
            #expect(try keyring.allAttributes() == [before])
            var changes = SecItemUpdate<InternetPassword>()
            changes.account = "eve"
            try keychain.update(.webCredential(for: "example.com", account: "bob"), changes)
            let after = try #require(try keyring.allAttributes().first)
            #expect(after["username"] == "eve" && after["form_username"] == "login" && after["id"] == before["id"])
            #expect(after["uri"] == "https://example.com" && after["server"] == nil)
            #expect(try retrieve("example.com", "eve", keychain) == "2")
            // What GNOME Web could not find as a form becomes ours.
            changes = SecItemUpdate()
            changes.path = "/login"
            try keychain.update(.webCredential(for: "example.com", account: "eve"), changes)
            var query = SecItemQuery<InternetPassword>()
            query.path = "/login"
            #expect(try keychain.retrieve(query) == "2")
            #expect(try keyring.allAttributes().map { $0["uri"] } == [nil])
        }

        @Test func whatIsNoFormIsLeftAlone() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try keychain(keyring)
            // Without an account, and with an origin that is none.
            try keyring.createItem(attributes("https://example.com", nil), secret: Data("none".utf8))
            try keyring.createItem(attributes("about:blank", "bob"), secret: Data("blank".utf8))
            #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).count == 1)
            #expect(try retrieve("example.com", "", keychain) == "none")
            #expect(try retrieve("example.com", "bob", keychain) == nil)
            try keychain.store("api", query: .credential(for: "bob", space: .website("example.com")))
            let own = try #require(try keyring.allAttributes().first { $0["keychain.class"] != nil })
            #expect(own["uri"] == nil && own["username"] == nil)
        }

        @Test func aLockedKeyringSaysOnlyWhatIsCertain() throws {
            let keyring = try PrivateKeyring.start()
            try keyring.createItem(attributes("https://example.com", "bob"), secret: Data("1".utf8))
            try keyring.restartDaemon(isUnlocked: false)
            let keychain = Keychain(driver: try keyring.driver(), interaction: .never)
            for account in ["eve", ""] {
                let error = #expect(throws: KeychainError.self, "\(account)") {
                    try keychain.contains(.webCredential(for: "example.com", account: account))
                }
                #expect(error?.code == .interactionNotAllowed)
            }
            #expect(try keychain.contains(.webCredential(for: "example.com", account: "bob")))
        }
    }
#endif
