// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// A locked keyring on a machine without a display: every verb says so, at once, and none says "not found".
    @Suite struct LockedTests {
        private func query(_ service: String) -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: service)
            query.account = "bob"
            return query
        }

        private func expectLocked(_ keychain: Keychain, _ service: String) {
            let start = ContinuousClock.now
            let locked = KeychainError.Code.interactionNotAllowed
            let query = query(service)
            var changes = SecItemUpdate<GenericPassword>()
            changes.comment = "c"
            #expect(code { _ = try keychain.retrieve(query) as String? } == locked)
            #expect(code { _ = try keychain.retrieveAll(query: query) } == locked)
            #expect(code { try keychain.store("x", query: query) } == locked)
            #expect(code { try keychain.store("x", query: query, ifExists: .replaceValue) } == locked)
            #expect(code { try keychain.store("x", query: query, ifExists: .replace) } == locked)
            #expect(code { try keychain.update(query, changes) } == locked)
            #expect(code { try keychain.remove(query) } == locked)
            #expect(code { try keychain.removeAll() } == locked)
            #expect(ContinuousClock.now - start < .seconds(20))
        }

        @Test(arguments: [InteractionPolicy.allowed, .never], [false, true])
        func everyVerbSaysSo(interaction: InteractionPolicy, sinceStart: Bool) throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver(), interaction: interaction)
            try keychain.store("ours", query: query("ours"))
            try keyring.createItem(["service": "theirs", "username": "bob"], secret: Data("1".utf8))
            if sinceStart { try keyring.restartDaemon(isUnlocked: false) } else { try keyring.lock() }
            for service in ["ours", "theirs", "missing"] { expectLocked(keychain, service) }
            // What the keyring can prove, it answers; what it cannot, it refuses.
            let locked = KeychainError.Code.interactionNotAllowed
            #expect(try keychain.contains(query("ours")))
            #expect(try keychain.contains(query("theirs")))
            #expect(code { _ = try keychain.contains(query("missing")) } == locked)
            #expect(code { _ = try keychain.info(for: query("missing")) } == locked)
            #expect(code { _ = try keychain.infoAll(for: query("missing")) } == locked)
            var labelled = query("ours")
            labelled.label = "another"
            #expect(code { _ = try keychain.contains(labelled) } == locked)
            var grouped = query("ours")
            grouped.accessGroup = AccessGroup(rawValue: "team")
            #expect(code { _ = try keychain.contains(grouped) } == locked)
            if sinceStart {
                #expect(code { _ = try keychain.info(for: query("ours")) } == locked)
            } else {
                #expect(try keychain.info(for: query("ours"))?.account == "bob")
            }
            // The daemon has survived it all, and opens.
            try keyring.unlock()
            #expect(try keychain.retrieve(query("ours")) as String? == "ours")
            #expect(try keychain.retrieve(query("theirs")) as String? == "1")
            #expect(try keychain.contains(query("missing")) == false)
            #expect(try keyring.allAttributes().count == 2)
        }

        @Test func aKeyringWithAnEmptyPasswordOpensWithoutAPrompt() throws {
            let keyring = try PrivateKeyring.start(password: "")
            let keychain = Keychain(driver: try keyring.driver(), interaction: .never)
            try keychain.store("v", query: query("ours"))
            try keyring.restartDaemon(isUnlocked: false)
            #expect(try keyring.isLocked())
            #expect(try keychain.contains(query("missing")) == false)
            #expect(try keychain.retrieve(query("ours")) as String? == "v")
        }

        @Test func aPromptThatNobodyAnswersEndsWithTheCall() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver(), timeout: .seconds(2))
            try keychain.store("ours", query: query("ours"))
            try keyring.lock()
            let prompter = try keyring.startPrompter()
            defer { prompter.stop() }
            let start = ContinuousClock.now
            #expect(code { _ = try keychain.retrieve(query("ours")) as String? } == .timedOut)
            #expect(ContinuousClock.now - start < .seconds(4))
            // The prompt was left alone: to dismiss one that is shown would end the daemon.
            try keyring.unlock()
            #expect(try keychain.retrieve(query("ours")) as String? == "ours")
        }

        @Test func aPromptThatNobodyAnswersEndsWithTheTask() async throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver())
            try await keychain.store("ours", query: query("ours"))
            try keyring.lock()
            let prompter = try keyring.startPrompter()
            defer { prompter.stop() }
            let query = query("ours")
            let task = Task { try await keychain.retrieve(query) as String? }
            // On a thread of its own: of those that tasks have, the call needs one.
            try await withCheckedThrowingContinuation { continuation in
                Thread { continuation.resume(with: Result { try prompter.waitUntilAsked() }) }.start()
            }
            task.cancel()
            let result = await task.result
            #expect(throws: KeychainError(.cancelled, "")) { try result.get() }
            try keyring.unlock()
            let found: String? = try await keychain.retrieve(query)
            #expect(found == "ours")
        }

        @Test func aDaemonThatDiesWhileItAsksIsNotWaitedFor() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(Data("v".utf8)))])
            try keyring.lock()
            let prompter = try keyring.startPrompter()
            defer { prompter.stop() }
            let outcome = OneShot<KeychainError.Code?>()
            Thread { outcome.fulfil(code { _ = try driver.item(.password("svc", "bob")) }) }.start()
            try prompter.waitUntilAsked()
            keyring.killDaemon()
            #expect(outcome.wait(.seconds(20)) == .unavailable)
        }
    }
#endif
