// SPDX-License-Identifier: MIT

import DesktopModel
import SwiftKeychain
import Testing

@Suite(.timeLimit(.minutes(1))) struct AccountsModelTests {
    let driver = MemoryDriver()
    let bob = Account(server: "git.example.com", name: "bob")
    let carol = Account(server: "www.example.com", name: "carol")
    let token = SecureBytes(Array("8e9c0a7f".utf8))

    /// Runs a test with a model that follows its store, and the states that it publishes.
    private func withModel(_ body: (AccountsModel, PublishedStates) async throws -> Void) async throws {
        let states = PublishedStates()
        let model = AccountsModel(keychain: Keychain(driver: driver), pause: .milliseconds(10), publish: states.publish)
        let following = Task { await model.follow() }
        try await body(model, states)
        following.cancel()
        await following.value
    }

    @Test func listsWhatIsThereAndWhatIsAdded() async throws {
        try await Keychain(driver: driver).store(token, query: carol.query)
        try await withModel { model, states in
            let before = await states.next { !$0.accounts.isEmpty }
            #expect(before?.accounts == [carol])
            #expect(await model.signIn(bob, token: token))
            let added = await states.next { $0.accounts.count == 2 }
            #expect(added?.accounts == [bob, carol])
            #expect(await model.remove(bob))
            let removed = await states.next { $0.accounts.count == 1 }
            #expect(removed?.accounts == [carol])
        }
    }

    @Test func listsWhatOthersStoreAndNothingButItsOwn() async throws {
        try await withModel { _, states in
            let other = Keychain(driver: driver)
            try await other.store("x", query: .credential(for: "bob", space: .website("git.example.com")))
            try await other.store("y", query: .credential(for: "OpenAI"))
            try await other.store(token, query: carol.query)
            let listed = await states.next { !$0.accounts.isEmpty }
            #expect(listed?.accounts == [carol])
        }
    }

    @Test func signingInAgainReplacesTheToken() async throws {
        try await withModel { model, _ in
            #expect(await model.signIn(bob, token: token))
            #expect(await model.signIn(bob, token: SecureBytes(Array("new".utf8))))
        }
        let stored: String? = try await Keychain(driver: driver).retrieve(bob.query)
        #expect(stored == "new")
        #expect(driver.records.count == 1)
    }

    @Test func tellsWhileATokenIsOnItsWay() async throws {
        try await withModel { model, states in
            _ = await model.signIn(bob, token: token)
            let during = await states.next { $0.isSigningIn }
            #expect(during?.accounts == [])
            let after = await states.next { !$0.isSigningIn }
            #expect(after?.isSigningIn == false)
        }
    }

    @Test func asksForWhatIsMissing() async throws {
        try await withModel { model, states in
            #expect(await !model.signIn(Account(server: "", name: "bob"), token: token))
            let asking = await states.next { $0.complaint != nil }
            #expect(asking?.complaint?.hasPrefix("Fill in") == true)
        }
        #expect(driver.records.isEmpty)
    }

    @Test func complainsOfALockedStoreUntilItIsUnlocked() async throws {
        try await Keychain(driver: driver).store(token, query: bob.query)
        driver.inject(.locked)
        try await withModel { model, states in
            let locked = await states.next { $0.complaint != nil }
            // Of the list or of the watching, whichever notices first.
            #expect(locked?.complaint?.contains("locked") == true)
            #expect(await !model.signIn(carol, token: token))
            driver.clearFaults()
            let unlocked = await states.next { !$0.accounts.isEmpty && $0.complaint == nil }
            #expect(unlocked?.accounts == [bob])
        }
    }

    @Test func saysNothingOfADismissedPrompt() async throws {
        driver.inject(.dismissed, afterCalls: 2, times: 1)
        try await withModel { model, states in
            while driver.callCount < 2 { await Task.yield() }
            #expect(await !model.signIn(bob, token: token))
            let dismissed = await states.next { !$0.isSigningIn }
            #expect(dismissed == AccountsState())
        }
    }
}
