// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Passwords that go to and fro between this library and Git, by the helper that Git itself brings along.
    @Suite struct GitInteropTests {
        /// What Git says of a place, and the URL that says the same.
        struct Place: CustomTestStringConvertible {
            let url: String
            let credential: [String: String]
            var user = "bob"

            var testDescription: String { url }

            /// The item's query: what the URL leaves out is left out there too.
            func query() throws -> SecItemQuery<InternetPassword> {
                .credential(for: user, space: try WebProtectionSpace(url: #require(URL(string: url))))
            }
        }

        static let places = [
            Place(
                url: "https://example.org",
                credential: ["protocol": "https", "host": "example.org", "username": "bob"]
            ),
            Place(
                url: "http://example.org:8080",
                credential: ["protocol": "http", "host": "example.org:8080", "username": "bob"]
            ),
            // With credential.useHttpPath.
            Place(
                url: "https://example.org/team/app.git",
                credential: ["protocol": "https", "host": "example.org", "path": "team/app.git", "username": "bob"]
            ),
            Place(
                url: "https://git.example.org:8443/a%20b/%C3%BC.git",
                credential: [
                    "protocol": "https", "host": "git.example.org:8443", "path": "a b/ü.git", "username": "Jürgen Ö",
                ],
                user: "Jürgen Ö"
            ),
            // git send-email.
            Place(
                url: "smtp://mail.example.org:587",
                credential: ["protocol": "smtp", "host": "mail.example.org:587", "username": "bob@example.org"],
                user: "bob@example.org"
            ),
        ]

        private func run(
            _ operation: String,
            _ credential: [String: String],
            password: String? = nil,
            _ keyring: PrivateKeyring
        ) throws -> String {
            var credential = credential
            credential["password"] = password
            let answer = try GitCredentialHelper.run(operation, credential, on: keyring)
            #expect(answer.status == 0, "\(answer.errors)")
            return answer.text
        }

        /// The password that Git gets, nil if it gets none.
        private func git(_ credential: [String: String], _ keyring: PrivateKeyring) throws -> String? {
            let lines = try run("get", credential, keyring).split(separator: "\n")
            return lines.first { $0.hasPrefix("password=") }.map { String($0.dropFirst("password=".count)) }
        }

        @Test(arguments: places)
        func weFindWhatGitStores(_ place: Place) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            _ = try run("store", place.credential, password: "t0ken=ü ", keyring)
            #expect(try keychain.retrieve(place.query()) as String? == "t0ken=ü ")
            let found = try keychain.infoAll(for: SecItemQuery<InternetPassword>())
            #expect(found.count == 1)
            #expect(found.first?.account == place.user)
            #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).isEmpty)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store("x", query: place.query()) }
            // Found in the same way where it has to be searched for anew.
            let other = Keychain(driver: try keyring.driver())
            #expect(try other.contains(place.query()))
        }

        @Test(arguments: places)
        func gitGetsWhatWeStore(_ place: Place) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            try keychain.store("ours=ü", query: place.query())
            #expect(try git(place.credential, keyring) == "ours=ü")
            // Git may not know the account yet.
            let anyone = place.credential.filter { $0.key != "username" }
            let answer = try GitCredentialHelper.run("get", anyone, on: keyring)
            #expect(answer.text == "username=\(place.user)\npassword=ours=ü\n")
        }

        @Test(arguments: places, [IfExists.replaceValue, .replace])
        func whatWeReplaceIsReplacedForGit(_ place: Place, _ ifExists: IfExists) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            _ = try run("store", place.credential, password: "old", keyring)
            let before = try keyring.allAttributes()
            try keychain.store("new", query: place.query(), ifExists: ifExists)
            #expect(try git(place.credential, keyring) == "new")
            #expect(try keychain.retrieve(place.query()) as String? == "new")
            #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).count == 1)
            try expectKept(before, keyring)
        }

        @Test(arguments: places)
        func whatWeUpdateStaysGits(_ place: Place) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            _ = try run("store", place.credential, password: "old", keyring)
            let before = try keyring.allAttributes()
            var changes = SecItemUpdate<InternetPassword>()
            changes.label = "A label"
            changes.comment = "A comment"
            #expect(try keychain.update(place.query(), changes) == 1)
            #expect(try git(place.credential, keyring) == "old")
            let info = try #require(try keychain.info(for: place.query()))
            #expect(info.label == "A label" && info.comment == "A comment")
            try expectKept(before, keyring)
            // Git finds it by what it has, and replaces it.
            _ = try run("store", place.credential, password: "new", keyring)
            #expect(try keyring.allAttributes().count == 1)
            #expect(try keychain.retrieve(place.query()) as String? == "new")
        }

        @Test(arguments: places)
        func whatGitReplacesIsReplacedForUs(_ place: Place) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            try keychain.store("ours", query: place.query())
            _ = try run("store", place.credential, password: "theirs", keyring)
            #expect(try keychain.retrieve(place.query()) as String? == "theirs")
            #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).count == 1)
            #expect(try git(place.credential, keyring) == "theirs")
            #expect(try keyring.allAttributes().count == 1)
        }

        @Test(arguments: places, [true, false])
        func whatGitErasesIsGone(_ place: Place, isOurs: Bool) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            if isOurs {
                try keychain.store("secret", query: place.query())
            } else {
                _ = try run("store", place.credential, password: "secret", keyring)
            }
            #expect(try keychain.contains(place.query()))
            _ = try run("erase", place.credential, password: "secret", keyring)
            #expect(try keychain.retrieve(place.query()) as String? == nil)
            #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).isEmpty)
            #expect(try keyring.allAttributes().isEmpty)
        }

        @Test(arguments: places)
        func whatWeRemoveIsGoneForGit(_ place: Place) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            _ = try run("store", place.credential, password: "secret", keyring)
            #expect(try keychain.remove(place.query()))
            #expect(try git(place.credential, keyring) == nil)
            #expect(try keyring.allAttributes().isEmpty)
        }

        /// For `http.sslCert`, Git names no server and no user.
        @Test func thePassphraseOfACertificateIsFound() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            let credential = ["protocol": "cert", "path": "/home/bob/client.p12", "username": ""]
            _ = try run("store", credential, password: "old", keyring)
            var query = SecItemQuery<InternetPassword>()
            query.path = "/home/bob/client.p12"
            #expect(try keychain.retrieve(query) as String? == "old")
            query.server = ""
            query.account = ""
            query.protocol = ProtocolType(rawValue: "cert")
            #expect(try keychain.retrieve(query) as String? == "old")
            let before = try keyring.allAttributes()
            try keychain.store("new", query: query, ifExists: .replaceValue)
            try expectKept(before, keyring)
            #expect(try git(credential, keyring) == "new")
            #expect(try keychain.remove(query))
            #expect(try git(credential, keyring) == nil)
        }

        @Test func gitTellsPlacesApartAsWeDo() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            for (index, place) in Self.places.enumerated() {
                if index % 2 == 0 {
                    try keychain.store("\(index)", query: place.query())
                } else {
                    _ = try run("store", place.credential, password: "\(index)", keyring)
                }
            }
            #expect(try keychain.infoAll(for: SecItemQuery<InternetPassword>()).count == Self.places.count)
            for (index, place) in Self.places.enumerated() {
                var exact = try place.query()
                if exact.port == nil { exact.port = 0 }
                if exact.path == nil { exact.path = "" }
                #expect(try keychain.retrieve(exact) as String? == "\(index)", "\(place.url)")
            }
        }

        /// Expects one item that has at least the attributes that it had.
        private func expectKept(_ before: [[String: String]], _ keyring: PrivateKeyring) throws {
            let after = try keyring.allAttributes()
            #expect(before.count == 1 && after.count == 1)
            let old = try #require(before.first)
            let new = try #require(after.first)
            #expect(old["xdg:schema"] != nil)
            for (name, value) in old { #expect(new[name] == value, "\(name)") }
            // It is another program's item as before, and not one of ours that resembles it.
            #expect(new["keychain.class"] == nil)
        }
    }
#endif
