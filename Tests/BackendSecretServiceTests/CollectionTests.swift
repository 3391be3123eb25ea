// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Collections are created when someone asks for it, and never else.
    @Suite(.timeLimit(.minutes(2))) struct CollectionTests {
        private let query = SecItemQuery<GenericPassword>.credential(for: "svc")

        private func collections(_ keyring: PrivateKeyring) throws -> [String] {
            let text = try keyring.python(
                """
                paths = bus.get_object(NAME, PATH).Get('org.freedesktop.Secret.Service', 'Collections',
                    dbus_interface='org.freedesktop.DBus.Properties')
                print(json.dumps(sorted(str(path).split('/')[-1] for path in paths)))
                """
            )
            return try JSONDecoder().decode([String].self, from: Data(text.utf8))
        }

        @Test func aCollectionIsCreatedOnRequest() throws {
            let keyring = try PrivateKeyring.start()
            let prompter = try keyring.startPrompter(.password("another"))
            let driver = try keyring.driver("Work")
            let keychain = Keychain(driver: driver)
            #expect(code { try keychain.store("v", query: query) } == .unavailable)
            try driver.create(CallContext(.open))
            try prompter.waitUntilAsked()
            #expect(try collections(keyring) == ["Work", "login", "session"])
            try keychain.store("v", query: query)
            #expect(try keychain.retrieve(query) as String? == "v")
            #expect(try Keychain(driver: keyring.driver()).contains(query) == false)
            // By whatever it is called: once is enough.
            for name in ["Work", "Login", "login", "session", "", "default"] {
                #expect(code { try keyring.driver(name).create(CallContext(.open)) } == .duplicateItem, "\(name)")
            }
            let path = try keyring.driver("/org/freedesktop/secrets/collection/x")
            #expect(code { try path.create(CallContext(.open)) } == .invalidParameter)
            #expect(try collections(keyring) == ["Work", "login", "session"])
        }

        @Test func aMissingDefaultCollectionIsCreatedOnRequest() throws {
            let keyring = try PrivateKeyring.start(password: nil)
            let driver = try keyring.driver()
            let keychain = Keychain(driver: driver)
            let error = #expect(throws: KeychainError.self) { try keychain.store("v", query: query) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("keychainctl init --store secret-service:") == true)
            #expect(try collections(keyring) == ["session"])
            let prompter = try keyring.startPrompter(.password("another"))
            try driver.create(CallContext(.open))
            try prompter.waitUntilAsked()
            try keychain.store("v", query: query)
            #expect(try keychain.retrieve(query) as String? == "v")
        }

        @Test func whatIsRefusedOrDismissedLeavesNoCollection() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver("Work")
            // No prompter, none allowed, dismissed, not answered.
            #expect(code { try driver.create(CallContext(.open)) } == .interactionNotAllowed)
            let quiet = CallContext(.open, interaction: .never)
            #expect(code { try driver.create(quiet) } == .interactionNotAllowed)
            let prompter = try keyring.startPrompter(.cancel)
            #expect(code { try driver.create(CallContext(.open)) } == .userCanceled)
            try prompter.waitUntilAsked()
            prompter.stop()
            let silent = try keyring.startPrompter()
            #expect(code { try driver.create(CallContext(.open, timeout: .seconds(1))) } == .timedOut)
            try silent.waitUntilAsked()
            #expect(try collections(keyring) == ["login", "session"])
        }

        @Test func withoutAServiceThereIsNothingToCreateIn() throws {
            let keyring = try PrivateKeyring.start(startsDaemon: false)
            #expect(code { try keyring.driver("Work").create(CallContext(.open)) } == .unavailable)
        }
    }
#endif
