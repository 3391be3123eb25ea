// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    /// Whether a locked keyring is unlocked and a person asked, and what each way to fail is called.
    @Suite(.timeLimit(.minutes(2))) struct UnlockPolicyTests {
        private let query = SecItemQuery<GenericPassword>.credential(for: "svc")

        private func lockedKeychain(
            _ keyring: PrivateKeyring,
            _ interaction: InteractionPolicy = .allowed
        ) throws -> Keychain {
            let keychain = Keychain(driver: try keyring.driver(), interaction: interaction)
            try keychain.store("v", query: query)
            try keyring.lock()
            return keychain
        }

        private func error(_ body: () throws -> Void) -> KeychainError? {
            do { try body() } catch { return error as? KeychainError }
            return nil
        }

        @Test func aPromptThatIsAnsweredUnlocks() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try lockedKeychain(keyring)
            let prompter = try keyring.startPrompter(.password("correct horse"))
            #expect(try keychain.retrieve(query) as String? == "v")
            try prompter.waitUntilAsked()
            try prompter.waitUntilShown(over: "")
        }

        @Test func thePromptBelongsToTheWindow() throws {
            let keyring = try PrivateKeyring.start()
            // The prompt of a new collection: with that of an unlock, GNOME Keyring 42 does not pass the window on.
            let driver = try keyring.driver("Work")
            let prompter = try keyring.startPrompter(.password("another"))
            try driver.create(CallContext(.open, interaction: .allowedOver(window: "4711")))
            try prompter.waitUntilAsked()
            try prompter.waitUntilShown(over: "4711")
        }

        @Test func aPromptThatIsDismissedIsCanceled() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = try lockedKeychain(keyring)
            let prompter = try keyring.startPrompter(.cancel)
            #expect(code { _ = try keychain.retrieve(query) as String? } == .userCanceled)
            try prompter.waitUntilAsked()
            #expect(code { try keychain.unlock() } == .userCanceled)
            #expect(code { try keychain.store("w", query: query, ifExists: .replace) } == .userCanceled)
            // Nothing was asked: neither needs the keyring to be unlocked.
            prompter.stop()
            #expect(try keychain.contains(query))
            #expect(try keychain.info(for: query) != nil)
        }

        @Test func aPromptThatNoProgramShowsIsNoCancellation() throws {
            let keyring = try PrivateKeyring.start()
            var environment = keyring.environment
            for (display, word) in [("", "no display"), (":77", "no program shows prompts")] {
                environment["DISPLAY"] = display
                let keychain = Keychain(driver: try SecretServiceDriver(environment: environment))
                try keychain.store("v", query: query, ifExists: .replace)
                try keychain.lock()
                let start = ContinuousClock.now
                let found = error { _ = try keychain.retrieve(query) as String? }
                #expect(found?.code == .interactionNotAllowed)
                #expect(found?.message.contains(word) == true)
                #expect(ContinuousClock.now - start < .seconds(20))
                try keyring.unlock()
            }
        }

        @Test func nothingIsAskedOfACallThatAllowsNoPrompt() throws {
            let keyring = try PrivateKeyring.start()
            for interaction in [InteractionPolicy.never, .neverUnlocking] {
                let keychain = try lockedKeychain(keyring, interaction)
                let prompter = try keyring.startPrompter(.password("correct horse"))
                #expect(code { _ = try keychain.retrieve(query) as String? } == .interactionNotAllowed)
                #expect(code { try keychain.unlock() } == .interactionNotAllowed)
                #expect(code { try keychain.remove(query) } == .interactionNotAllowed)
                #expect(try keychain.contains(query))
                #expect(try keyring.isLocked())
                prompter.stop()
                try keyring.unlock()
                try keychain.remove(query)
            }
        }

        @Test func aKeyringThatUnlocksWithoutAPromptIsLeftLockedOnRequest() throws {
            let keyring = try PrivateKeyring.start(password: "")
            let keychain = Keychain(driver: try keyring.driver(), interaction: .neverUnlocking)
            try keychain.store("v", query: query)
            try keyring.restartDaemon(isUnlocked: false)
            #expect(code { _ = try keychain.retrieve(query) as String? } == .interactionNotAllowed)
            // Its attributes lie in the open, locked or not.
            #expect(try keychain.info(for: query) != nil)
            #expect(code { try keychain.unlock() } == .interactionNotAllowed)
            #expect(try keyring.isLocked())
            let other = keychain.with { $0.interaction = .never }
            #expect(try other.retrieve(query) as String? == "v")
            #expect(try keyring.isLocked() == false)
        }

        @Test func eachReasonHasItsOwnError() throws {
            // Locked, dismissed and without a prompter are above.
            let keyring = try PrivateKeyring.start(password: nil)
            let silent = try PrivateKeyring.start(startsDaemon: false)
            let refusing = try PrivateKeyring.start(refusing: "org.freedesktop.Secret.Service")
            let cases: [([String: String], KeychainError.Code, String)] = [
                (["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"], .unavailable, "No session bus answers"),
                ([:], .unavailable, "There is no D-Bus session bus"),
                (silent.environment, .unavailable, "No Secret Service runs"),
                (keyring.environment, .unavailable, "no default collection"),
                (refusing.environment, .accessDenied, "refused access"),
            ]
            for (environment, code, words) in cases {
                let keychain = Keychain(driver: try SecretServiceDriver(environment: environment))
                let start = ContinuousClock.now
                let errors = [
                    error { _ = try keychain.retrieve(query) as String? }, error { _ = try keychain.contains(query) },
                    error { try keychain.store("v", query: query) }, error { try keychain.unlock() },
                ]
                for found in errors {
                    #expect(found?.code == code, "\(words)")
                    #expect(found?.message.contains(words) == true, "\(found?.message ?? "")")
                }
                #expect(ContinuousClock.now - start < .seconds(20))
            }
        }

        @Test func aCollectionThatCannotBeLockedSaysSo() throws {
            let keyring = try PrivateKeyring.start()
            let keychain = Keychain(driver: try keyring.driver("session"))
            #expect(code { try keychain.lock() } == .unsupported)
        }

        /// GNOME Keyring aborts when a prompt is dismissed while another one is open.
        @Test func aCallThatMayNotAskLeavesAnotherProgramsPromptAlone() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(Data("1".utf8)))])
            let prompter = try keyring.startPrompter()
            defer { withExtendedLifetime(prompter) {} }
            try keyring.lock()
            let asking = CallContext(.retrieve, timeout: .milliseconds(700))
            #expect(code { _ = try driver.records(.password("svc", "bob"), asking) } == .timedOut)
            for operation in [KeychainOperation.contains, .retrieve, .info, .store, .remove] {
                let silent = CallContext(operation, timeout: .seconds(5), interaction: .never)
                #expect(code { _ = try driver.records(.password("none", "bob"), silent) } == .interactionNotAllowed)
            }
            try keyring.unlock()
            #expect(try driver.item(.password("svc", "bob"))?.value == Data("1".utf8))
        }
    }
#endif
