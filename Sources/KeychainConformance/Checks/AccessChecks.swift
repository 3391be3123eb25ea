// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

/// Counts how often a person is asked, and answers for them.
private final class Person: AuthenticationContext {
    private let asked = Mutex<[(options: AccessPolicy.Options, reason: String)]>([])
    private let refusal: KeychainError?
    private let pause: Duration
    let reuse: AuthenticationReuse

    init(
        refusing refusal: KeychainError? = nil,
        answeringAfter pause: Duration = .zero,
        reuse: AuthenticationReuse = .none
    ) {
        self.refusal = refusal
        self.pause = pause
        self.reuse = reuse
    }

    var questions: [AccessPolicy.Options] { asked.withLock { $0.map(\.options) } }
    var reasons: [String] { asked.withLock { $0.map(\.reason) } }

    func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError) {
        asked.withLock { $0.append((options, reason)) }
        if pause > .zero { _ = Gate().wait(atMost: pause) }
        if let refusal { throw refusal }
    }
}

/// A person who never answers.
private final class AbsentPerson: AuthenticationContext {
    let asked = Gate()
    private let patience: Duration

    init(_ patience: Duration) {
        self.patience = patience
    }

    func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError) {
        let end = Gate()
        asked.open()
        try call.withCancellationHandler({ end.open() }) { () throws(KeychainError) in
            // A wait may end a little early, by a clock of its own; the call knows when its time is over.
            repeat {
                _ = end.wait(atMost: min(call.remaining ?? patience, patience))
                try call.check()
            } while call.remaining != nil
        }
        throw KeychainError(.userCanceled, "No one answered.")
    }
}

extension ConformanceSuite {
    private static let confirmed = AccessPolicy(.whenUnlocked, options: .userPresence)

    private static let kept: [AccessPolicy] =
        [.whenUnlocked, .whenUnlockedThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly]
        .map { AccessPolicy($0) } + [
            confirmed, AccessPolicy(.afterFirstUnlock, options: .biometryAny),
            AccessPolicy(.whenUnlocked, options: .biometryCurrentSet),
            AccessPolicy(.whenUnlocked, options: .devicePasscode),
            AccessPolicy(.whenUnlocked, options: [.biometryAny, .or, .devicePasscode]),
            AccessPolicy(.whenUnlocked, options: [.biometryCurrentSet, .and, .devicePasscode]),
        ]

    private static let refused: [(String, AccessPolicy, KeychainError.Code)] = [
        ("A device passcode", AccessPolicy(.whenPasscodeSetThisDeviceOnly), .unsupported),
        ("A key that can only be used", AccessPolicy(.whenUnlocked, options: .privateKeyUsage), .unsupported),
        ("A watch", AccessPolicy(.whenUnlocked, options: [.watch, .or, .devicePasscode]), .unsupported),
        ("An unknown option", AccessPolicy(.whenUnlocked, options: .init(rawValue: 1 << 20)), .unsupported),
        ("Or together with and", AccessPolicy(.whenUnlocked, options: [.biometryAny, .or, .and]), .invalidParameter),
        (
            "Both biometries", AccessPolicy(.whenUnlocked, options: [.biometryAny, .biometryCurrentSet]),
            .invalidParameter
        ),
        (
            "Presence with another", AccessPolicy(.whenUnlocked, options: [.userPresence, .biometryAny]),
            .invalidParameter
        ),
        ("Or with nothing", AccessPolicy(.whenUnlocked, options: .or), .invalidParameter),
    ]

    static let access = CheckList.make(.access) { list in
        list.add("Without a policy an item has the default one") { bench in
            try bench.keychain.store("v", query: password("s"))
            try expect(try bench.keychain.info(for: password("s"))?.accessPolicy == .default, "The default policy")
        }
        list.add("Every policy that can be kept is stored and read back") { bench in
            for (index, policy) in kept.enumerated() {
                try bench.keychain.store("v", query: password("s\(index)"), accessPolicy: policy)
                try expect(try bench.keychain.info(for: password("s\(index)"))?.accessPolicy == policy, "By store")
                try bench.keychain.store("v", query: password("t\(index)"))
                var changes = SecItemUpdate<GenericPassword>()
                changes.accessPolicy = policy
                try bench.keychain.update(password("t\(index)"), changes)
                try expect(try bench.keychain.info(for: password("t\(index)"))?.accessPolicy == policy, "By update")
            }
        }
        for (name, policy, code) in refused {
            list.add("\(name) cannot be kept and is refused before anything is written") { bench in
                let (keychain, spy) = bench.spied()
                try keychain.store("v", query: password("s"))
                let before = spy.calls
                for ifExists in IfExists.allCases {
                    try bench.expectRefused(code, from: .store, "store") {
                        try keychain.store("w", query: password("s"), accessPolicy: policy, ifExists: ifExists)
                    }
                }
                try bench.expectRefused(code, from: .update, "update") {
                    var changes = SecItemUpdate<GenericPassword>()
                    changes.accessPolicy = policy
                    try keychain.update(password("s"), changes)
                }
                try expectEqual(spy.calls, before, "The driver was not even asked")
            }
        }
        list.add("A policy cannot be set past its validation, through attributes by name") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            for name in [AttributeName.accessible, .accessControl] {
                let value: AttributeValue = name == .accessible ? .text("akpu") : .integer(1 << 31)
                try bench.expectRefused(.invalidParameter, from: .update, "Setting \(name)") {
                    try bench.keychain.update(password("s"), .setting(name, value))
                }
                try bench.expectRefused(.invalidParameter, from: .update, "Clearing \(name)") {
                    try bench.keychain.update(password("s"), .setting(name, nil))
                }
                try bench.expectRefused(.invalidParameter, from: .store, "Storing \(name)") {
                    try bench.keychain.store("w", query: password("t").with(name, value))
                }
            }
        }
        list.add("Reading an item that needs confirmation without anyone to ask is interactionNotAllowed") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve") { _ = try bench.value(password("s")) }
            try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve with a return type") {
                _ = try bench.keychain.retrieve(.data, query: password("s"))
            }
            try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieveAll") {
                _ = try bench.keychain.retrieveAll(query: password("s"))
            }
            try expectThrows(.interactionNotAllowed, from: .copy, "copy") {
                try bench.keychain.copy(password("s"), to: Keychain(driver: ScratchDriver()))
            }
        }
        list.add("Reading an item that needs confirmation asks once, for what its policy says") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = Person()
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            try expectValue(try bench.value(password("s"), in: keychain), bytes("v"), "Confirmed, the value is given")
            try expect(person.questions == [.userPresence], "One question")
            _ = try bench.value(password("s"), in: keychain.with { $0.authenticationReason = "for a check" })
            try expectEqual(person.reasons, ["", "for a check"], "Each call asks anew, and says what for")
        }
        list.add("What was confirmed holds for as long as the context says, and no refusal does") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = Person(reuse: AuthenticationReuse(for: .seconds(3600)))
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            _ = try bench.value(password("s"), in: keychain)
            _ = try bench.value(password("s"), in: keychain)
            try expectEqual(person.questions.count, 1, "One question for both")
            let other = AccessPolicy(.whenUnlocked, options: .devicePasscode)
            try bench.keychain.store("w", query: password("t"), accessPolicy: other)
            _ = try bench.value(password("t"), in: keychain)
            try expectEqual(person.questions.count, 2, "Another kind is asked for")
            _ = try bench.value(password("s"), in: keychain.with { $0.interaction = .never })
            try expectEqual(person.questions.count, 2, "Where nothing may be asked, what was confirmed holds")
            person.reuse.invalidate()
            _ = try bench.value(password("s"), in: keychain)
            try expectEqual(person.questions.count, 3, "Nothing holds any longer")
            let brief = Person(reuse: AuthenticationReuse(for: .nanoseconds(1)))
            let hasty = bench.keychain.with { $0.authenticationContext = brief }
            _ = try bench.value(password("s"), in: hasty)
            _ = try bench.value(password("s"), in: hasty)
            try expectEqual(brief.questions.count, 2, "It holds no longer than it should")
            let unwilling = Person(
                refusing: KeychainError(.userCanceled, "The person refused."),
                reuse: AuthenticationReuse(for: .seconds(3600))
            )
            let refused = bench.keychain.with { $0.authenticationContext = unwilling }
            for _ in 0..<2 {
                try expectThrows(.userCanceled, from: .retrieve, "A refusal") {
                    _ = try bench.value(password("s"), in: refused)
                }
            }
            try expectEqual(unwilling.questions.count, 2, "A refusal is asked about again")
        }
        list.add("Calls at the same time ask one question, if its answer holds for all of them") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = Person(answeringAfter: .milliseconds(50), reuse: AuthenticationReuse(for: .seconds(3600)))
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            let calls = (0..<8).map { _ in Threads.start { try bench.value(password("s"), in: keychain) } }
            for call in calls {
                let outcome = try unwrap(call.outcome(within: bench.patience), "It ends")
                try expectValue(try outcome.get(), bytes("v"), "The value")
            }
            try expectEqual(person.questions.count, 1, "One question")
        }
        list.add("A list asks once for each kind of confirmation, not for each item") { bench in
            for index in 0..<3 {
                try bench.keychain.store("v", query: password("s", "presence\(index)"), accessPolicy: confirmed)
                let policy = AccessPolicy(.whenUnlocked, options: .devicePasscode)
                try bench.keychain.store("v", query: password("s", "passcode\(index)"), accessPolicy: policy)
                try bench.keychain.store("v", query: password("s", "free\(index)"))
            }
            let person = Person()
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            try expectEqual(try keychain.retrieveAll(query: password("s")).count, 9, "All of them")
            let questions = Set(person.questions)
            try expect(person.questions.count == 2 && questions == [.userPresence, .devicePasscode], "Two questions")
        }
        list.add("A refused confirmation is its own error, and nothing is given") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            for code in [KeychainError.Code.userCanceled, .authenticationFailed] {
                let keychain = bench.keychain.with {
                    $0.authenticationContext = Person(refusing: KeychainError(code, "The person refused."))
                }
                try bench.expectRefused(code, from: .retrieve, "\(code)") {
                    _ = try bench.value(password("s"), in: keychain)
                }
            }
        }
        list.add("Where no interaction is allowed no one is asked") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = Person()
            let keychain = bench.keychain.with {
                $0.authenticationContext = person
                $0.interaction = .never
            }
            try expectThrows(.interactionNotAllowed, from: .retrieve, "Never") {
                _ = try bench.value(password("s"), in: keychain)
            }
            try expect(person.questions.isEmpty, "No question")
        }
        list.add("Only reading a value asks: contains, info, update, remove and store do not") { bench in
            let person = Person()
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            try keychain.store("v", query: password("s"), accessPolicy: confirmed)
            _ = try keychain.contains(password("s"))
            _ = try keychain.info(for: password("s"))
            _ = try keychain.infoAll(for: password("s"))
            _ = try keychain.retrieve([.info, .persistentReference], query: password("s"))
            _ = try keychain.retrieveAll(.persistentReference, query: password("s"))
            try keychain.update(password("s"), .label("x"))
            try keychain.store("w", query: password("s"), ifExists: .replaceValue)
            try keychain.remove(password("s"))
            try expect(person.questions.isEmpty, "No question")
        }
        list.addAsync("Cancelling a call that waits for a person ends it promptly") { bench in
            try await bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = AbsentPerson(bench.patience)
            let asking = bench.keychain.with { $0.authenticationContext = person }
            let keychain = asking
            let task = Task { () -> KeychainError.Code? in
                do throws(KeychainError) {
                    let _: Data? = try await keychain.retrieve(password("s"))
                    return nil
                } catch {
                    return error.code
                }
            }
            let wasAsked = try await Threads.run { person.asked.wait(atMost: bench.patience) }
            task.cancel()
            try expect(wasAsked, "The person is asked")
            try expectEqual(await task.value, .cancelled, "The call says that it was cancelled")
        }
        list.add("A call that waits for a person ends at its deadline, and holds up no one meanwhile") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: confirmed)
            let person = AbsentPerson(bench.patience)
            let asking = bench.keychain.with {
                $0.authenticationContext = person
                $0.timeout = .milliseconds(500)
            }
            let keychain = asking
            let running = Threads.start { try bench.value(password("s"), in: keychain) }
            try expect(person.asked.wait(atMost: bench.patience), "The person is asked")
            try bench.keychain.store("w", query: password("t"))
            let outcome = try unwrap(running.outcome(within: bench.patience), "It ends")
            try expectThrows(.timedOut, from: .retrieve, "At its deadline") { _ = try outcome.get() }
        }
        list.add("An item without options is read without asking") { bench in
            let person = Person()
            let keychain = bench.keychain.with { $0.authenticationContext = person }
            try keychain.store("v", query: password("s"))
            try expectValue(try bench.value(password("s"), in: keychain), bytes("v"), "The value")
            try expect(person.questions.isEmpty, "No question")
        }
        list.add("In a list one item that must be confirmed and is not fails the list, it is not left out") { bench in
            try bench.keychain.store("v", query: password("s", "free"))
            try bench.keychain.store("v", query: password("s", "guarded"), accessPolicy: confirmed)
            try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieveAll") {
                _ = try bench.keychain.retrieveAll(.data, query: password("s"))
            }
            try expectEqual(
                try bench.keychain.retrieveAll(.info, query: password("s")).count,
                2,
                "Without values, both"
            )
        }
    }
}
