// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import Glibc
    import KeychainAPI
    import SecretServiceFixture
    import Synchronization
    import Testing

    @testable import BackendSecretService

    /// A daemon, a bus or a process that goes away.
    @Suite struct ConnectionTests {
        private let selection = RecordSelection.password("svc", "bob")

        private func insert(_ value: String, _ account: String = "bob") -> RecordMutation {
            .insert(.password("svc", account), SecureBytes(Data(value.utf8)))
        }

        @Test func aRestartedDaemonIsFoundAgain() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("v")])
            for round in 0..<3 {
                try keyring.restartDaemon()
                #expect(try driver.item(selection)?.value == Data("v".utf8))
                try keyring.restartDaemon()
                try driver.commit([insert("w", "\(round)")])
                #expect(try driver.item(.password("svc", "\(round)"))?.value == Data("w".utf8))
            }
        }

        @Test func aDaemonThatRestartsBetweenSearchAndReading() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("v"), insert("w", "eve")])
            let values = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) -> [SecureBytes?] in
                let records = try reader.records(RecordSelection(itemClass: .genericPassword))
                #expect(throws: Never.self) { try keyring.restartDaemon() }
                return try reader.values(of: records)
            }
            #expect(Set(values.compactMap { $0.map { Data($0) } }) == [Data("v".utf8), Data("w".utf8)])
        }

        @Test func aDaemonThatRestartsBetweenSearchAndWriting() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("v"), insert("w", "eve")])
            try driver.write(CallContext(.update)) { (writer) throws(KeychainError) in
                guard let bob = try writer.records(selection).first,
                    let eve = try writer.records(.password("svc", "eve")).first
                else { throw .itemNotFound }
                #expect(throws: Never.self) { try keyring.restartDaemon() }
                try writer.commit([.update(old: bob, new: bob, value: SecureBytes(Data("new".utf8)))])
                #expect(throws: Never.self) { try keyring.restartDaemon() }
                try writer.commit([.delete(eve)])
                #expect(throws: Never.self) { try keyring.restartDaemon() }
                try writer.commit([insert("x", "ada")])
            }
            #expect(try driver.item(selection)?.value == Data("new".utf8))
            #expect(try driver.item(.password("svc", "ada"))?.value == Data("x".utf8))
            #expect(try keyring.allAttributes().count == 2)
        }

        @Test func aBusThatDiesIsAnErrorAndNotTheEndOfTheProcess() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("v")])
            keyring.stopBus()
            #expect(code { _ = try driver.records(selection) } == .unavailable)
            #expect(code { try driver.commit([insert("w")]) } == .unavailable)
        }

        @Test func aDeadDaemonIsAnError() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([insert("v")])
            keyring.killDaemon()
            #expect(code { _ = try driver.records(selection) } == .unavailable)
            #expect(code { try driver.commit([insert("w")]) } == .unavailable)
        }

        @Test func driversShareAConnectionAndTheLastOneClosesIt() throws {
            let keyring = try PrivateKeyring.start()
            func connections() throws -> Int {
                let names = try keyring.python("print(len([n for n in bus.list_names() if n.startswith(':')]), end='')")
                return try #require(Int(names))
            }
            let before = try connections()
            do {
                let drivers = try (0..<5).map { _ in try keyring.driver() }
                for driver in drivers { #expect(try driver.records(selection).isEmpty) }
                #expect(try connections() == before + 1)
            }
            for _ in 0..<30 { #expect(try keyring.driver().records(selection).isEmpty) }
            // The bus hears of it a little later.
            for _ in 0..<50 where try connections() != before { continue }
            #expect(try connections() == before)
        }

        @Test func manyThreadsAtOnce() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 16) { index in
                do {
                    for round in 0..<5 {
                        let account = "\(index)-\(round)"
                        try driver.commit([insert(account, account)])
                        let found = try driver.item(.password("svc", account))?.value
                        if found != Data(account.utf8) { failures.withLock { $0.append(account) } }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(try driver.records(RecordSelection(itemClass: .genericPassword)).count == 80)
        }

        @Test func moreCallsThanTheBusAllowsWaitForTheirTurn() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit((0..<20).map { insert("v", "\($0)") })
            let all = RecordSelection(itemClass: .genericPassword, accessGroup: "")
            let outcome = OneShot<[KeychainError.Code?]>()
            @Sendable func readByMany(_ timeout: Duration?) -> [KeychainError.Code?] {
                let codes = Mutex<[KeychainError.Code?]>([])
                let threads = DispatchGroup()
                for _ in 0..<40 {
                    threads.enter()
                    Thread {
                        let found = code {
                            let call = CallContext(.info, timeout: timeout)
                            if try driver.records(all, call).count != 20 { throw KeychainError(.internal, "") }
                        }
                        codes.withLock { $0.append(found) }
                        threads.leave()
                    }.start()
                }
                threads.wait()
                return codes.withLock { $0 }
            }
            #expect(readByMany(nil) == Array(repeating: nil, count: 40))
            // Also those that never get their turn end in time.
            keyring.suspendDaemon()
            Thread { outcome.fulfil(readByMany(.seconds(1))) }.start()
            #expect(outcome.wait(.seconds(8)) == Array(repeating: .timedOut, count: 40))
            keyring.resumeDaemon()
            #expect(try driver.records(all).count == 20)
        }

        @Test func whoAllowsMoreTimeThanTheDriverWouldIsAnsweredLater() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            #expect(try driver.records(selection).isEmpty)
            keyring.suspendDaemon()
            Thread {
                usleep(11_000_000)
                keyring.resumeDaemon()
            }.start()
            #expect(try driver.records(selection, CallContext(.info, timeout: .seconds(60))).isEmpty)
        }

        @Test func aForkedProcessIsRefusedInsteadOfHanging() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            #expect(try driver.records(selection).isEmpty)
            // Swift hides fork(), since hardly anything may be done after it; that it is refused is just what is
            // shown here.
            let fork = try #require(dlsym(nil, "fork"))
            var status: Int32 = 0
            // Another thread may be in the middle of Swift's runtime at the fork, which then hangs by itself in the child: not
            // each time. What hangs each time is what this is about.
            for _ in 0..<5 {
                let child = unsafeBitCast(fork, to: (@convention(c) () -> pid_t).self)()
                if child == 0 {
                    alarm(15)
                    _exit(code { _ = try driver.records(selection) } == .unavailable ? 42 : 1)
                }
                #expect(waitpid(child, &status, 0) == child)
                if status & 0x7F != SIGALRM { break }
            }
            #expect(status & 0x7F == 0 && status >> 8 & 0xFF == 42)
            #expect(try driver.records(selection).isEmpty)
        }
    }
#endif
