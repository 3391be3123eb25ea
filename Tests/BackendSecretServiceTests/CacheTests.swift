// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// What is remembered of a search is never more than what is there: each change of another program is seen at the next
    /// call, after calls that found the item, or none, before.
    @Suite(.timeLimit(.minutes(2))) struct CacheTests {
        private let keyring: PrivateKeyring
        private let keychain: Keychain
        private let names = ["service", "svc", "username", "bob"]

        init() throws {
            keyring = try PrivateKeyring.start()
            keychain = Keychain(driver: try keyring.driver(), interaction: .never)
        }

        private var query: SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: "svc")
            query.account = "bob"
            return query
        }

        /// The value, asked for twice: at the second time at the latest the search is remembered.
        private func value() throws -> String? {
            let first: String? = try keychain.retrieve(query)
            let second: String? = try keychain.retrieve(query)
            #expect(first == second)
            #expect(try keychain.contains(query) == (second != nil))
            #expect(try (keychain.info(for: query) != nil) == (second != nil))
            return second
        }

        @Test func ofAnItemThatIsNotThere() throws {
            #expect(try value() == nil)
            #expect(try keyring.secretTool(["store", "--label", "l"] + names, input: "1").status == 0)
            #expect(try value() == "1")
            #expect(try keyring.secretTool(["clear"] + names).status == 0)
            #expect(try value() == nil)
        }

        @Test func ofAnItemOfOurs() throws {
            try keychain.store("1", query: query)
            #expect(try value() == "1")
            try keyring.createItem(["service": "svc", "username": "bob"], label: "newer", secret: Data("2".utf8))
            #expect(try value() == "2")
            #expect(try keyring.secretTool(["clear"] + names).status == 0)
            #expect(try value() == nil)
        }

        @Test func ofAnotherProcessOfOurs() throws {
            let other = Keychain(driver: try keyring.driver())
            try keychain.store("1", query: query)
            #expect(try value() == "1")
            for number in 2..<6 {
                try other.store("\(number)", query: query, ifExists: .replaceValue)
                #expect(try value() == "\(number)")
            }
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "other"
            #expect(try other.update(query, changes) == 1)
            #expect(try keychain.info(for: query)?.label == "other")
            try other.remove(query)
            #expect(try value() == nil)
        }

        @Test func ofALockedCollection() throws {
            try keychain.store("1", query: query)
            #expect(try value() == "1")
            try keyring.lock()
            #expect(code { _ = try keychain.retrieve(query) as String? } == .interactionNotAllowed)
            try keyring.unlock()
            #expect(try value() == "1")
        }

        @Test func ofAServiceThatWasStartedAgain() throws {
            try keychain.store("1", query: query)
            #expect(try value() == "1")
            try keyring.restartDaemon()
            #expect(try value() == "1")
        }

        /// Each label with the second of the last change, as a list shows them.
        private func list() throws -> [String: Int] {
            let infos = try keychain.infoAll(for: SecItemQuery<GenericPassword>())
            let again = try keychain.infoAll(for: SecItemQuery<GenericPassword>())
            #expect(again == infos)
            return Dictionary(
                uniqueKeysWithValues: infos.map { ($0.label ?? "", Int($0.modificationDate.timeIntervalSince1970)) }
            )
        }

        @Test func ofAListOfWhichEachChangeIsSeen() throws {
            var paths: [String] = []
            for number in 0..<6 {
                paths.append(
                    try keyring.createItem(
                        ["service": "svc", "username": "\(number)"],
                        label: "l\(number)",
                        secret: Data("1".utf8)
                    )
                )
            }
            let before = try list()
            #expect(before.count == 6)
            // Longer than the second in which all were stored and listed.
            Thread.sleep(forTimeInterval: 3)
            #expect(try list() == before)
            let oldest = try #require(before["l3"])
            try setSecret(paths[3])
            var after = try list()
            #expect(try #require(after["l3"]) > oldest)
            after["l3"] = oldest
            #expect(after == before)
            _ = try keyring.python(
                """
                item = dbus.Interface(bus.get_object(NAME, sys.argv[1]), 'org.freedesktop.DBus.Properties')
                item.Set('org.freedesktop.Secret.Item', 'Label', 'renamed')
                """,
                [paths[1]]
            )
            #expect(Set(try list().keys) == ["l0", "renamed", "l2", "l3", "l4", "l5"])
            #expect(try keyring.secretTool(["clear", "service", "svc", "username", "0"]).status == 0)
            try keyring.createItem(["service": "svc", "username": "6"], label: "l6", secret: Data("1".utf8))
            let last = try list()
            #expect(Set(last.keys) == ["renamed", "l2", "l3", "l4", "l5", "l6"])
            // GNOME Keyring keeps attributes in clear, and shows them of what is locked.
            try keyring.lock()
            #expect(try list() == last)
        }

        /// What is asked for the value alone knows neither label nor dates, and must not stand in for what does.
        @Test func ofAnItemWhoseValueAloneWasRead() throws {
            try keyring.createItem(["service": "svc", "username": "bob"], label: "l", secret: Data("1".utf8))
            for _ in 0..<2 { #expect(try keychain.retrieve(query) == "1") }
            let info = try #require(try keychain.info(for: query))
            #expect(info.label == "l")
            #expect(info.creationDate.timeIntervalSince1970 > 1_000_000_000)
            for _ in 0..<2 { #expect(try keychain.retrieve(query) == "1") }
            var labelled = query
            labelled.label = "other"
            #expect(try keychain.retrieve(labelled) == nil as String?)
            labelled.label = "l"
            #expect(try keychain.retrieve(labelled) == "1")
        }

        @Test func ofAValueThatWasReplacedWithoutASignal() throws {
            let path = try keyring.createItem(
                ["service": "svc", "username": "bob"],
                label: "l",
                secret: Data("1".utf8)
            )
            #expect(try value() == "1")
            try setSecret(path)
            #expect(try value() == "2")
        }

        private func setSecret(_ path: String) throws {
            _ = try keyring.python(
                """
                service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
                output, session = service.OpenSession('plain', dbus.String('', variant_level=1))
                secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(b'2'), 'text/plain'), signature='oayays')
                dbus.Interface(bus.get_object(NAME, sys.argv[1]), 'org.freedesktop.Secret.Item').SetSecret(secret)
                """,
                [path]
            )
        }
    }
#endif
