// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@testable import KeychainAuthentication

/// What the library makes of the ends of pkcheck, with a script in its place.
@Suite struct SystemAuthenticationTests {
    private func error(
        _ standIn: StandIn,
        _ options: AccessPolicy.Options = .userPresence,
        _ call: CallContext = CallContext(.retrieve)
    ) -> KeychainError? {
        do throws(KeychainError) {
            try SystemAuthentication(client: standIn.client).authenticate(options, reason: "", call)
            return nil
        } catch {
            return error
        }
    }

    @Test func asksForThisProcessWithTheTimeOfItsStart() throws {
        let standIn = try StandIn("exit 0")
        #expect(error(standIn) == nil)
        let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
        let rest = stat[stat.range(of: ")", options: .backwards)!.upperBound...]
        let start = rest.split(separator: " ")[19]
        let expected =
            "--action-id org.swift-keychain.confirm --process \(getpid()),\(start),1000 --allow-user-interaction"
        #expect(standIn.questions == [expected])
    }

    @Test(arguments: [
        (1, KeychainError.Code.authenticationFailed, "wrong"), (2, .interactionNotAllowed, "Start an agent"),
        (3, .userCanceled, "Try again"), (126, .unavailable, "apt-get install polkitd"),
        (127, .unavailable, "apt-get install polkitd"), (4, .unavailable, "Try again"),
    ])
    func eachEndIsAnErrorOfItsOwn(_ status: Int, _ code: KeychainError.Code, _ remedy: String) throws {
        let error = try #require(error(try StandIn("echo why >&2; exit \(status)")))
        #expect(error.code == code)
        #expect(error.message.contains(remedy), "\(error)")
        #expect(error.underlying?.message == (status >= 126 ? "why" : nil))
    }

    @Test func aKilledClientConfirmsNothing() throws {
        #expect(error(try StandIn("kill -KILL $$"))?.code == .unavailable)
    }

    @Test func anActionThatIsNotThereIsAPolicyFileToInstall() throws {
        let standIn = try StandIn("echo 'Error: Action org.example.read is not registered' >&2; exit 127")
        let authentication = SystemAuthentication(actionIdentifier: "org.example.read", client: standIn.client)
        let error = #expect(throws: KeychainError.self) {
            try authentication.authenticate(.userPresence, reason: "", CallContext(.retrieve))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("org.example.read.policy /usr/share/polkit-1/actions/") == true)
        #expect(standIn.questions.first?.hasPrefix("--action-id org.example.read ") == true)
    }

    @Test func withoutPolkitItSaysWhatToInstall() throws {
        let client = PolkitClient(path: "/nonexistent/pkcheck", environment: [:], user: 1000)
        let error = #expect(throws: KeychainError.self) {
            try SystemAuthentication(client: client).authenticate(.userPresence, reason: "", CallContext(.retrieve))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("apt-get install polkitd") == true)
    }

    @Test func rootIsNotConfirmed() throws {
        let standIn = try StandIn("exit 0", user: 0)
        #expect(error(standIn)?.code == .unsupported)
        #expect(standIn.questions.isEmpty)
    }

    @Test(
        arguments: [
            .userPresence, .devicePasscode, [.devicePasscode, .or], [.devicePasscode, .and],
            [.biometryAny, .or, .devicePasscode], [.biometryCurrentSet, .or, .devicePasscode],
        ] as [AccessPolicy.Options]
    )
    func aPasswordIsEnoughFor(_ options: AccessPolicy.Options) throws {
        let standIn = try StandIn("exit 0")
        #expect(error(standIn, options) == nil)
        #expect(standIn.questions.count == 1)
    }

    @Test(
        arguments: [
            .biometryAny, .biometryCurrentSet, [.biometryAny, .or], [.biometryAny, .devicePasscode],
            [.biometryAny, .and, .devicePasscode], [.biometryAny, .or, .and, .devicePasscode], .or,
            [.userPresence, .init(rawValue: 1 << 20)], [],
        ] as [AccessPolicy.Options]
    )
    func aPasswordIsNotEnoughFor(_ options: AccessPolicy.Options) throws {
        let standIn = try StandIn("exit 0")
        #expect(error(standIn, options)?.code == .unsupported)
        #expect(standIn.questions.isEmpty)
    }

    @Test func muchOutputHoldsNothingUp() throws {
        let standIn = try StandIn("head -c 4000000 /dev/zero; head -c 4000000 /dev/zero >&2; exit 3")
        #expect(error(standIn)?.code == .userCanceled)
    }

    @Test(arguments: ["exec sleep 1000", "exec >&- 2>&-; exec sleep 1000"])
    func aDeadlineEndsTheQuestion(_ script: String) throws {
        let standIn = try StandIn(script)
        #expect(error(standIn, .userPresence, CallContext(.retrieve, timeout: .milliseconds(300)))?.code == .timedOut)
    }

    @Test func aCancellationEndsTheQuestionEvenIfAnotherProcessHasItsOutput() async throws {
        let standIn = try StandIn("sleep 1000 & echo $$ $! >\"$folder/pipe\"; wait")
        let call = CallContext(.retrieve)
        // On a thread of its own: this test waits for it, and blocks one of the few that tasks have.
        let (answers, continuation) = AsyncStream.makeStream(of: KeychainError?.self)
        Thread {
            continuation.yield(error(standIn, .userPresence, call))
            continuation.finish()
        }.start()
        // They come when both run.
        let processes = try standIn.piped().split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
        try #require(processes.count == 2)
        defer { kill(processes[1], SIGKILL) }
        call.cancel()
        var iterator = answers.makeAsyncIterator()
        let answer = await iterator.next() ?? nil
        #expect(answer?.code == .cancelled)
        #expect(kill(processes[0], 0) == -1 && errno == ESRCH)
        #expect(kill(processes[1], 0) == 0)
    }

    @Test func aCallThatHasEndedAsksNothing() throws {
        let standIn = try StandIn("exit 0")
        let call = CallContext(.retrieve)
        call.cancel()
        #expect(error(standIn, .userPresence, call)?.code == .cancelled)
        #expect(standIn.questions.isEmpty)
    }

    @Test func nothingOfTheEnvironmentReachesTheClient() throws {
        setenv("SYSTEM_AUTHENTICATION_TEST", "1", 1)
        defer { unsetenv("SYSTEM_AUTHENTICATION_TEST") }
        let standIn = try StandIn("[ -z \"$SYSTEM_AUTHENTICATION_TEST\" ]")
        #expect(error(standIn) == nil)
    }

    @Test(arguments: [
        ("7 (a) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 8 9\n", 4711),
        ("7 (a ) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4712 8 9\n", 4712),
        (
            "7 (1 2 3 4 5 6 7 8 9\n 10 11) 12 13 14 15 16 17 18 19 20 21 22) S 1 7 7 0 -1 4 1 0 0 0 0 0 0 0 20 0 1 0 4 8",
            4
        ),
        ("7 (a) S 1 7 7", nil), ("7 a", nil), ("", nil),
    ])
    func theTimeOfTheStartIsFoundBehindAnyName(_ stat: String, _ time: UInt64?) {
        #expect(PolkitSubject.startTime(in: Array(stat.utf8)[...]) == time)
    }
}

/// For how long a confirmation holds.
@Suite struct AuthenticationReuseTests {
    private func keychain(_ authentication: SystemAuthentication) throws -> Keychain {
        let keychain = Keychain(driver: MemoryDriver(), authenticationContext: authentication)
        let policy = AccessPolicy(.whenUnlocked, options: .userPresence)
        try keychain.store("v", query: .credential(for: "a"), accessPolicy: policy)
        try keychain.store("w", query: .credential(for: "b"), accessPolicy: policy)
        return keychain
    }

    private func read(_ name: String, _ keychain: Keychain) throws(KeychainError) -> String? {
        try keychain.retrieve(.credential(for: name))
    }

    @Test func oneQuestionIsEnoughWithinTheDurationUntilItIsInvalidated() throws {
        let standIn = try StandIn("exit 0")
        let authentication = SystemAuthentication(reuse: .seconds(3600), client: standIn.client)
        let keychain = try keychain(authentication)
        #expect(try read("a", keychain) == "v")
        #expect(try read("b", keychain) == "w")
        #expect(standIn.questions.count == 1)
        authentication.reuse.invalidate()
        #expect(try read("a", keychain) == "v")
        #expect(standIn.questions.count == 2)
    }

    @Test func withoutADurationEachReadAsks() throws {
        let standIn = try StandIn("exit 0")
        let keychain = try keychain(SystemAuthentication(client: standIn.client))
        #expect(try read("a", keychain) == "v")
        #expect(try read("a", keychain) == "v")
        #expect(standIn.questions.count == 2)
    }

    @Test func aWrongConfirmationIsNotRemembered() throws {
        let standIn = try StandIn("exit 1")
        let keychain = try keychain(SystemAuthentication(reuse: .seconds(3600), client: standIn.client))
        for count in 1...2 {
            let error = #expect(throws: KeychainError.self) { try read("a", keychain) }
            #expect(error?.code == .authenticationFailed)
            #expect(standIn.questions.count == count)
        }
    }
}
