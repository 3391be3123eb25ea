// SPDX-License-Identifier: MIT

import Foundation
import Observation
import SwiftKeychain
import Synchronization
import Testing

extension KeychainKeys {
    fileprivate static let rotated = KeychainKey<String>("rotated")
}

@Suite struct KeychainModelTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver, applicationIdentifier: "com.example.model") }

    /// Waits until a model shows what is expected; fails if it has not after many looks.
    ///
    /// Looks are counted and not time: on a busy machine this task may not run for minutes, and the model's neither.
    private func expect<Value>(
        _ model: KeychainModel<Value>,
        _ what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isExpected: (KeychainModel<Value>.State) -> Bool
    ) async throws {
        for _ in 0..<2_000 {
            if isExpected(model.state) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record(what, sourceLocation: sourceLocation)
        throw CancellationError()
    }

    @Test func itShowsWhatIsThereAndWhatBecomesOfIt() async throws {
        try await keychain.set("1", for: .rotated)
        let model = KeychainModel(.rotated, keychain: keychain)
        try await expect(model, "What is there") { if case .value("1") = $0 { true } else { false } }
        #expect(model.value == "1" && model.error == nil)
        try await keychain.set("2", for: .rotated)
        try await expect(model, "A change") { if case .value("2") = $0 { true } else { false } }
        try await model.store(nil)
        try await expect(model, "A removal") { if case .value(nil) = $0 { true } else { false } }
        try await model.store("3")
        try await expect(model, "Its own change") { if case .value("3") = $0 { true } else { false } }
    }

    @Test func whatItHasStoredItShowsAtOnce() async throws {
        let model = KeychainModel(.rotated, keychain: keychain)
        try await expect(model, "Loaded") { if case .value = $0 { true } else { false } }
        for number in 0..<50 {
            try await model.store("\(number)")
            #expect(model.value == "\(number)")
        }
        try await model.store(nil)
        #expect(model.value == nil)
    }

    @Test func whoObservesItIsTold() async throws {
        let model = KeychainModel(.rotated, keychain: keychain)
        try await expect(model, "None yet") { if case .value(nil) = $0 { true } else { false } }
        let wasTold = Mutex(false)
        let value = withObservationTracking {
            model.value
        } onChange: {
            wasTold.withLock { $0 = true }
        }
        #expect(value == nil)
        try await keychain.set("1", for: .rotated)
        try await expect(model, "The change") { if case .value("1") = $0 { true } else { false } }
        #expect(wasTold.withLock { $0 })
    }

    @Test func observationsAreASequence() async throws {
        let model = KeychainModel(.rotated, keychain: keychain)
        let keychain = keychain
        for await value in Observations({ model.value }) {
            if value == "last" { break }
            try await keychain.set("last", for: .rotated)
        }
        #expect(model.value == "last")
    }

    @Test func aFailureIsShownAndTriedAgain() async throws {
        try await keychain.set("1", for: .rotated)
        driver.inject(.locked)
        let model = KeychainModel(.rotated, keychain: keychain, retryingAfter: .milliseconds(5))
        try await expect(model, "Locked") { if case .failed(.interactionNotAllowed) = $0 { true } else { false } }
        #expect(model.value == nil && model.error?.code == .interactionNotAllowed)
        driver.clearFaults()
        try await expect(model, "Unlocked") { if case .value("1") = $0 { true } else { false } }
    }

    private final class Person: AuthenticationContext {
        private let asked = Mutex(0)
        var count: Int { asked.withLock { $0 } }

        func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError) {
            asked.withLock { $0 += 1 }
            throw KeychainError(.userCanceled, "No.")
        }
    }

    @Test func thePersonIsNotAskedAgainAndAgain() async throws {
        let person = Person()
        let guarded = keychain.with {
            $0.authenticationContext = person
            $0.accessPolicy = AccessPolicy(.whenUnlocked, options: .userPresence)
        }
        try await guarded.set("1", for: .rotated)
        let model = KeychainModel(.rotated, keychain: guarded, retryingAfter: .milliseconds(1))
        try await expect(model, "Refused") { if case .failed(.interactionNotAllowed) = $0 { true } else { false } }
        #expect(person.count == 1)
    }

    @Test func itEndsWithItsOwner() async throws {
        weak var released: KeychainModel<String>?
        do {
            let model = KeychainModel(.rotated, keychain: keychain)
            try await expect(model, "Loaded") { if case .value = $0 { true } else { false } }
            released = model
        }
        for _ in 0..<2_000 where released != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(released == nil)
    }

    @Test func itShowsNoValue() async throws {
        try await keychain.set("5up3r53cr3t", for: .rotated)
        let model = KeychainModel(.rotated, keychain: keychain)
        try await expect(model, "Loaded") { if case .value(.some) = $0 { true } else { false } }
        var dumped = ""
        dump(model, to: &dumped)
        dump(model.state, to: &dumped)
        #expect(!"\(model) \(String(reflecting: model)) \(model.state) \(dumped)".contains("5up3r53cr3t"))
    }
}
