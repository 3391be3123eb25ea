// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Items that go to and fro between this library and other programs, each run for real.
    @Suite struct InteropTests {
        @Test func secretToolReadsOurs() throws {
            let keyring = try PrivateKeyring.start()
            try keyring.driver().commit([.insert(.password("svc", "bob"), SecureBytes(Data("s3cret".utf8)))])
            let found = try keyring.secretTool(["lookup", "service", "svc", "username", "bob"])
            #expect(found.text == "s3cret")
            #expect(try keyring.secretTool(["lookup", "service", "svc", "username", "eve"]).status == 1)
        }

        @Test func weReadSecretToolsAndUpdateInPlace() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            _ = try keyring.secretTool(
                ["store", "--label", "A label", "service", "svc", "username", "bob", "extra", "kept"],
                input: "line1\nline2"
            )
            let found = try #require(try driver.item(.password("svc", "bob")))
            #expect(found.value == Data("line1\nline2".utf8))
            #expect(found.record.attributes[.label] == .text("A label"))
            let before = try withoutSchema(keyring)
            // Raw, also where one of our own would be wrapped.
            try driver.update(.password("svc", "bob"), value: Data("new\nvalue".utf8))
            #expect(try withoutSchema(keyring) == before)
            #expect(try keyring.secretTool(["lookup", "service", "svc", "username", "bob"]).text == "new\nvalue")
            let after = try #require(try driver.item(.password("svc", "bob")))
            #expect(after.record.reference == found.record.reference && after.record.handle == found.record.handle)
            #expect(after.record.attributes == found.record.attributes)
        }

        /// The attributes of every item but the schema, which GNOME Keyring adds by itself when it reads its file again.
        private func withoutSchema(_ keyring: PrivateKeyring) throws -> [[String: String]] {
            try keyring.allAttributes().map { $0.filter { $0.key != "xdg:schema" } }
        }

        private let pythonKeyring = """
            import keyring
            from keyring.backends import SecretService
            store = SecretService.Keyring()

            """

        @Test func pythonKeyringReadsOursAndWeReadIts() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(Data("ours".utf8)))])
            #expect(try keyring.python(pythonKeyring + "print(store.get_password('svc', 'bob'), end='')") == "ours")
            _ = try keyring.python(pythonKeyring + "store.set_password('other', 'eve', 'theirs')")
            #expect(try driver.item(.password("other", "eve"))?.value == Data("theirs".utf8))
            try driver.update(.password("other", "eve"), value: Data("changed".utf8))
            #expect(
                try keyring.python(pythonKeyring + "print(store.get_password('other', 'eve'), end='')") == "changed"
            )
            #expect(try keyring.allAttributes().count == 2)
        }

        @Test func whatPythonAddsNextToOursIsWhatCounts() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            var query = SecItemQuery<GenericPassword>.credential(for: "svc")
            query.account = "bob"
            try keychain.store("ours", query: query)
            // It asks for one more attribute than ours has, and therefore adds an item; within the same second, as a
            // rule.
            _ = try keyring.python(pythonKeyring + "store.set_password('svc', 'bob', 'theirs')")
            #expect(try keyring.allAttributes().count == 2)
            #expect(try keychain.retrieve(query) as String? == "theirs")
            #expect(try keychain.infoAll(for: query).count == 1)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store("x", query: query) }
            try keychain.store("updated", query: query, ifExists: .replaceValue)
            #expect(try keychain.retrieve(query) as String? == "updated")
            #expect(try keychain.remove(query))
            #expect(try keychain.contains(query) == false)
            #expect(try keyring.allAttributes().isEmpty)
        }

        @Test func secretStorageReadsOurLabelsAndAttributes() throws {
            let keyring = try PrivateKeyring.start()
            let record = ItemRecord.password("svc", "bob", [.label: .text("Staging")])
            try keyring.driver().commit([.insert(record, SecureBytes(Data("v".utf8)))])
            let text = try keyring.python(
                """
                import secretstorage
                connection = secretstorage.dbus_init()
                item = next(secretstorage.get_default_collection(connection).search_items({'service': 'svc'}))
                print(item.get_label(), item.get_secret().decode(), item.get_attributes()['username'], end='')
                """
            )
            #expect(text == "Staging v bob")
        }

        @Test func aLabelGivenElsewhereIsTheLabel() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([.insert(.password("svc", "bob", [.label: .text("Old")]), SecureBytes(Data("v".utf8)))])
            _ = try keyring.python(
                """
                import secretstorage
                connection = secretstorage.dbus_init()
                collection = secretstorage.get_default_collection(connection)
                next(collection.search_items({'service': 'svc'})).set_label('Renamed')
                """
            )
            #expect(try driver.item(.password("svc", "bob"))?.record.attributes[.label] == .text("Renamed"))
            // A change of something else does not take it back.
            try driver.update(.password("svc", "bob")) { $0.attributes[.comment] = .text("c") }
            #expect(try driver.item(.password("svc", "bob"))?.record.attributes[.label] == .text("Renamed"))
            try driver.update(.password("svc", "bob"), value: Data("w".utf8)) { $0.attributes[.label] = .text("Again") }
            let found = try #require(try driver.item(.password("svc", "bob")))
            #expect(found.record.attributes[.label] == .text("Again") && found.value == Data("w".utf8))
            #expect(try keyring.allAttributes().count == 1)
        }

        @Test func otherConventionsAreRead() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            // keytar, r-lib, keyring-rs.
            try keyring.createItem(["service": "a", "account": "bob"], label: "a/bob", secret: Data("1".utf8))
            try keyring.createItem(
                ["service": "b", "username": "", "xdg:schema": "com.rstudio.keyring.password"],
                secret: Data("2".utf8)
            )
            try keyring.createItem(
                ["service": "c", "username": "bob", "target": "default", "application": "rust-keyring"],
                secret: Data([0xFF])
            )
            // Neither a generic nor an internet password.
            try keyring.createItem(
                ["server": "d", "username": "bob", "docker_cli": "1", "label": "Docker"],
                secret: Data("4".utf8)
            )
            #expect(try driver.item(.password("a", "bob"))?.value == Data("1".utf8))
            #expect(try driver.item(.password("b", ""))?.value == Data("2".utf8))
            #expect(try driver.item(.password("c", "bob"))?.value == Data([0xFF]))
            let all = try driver.records(
                RecordSelection(itemClass: .genericPassword, accessGroup: "", isSynchronizable: false)
            )
            #expect(all.count == 3)
            #expect(try driver.records(RecordSelection(itemClass: .internetPassword, accessGroup: "")).isEmpty)
            #expect(try driver.records(RecordSelection(itemClass: .genericPassword, accessGroup: "team")).isEmpty)
            #expect(try driver.records(RecordSelection(itemClass: .genericPassword, isSynchronizable: true)).isEmpty)
        }

        @Test func gitsItemsAreRead() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            try keyring.createItem(
                ["protocol": "https", "server": "example.org", "user": "bob", "xdg:schema": "org.git.Password"],
                label: "Git: https://example.org/",
                secret: Data("token".utf8)
            )
            try keyring.createItem(
                [
                    "protocol": "https", "server": "example.org", "user": "bob", "port": "8443", "object": "a/b.git",
                    "xdg:schema": "org.git.Password",
                ],
                secret: Data("other".utf8)
            )
            func query(_ url: String) throws -> SecItemQuery<InternetPassword> {
                .credential(for: "bob", space: try WebProtectionSpace(url: #require(URL(string: url))))
            }
            #expect(try keychain.retrieve(query("https://example.org:8443/a/b.git")) as String? == "other")
            // The one without port and path; left out, they are wildcards.
            var exact = try query("https://example.org")
            exact.port = 0
            exact.path = ""
            #expect(try keychain.retrieve(exact) as String? == "token")
            #expect(try keychain.infoAll(for: exact).count == 1)
            #expect(try keychain.infoAll(for: query("https://example.org")).count == 2)
            #expect(try keychain.retrieve(query("http://example.org")) as String? == nil)
            // Stored by us, found by what Git searches for.
            try keychain.store("ours", query: query("https://example.net/c/d.git"))
            let git = ["lookup", "protocol", "https", "server", "example.net", "user", "bob", "object", "c/d.git"]
            #expect(try keyring.secretTool(git).text == "ours")
            #expect(throws: KeychainError.duplicateItem) {
                try keychain.store("x", query: query("https://example.org"))
            }
        }

        @Test func aForeignItemIsFoundByItsReference() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try keyring.createItem(["service": "a", "username": "bob"], secret: Data("1".utf8))
            let reference = try #require(try driver.item(.password("a", "bob"))).record.reference
            #expect(
                try driver.item(RecordSelection(itemClass: .genericPassword, accessGroup: "", reference: reference))?
                    .value == Data("1".utf8)
            )
            #expect(try driver.records(RecordSelection(reference: UUID())).isEmpty)
            // Also after a change that needs a new item.
            try driver.update(.password("a", "bob"), value: Data("2".utf8)) { $0.attributes[.label] = .text("L") }
            #expect(try driver.item(RecordSelection(reference: reference))?.value == Data("2".utf8))
            let attributes = try keyring.allAttributes()
            #expect(attributes.count == 1 && attributes[0]["keychain.class"] == nil)
        }

        @Test func aForeignItemThatGetsAGroupBecomesOurs() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try keyring.createItem(["service": "a", "username": "bob", "extra": "kept"], secret: Data("1\n".utf8))
            let before = try #require(try driver.item(.password("a", "bob"))).record
            try driver.update(.password("a", "bob")) { $0.isSynchronizable = true }
            let moved = try #require(try driver.item(ItemRecord.password("a", "bob", isSynchronizable: true).selection))
            #expect(moved.value == Data("1\n".utf8))
            #expect(moved.record.reference == before.reference && moved.record.creationDate == before.creationDate)
            #expect(try driver.records(.password("a", "bob")).isEmpty)
            let attributes = try keyring.allAttributes()
            #expect(
                attributes.count == 1 && attributes[0]["extra"] == "kept" && attributes[0]["keychain.class"] == "genp"
            )
        }

        @Test func rawValuesAreReadByOthers() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver(valueForm: .raw)
            for (name, value) in awkwardValues {
                try driver.commit([.insert(.password("raw", name), SecureBytes(value))])
                #expect(try driver.item(.password("raw", name))?.value == value, "\(name)")
            }
            #expect(
                try keyring.secretTool(["lookup", "service", "raw", "username", "newline"]).text == "line1\nline2\n"
            )
        }
    }
#endif
