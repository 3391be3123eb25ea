// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Synchronization
    import Testing

    @testable import BackendSecretService

    /// A Secret Service that dies, hangs, talks nonsense or refuses, in each method that a verb calls.
    ///
    /// The call ends in time, with the right answer or a fitting error, and never says that there is nothing; what was
    /// acknowledged is there, and what failed has left the old or the new item.
    ///
    /// What is right in form and simply not true cannot be noticed, and is not asked for here.
    @Suite struct FaultTests {
        private typealias Fault = FaultyService.Fault

        // MARK: The table

        /// One call that meets one fault.
        private struct Trial: Sendable, CustomStringConvertible {
            let verb: FaultVerb
            let fault: FaultyService.Fault
            let method: String
            let isAfter: Bool
            let isOnce: Bool
            /// Whether the same call was made before, so that its answer may be remembered.
            var isWarm = false
            /// Whether the collection is locked, and opens by a prompt.
            var isLocked = false

            var description: String {
                "\(verb), \(method) \(fault)\(isAfter ? " after its effect" : "")\(isOnce ? " once" : "")"
                    + (isWarm ? ", warm" : "") + (isLocked ? ", locked" : "")
            }
        }

        private static let writing: Set = ["CreateItem", "SetSecret", "Set", "Delete"]
        private static let opening: Set = ["Get", "Unlock", "Prompt"]
        private static let answering: Set = [
            "GetSecret", "GetSecrets", "SearchItems", "CreateItem", "Delete", "Unlock", "ReadAlias", "Get", "GetAll",
            "OpenSession",
        ]

        /// Every trial of a fault.
        ///
        /// - Parameter methods: What a verb calls.
        private static func trials(
            _ fault: Fault,
            isGNOMEKeyring: Bool,
            _ methods: (FaultVerb, _ isLocked: Bool) throws -> [String]
        ) rethrows -> [Trial] {
            var trials: [Trial] = []
            for verb in FaultVerb.allCases {
                for isLocked in [false, true] where !isLocked || verb.asksWhenLocked {
                    for method in try methods(verb, isLocked) where !isLocked || opening.contains(method) {
                        for isAfter in [false, true] where applies(fault, method, isAfter) {
                            // A service that stays away meets no second fault.
                            for isOnce in fault == .dies ? [true] : [true, false] {
                                for isWarm in isGNOMEKeyring && verb.isReading && !isLocked ? [false, true] : [false] {
                                    trials.append(
                                        Trial(
                                            verb: verb,
                                            fault: fault,
                                            method: method,
                                            isAfter: isAfter,
                                            isOnce: isOnce,
                                            isWarm: isWarm,
                                            isLocked: isLocked
                                        )
                                    )
                                }
                            }
                        }
                    }
                }
            }
            return trials
        }

        private static func applies(_ fault: Fault, _ method: String, _ isAfter: Bool) -> Bool {
            if isAfter && !writing.contains(method) { return false }
            switch fault {
            // Who says that it is locked has done nothing.
            case .isLocked: return !isAfter
            case .vanishes: return method == "SearchItems"
            case .nonsense, .huge:
                // An item that is said to be somewhere, and is nowhere, is a lie.
                return answering.contains(method) && (method != "CreateItem" || isAfter)
            case .hollow:
                // A deletion that needs no prompt is a true answer, and otherwise a lie.
                return answering.contains(method) && method != "Delete"
            default: return true
            }
        }

        private static func codes(_ fault: Fault) -> [KeychainError.Code] {
            switch fault {
            case .dies, .restarts, .noSession: [.unavailable]
            case .silent: [.timedOut]
            case .wrongType, .odd: [.io]
            case .nonsense, .huge, .hollow: [.io, .corrupt, .unavailable]
            case .denied: [.accessDenied]
            case .isLocked: [.interactionNotAllowed]
            case .vanishes: [.io, .unavailable, .itemNotFound]
            }
        }

        // MARK: The trials

        /// A plain run makes every eleventh of some 4,700 calls, and `KEYCHAIN_TEST_DEPTH=full` all.
        @Test(arguments: FaultyService.Fault.allCases, [false, true])
        func noFaultIsTakenForAnAnswer(fault: FaultyService.Fault, isGNOMEKeyring: Bool) throws {
            let first = try Self.service(isGNOMEKeyring)
            let all = try Self.trials(fault, isGNOMEKeyring: isGNOMEKeyring) { verb, isLocked in
                try first.reset()
                if isLocked { try first.lock(.accept) }
                #expect(try verb.run(Keychain(driver: first.driver())) == .right, "\(verb)")
                let report = try first.clear()
                #expect(FaultState(report.items) == verb.changed(.base), "\(verb)")
                return report.log
            }
            let trials = Self.sample(of: all, fault, isGNOMEKeyring)
            // Nearly all of a silence is waiting.
            let lanes = fault == .silent ? 4 : 1
            let services = try [first] + (1..<lanes).map { _ in try Self.service(isGNOMEKeyring) }
            let failures = Mutex<[String]>([])
            let met = Mutex<Set<String>>([])
            let group = DispatchGroup()
            for (lane, service) in services.enumerated() {
                group.enter()
                Thread {
                    for index in stride(from: lane, to: trials.count, by: lanes) {
                        let failure: String?
                        do {
                            let (fired, wrong) = try Self.perform(trials[index], service)
                            if fired > 0 { met.withLock { _ = $0.insert(trials[index].method) } }
                            failure = wrong
                        } catch {
                            failure = "\(error)"
                        }
                        if let failure { failures.withLock { $0.append("\(trials[index]): \(failure)") } }
                    }
                    group.leave()
                }.start()
            }
            group.wait()
            #expect(failures.withLock { $0.sorted() } == [])
            // What is remembered is not asked for again.
            #expect(met.withLock { $0 }.isSuperset(of: trials.filter { !$0.isWarm }.map(\.method)))
        }

        /// The trials that are made: some of them, or with `KEYCHAIN_TEST_DEPTH=full` all.
        private static func sample(of trials: [Trial], _ fault: Fault, _ isGNOMEKeyring: Bool) -> [Trial] {
            if ProcessInfo.processInfo.environment["KEYCHAIN_TEST_DEPTH"] == "full" { return trials }
            // Others for each fault and each kind of service.
            let first = (Fault.allCases.firstIndex(of: fault) ?? 0) * 2 + (isGNOMEKeyring ? 1 : 0)
            let isChosen = { (index: Int) in index % 11 == first % 11 || hasFailed(trials[index]) }
            return trials.indices.filter(isChosen).map { trials[$0] }
        }

        /// Whether something like it was once taken for an answer, or took half a minute.
        private static func hasFailed(_ trial: Trial) -> Bool {
            switch (trial.fault, trial.method, trial.verb) {
            case (.nonsense, "Get", .retrieve), (.nonsense, "GetAll", .retrieve), (.nonsense, "Delete", .remove),
                (.nonsense, "SearchItems", .contains), (.nonsense, "SearchItems", .replaceValue),
                (.hollow, "CreateItem", .add), (.hollow, "GetSecret", .rename), (.silent, "Delete", .replace):
                true
            default: false
            }
        }

        private static func service(_ isGNOMEKeyring: Bool) throws -> FaultyService {
            let service = try FaultyService.start(isGNOMEKeyring: isGNOMEKeyring)
            try FaultState.base.store(Keychain(driver: service.driver()))
            try service.keep()
            return service
        }

        /// Makes one call, and looks at what it says and at what it leaves.
        ///
        /// - Returns: How often the fault was met, and what is wrong.
        private static func perform(
            _ trial: Trial,
            _ service: FaultyService
        ) throws -> (fired: Int, wrong: String?) {
            try service.reset()
            let timeout = Duration.milliseconds(trial.fault == .silent ? 400 : 10_000)
            let keychain = Keychain(driver: try service.driver(), timeout: timeout)
            if trial.isWarm { _ = try trial.verb.run(Keychain(driver: keychain.driver)) }
            if trial.isLocked { try service.lock(.accept) }
            try service.inject(trial.fault, into: trial.method, isAfter: trial.isAfter, isOnce: trial.isOnce)
            let start = ContinuousClock.now
            var failure: KeychainError?
            var answer: FaultVerb.Answer?
            do {
                answer = try trial.verb.run(keychain)
            } catch {
                failure = error
            }
            let time = ContinuousClock.now - start
            let report = try service.clear()
            let wrong = wrong(trial, answer, failure, FaultState(report.items))
            guard wrong == nil, time > timeout + .seconds(4) else { return (report.fired, wrong) }
            return (report.fired, "It took \(time)")
        }

        private static func wrong(
            _ trial: Trial,
            _ answer: FaultVerb.Answer?,
            _ failure: KeychainError?,
            _ state: FaultState
        ) -> String? {
            let before = FaultState.base
            let after = trial.verb.changed(before)
            if let failure, failure.code != .duplicateItem || trial.verb != .addExisting {
                if !codes(trial.fault).contains(failure.code) { return "\(failure)" }
                let isTold = failure.message.contains("could not be taken back")
                if state == before || state == after { return nil }
                if trial.fault == .vanishes, state.isPart(of: before) || state.isPart(of: after) { return nil }
                if isTold, state.isMade(of: before, after) { return nil }
                return "\(failure.code) left \(state)"
            }
            if trial.fault == .vanishes {
                // What it did not find any more is not there.
                if answer == .nothing, trial.verb.isForAll ? state.entries.isEmpty : state["bob"] == nil { return nil }
                if answer == .right, state.isPart(of: after) { return nil }
                // And what is not there is stored.
                if trial.verb == .addExisting, state["bob"] == .init(value: "new") { return nil }
            }
            if answer == .wrong || answer == .nothing { return "it answered \(answer!)" }
            return state == after ? nil : "it was acknowledged and left \(state)"
        }

        // MARK: Prompts

        @Test(arguments: FaultyService.PromptOutcome.allCases, [false, true])
        func aPromptThatFailsIsNoAnswer(outcome: FaultyService.PromptOutcome, isGNOMEKeyring: Bool) throws {
            let service = try Self.service(isGNOMEKeyring)
            let codes: [KeychainError.Code?] =
                switch outcome {
                case .accept: [nil]
                // It is taken for a prompt that could not be shown, as there is no display.
                case .dismiss: [.interactionNotAllowed]
                case .never, .rubbish: [.timedOut]
                case .die: [.unavailable]
                }
            for verb in FaultVerb.allCases {
                try service.reset()
                try service.lock(outcome)
                let start = ContinuousClock.now
                let isPatient = [.never, .rubbish].contains(outcome)
                let timeout = Duration.milliseconds(isPatient ? 150 : 10_000)
                let keychain = Keychain(driver: try service.driver(), timeout: timeout)
                var answer: FaultVerb.Answer?
                let found = code { answer = try verb.run(keychain) }
                #expect(ContinuousClock.now - start < timeout + .seconds(4), "\(verb)")
                let state = FaultState(try service.clear().items)
                if verb == .info || verb == .contains || verb == .containsMissing {
                    // They never ask, and answer what can be proved.
                    #expect(found == .interactionNotAllowed || answer == .right && verb != .containsMissing, "\(verb)")
                } else if verb == .addExisting && outcome == .accept {
                    #expect(answer == .right)
                } else {
                    #expect(codes.contains(found), "\(verb): \(String(describing: found))")
                }
                #expect(state == (found == nil ? verb.changed(.base) : .base), "\(verb)")
            }
        }
    }
#endif
