// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// What is told of the changes of other programs, and of a service that goes away.
    @Suite(.timeLimit(.minutes(2))) struct ChangeTests {
        private typealias Changes = KeychainChanges<GenericPassword>

        private func query(_ service: String, _ account: String = "bob") -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: service)
            query.account = account
            return query
        }

        private func summary(_ change: KeychainChange<GenericPassword>?) -> String {
            switch change {
            case .added(let info)?: "added \(info.service ?? "")"
            case .updated(let info)?: "updated \(info.service ?? "")"
            case .removed(let info)?: "removed \(info.service ?? "")"
            case .invalidated?: "invalidated"
            case nil: "nothing"
            }
        }

        /// The next change that tells of an item.
        private func told(_ iterator: inout Changes.Iterator) async throws -> String {
            while let change = try await iterator.next() {
                if change != .invalidated { return summary(change) }
            }
            return "nothing"
        }

        private func watch(_ keyring: PrivateKeyring) throws -> (Keychain, Changes) {
            let keychain = Keychain(driver: try keyring.driver())
            return (keychain, try keychain.changes(matching: SecItemQuery<GenericPassword>()))
        }

        @Test func whatOtherProgramsDoIsTold() async throws {
            let keyring = try PrivateKeyring.start()
            let (_, changes) = try watch(keyring)
            var iterator = changes.makeAsyncIterator()
            let attributes = ["service", "theirs", "username", "bob"]
            #expect(try keyring.secretTool(["store", "--label=l"] + attributes, input: "1").status == 0)
            #expect(try await told(&iterator) == "added theirs")
            _ = try keyring.python(
                """
                service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
                path = service.SearchItems(dbus.Dictionary({'service': 'theirs'}, signature='ss'))[0][0]
                bus.get_object(NAME, path).Set('org.freedesktop.Secret.Item', 'Label',
                    dbus.String('another', variant_level=1), dbus_interface='org.freedesktop.DBus.Properties')
                """
            )
            #expect(try await told(&iterator) == "updated theirs")
            #expect(try keyring.secretTool(["clear"] + attributes).status == 0)
            #expect(try await told(&iterator) == "removed theirs")
        }

        @Test func aValueThatIsReplacedIsToldToAnotherStore() async throws {
            let keyring = try PrivateKeyring.start()
            let (_, changes) = try watch(keyring)
            var iterator = changes.makeAsyncIterator()
            // Another connection, as another process has one.
            let other = Keychain(
                driver: try SecretServiceDriver(
                    busAddress: keyring.busAddress + ",x=y",
                    environment: keyring.environment
                )
            )
            try await other.store("1", query: query("ours"))
            #expect(try await told(&iterator) == "added ours")
            for value in ["2", "3", String(repeating: "x", count: 10_000)] {
                try await other.store(value, query: query("ours"), ifExists: .replaceValue)
                #expect(try await told(&iterator) == "updated ours")
                let found: String? = try await other.retrieve(query("ours"))
                #expect(found == value)
            }
        }

        @Test func theValueOfAnotherProgramsItemThatIsReplacedIsTold() async throws {
            let keyring = try PrivateKeyring.start()
            try keyring.createItem(["service": "theirs", "username": "bob"], label: "l", secret: Data("1".utf8))
            let (keychain, changes) = try watch(keyring)
            try await keychain.store("2", query: query("theirs"), ifExists: .replaceValue)
            var iterator = changes.makeAsyncIterator()
            // That it was changed within one second cannot be told, only that something was.
            #expect(["updated theirs", "invalidated"].contains(summary(try await iterator.next())))
            // GNOME Keyring adds the schema by itself when it is given a secret.
            let attributes = try keyring.allAttributes().map { $0.filter { $0.key != "xdg:schema" } }
            #expect(attributes == [["service": "theirs", "username": "bob"]])
        }

        @Test func aRestartedDaemonIsOneInvalidation() async throws {
            let keyring = try PrivateKeyring.start()
            let (keychain, changes) = try watch(keyring)
            try await keychain.store("v", query: query("ours"))
            var iterator = changes.makeAsyncIterator()
            #expect(try await told(&iterator) == "added ours")
            for round in 0..<3 {
                try keyring.restartDaemon()
                #expect(try await iterator.next() == .invalidated)
                // Nobody has used the store in between.
                try keyring.createItem(["service": "\(round)", "username": "bob"], secret: Data())
                #expect(try await told(&iterator) == "added \(round)")
            }
        }

        @Test func whatWasChangedMeanwhileIsTold() async throws {
            let keyring = try PrivateKeyring.start()
            let (_, changes) = try watch(keyring)
            keyring.killDaemon()
            try keyring.startDaemon()
            try keyring.createItem(["service": "late", "username": "bob"], secret: Data())
            var iterator = changes.makeAsyncIterator()
            #expect(try await told(&iterator) == "added late")
        }

        @Test func aDaemonThatComesBackLockedIsAnErrorUntilItIsUnlocked() async throws {
            let keyring = try PrivateKeyring.start()
            let (keychain, changes) = try watch(keyring)
            try await keychain.store("v", query: query("ours"))
            var iterator = changes.makeAsyncIterator()
            #expect(try await told(&iterator) == "added ours")
            try keyring.restartDaemon(isUnlocked: false)
            await #expect(throws: KeychainError(.interactionNotAllowed, "")) { try await iterator.next() }
            try keyring.unlock()
            #expect(try await iterator.next() == .invalidated)
        }

        @Test func aRestartedBusIsFoundAgain() async throws {
            let keyring = try PrivateKeyring.start()
            let (_, changes) = try watch(keyring)
            var iterator = changes.makeAsyncIterator()
            try keyring.restartBus()
            #expect(try await iterator.next() == .invalidated)
            try keyring.createItem(["service": "new", "username": "bob"], secret: Data())
            #expect(try await told(&iterator) == "added new")
        }

        @Test func withoutAServiceNothingIsWatched() throws {
            let keyring = try PrivateKeyring.start(startsDaemon: false)
            let keychain = Keychain(driver: try keyring.driver())
            #expect(
                code { _ = try keychain.changes(matching: SecItemQuery<GenericPassword>()) } == .unavailable
            )
        }
    }
#endif
