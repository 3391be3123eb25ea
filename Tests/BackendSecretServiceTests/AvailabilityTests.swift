// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// What there may be instead of a working keyring, and what a call and the probe say about it.
    @Suite struct AvailabilityTests {
        private let selection = RecordSelection.password("svc", "bob")
        private let mutation = RecordMutation.insert(.password("svc", "bob"), SecureBytes(Data("v".utf8)))

        private func probe(_ environment: [String: String], _ collection: String = "") -> DriverAvailability {
            SecretServiceProbe(collection: collection, environment: environment).availability()
        }

        private func isUnavailable(_ availability: DriverAvailability) -> Bool {
            if case .unavailable = availability { true } else { false }
        }

        @Test(arguments: [
            "", "disabled:", "autolaunch:", "nonsense", "unix:path=/nowhere/bus", "autolaunch:;unix:path=/x",
            "tcp:host=h",
        ])
        func withoutABus(address: String) throws {
            let start = ContinuousClock.now
            let environment = ["DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":77", "XDG_RUNTIME_DIR": "/nowhere"]
            let driver = try SecretServiceDriver(environment: environment)
            #expect(code { _ = try driver.records(selection) } == .unavailable)
            #expect(code { try driver.commit([mutation]) } == .unavailable)
            #expect(isUnavailable(probe(environment)))
            #expect(ContinuousClock.now - start < .seconds(1))
        }

        @Test func theBusOfTheRuntimeFolderIsFound() throws {
            let keyring = try PrivateKeyring.start()
            var environment = keyring.environment
            let bus = try #require(keyring.busAddress.split(separator: ",").first).dropFirst("unix:path=".count)
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            environment["XDG_RUNTIME_DIR"] = (String(bus) as NSString).deletingLastPathComponent
            try SecretServiceDriver(environment: environment).commit([mutation])
            #expect(try keyring.driver().records(selection).count == 1)
        }

        @Test func withoutAService() throws {
            let keyring = try PrivateKeyring.start(startsDaemon: false)
            let driver = try keyring.driver()
            #expect(code { _ = try driver.records(selection) } == .unavailable)
            #expect(code { try driver.commit([mutation]) } == .unavailable)
            #expect(isUnavailable(probe(keyring.environment)))
            // It is found as soon as it is there.
            try keyring.startDaemon()
            try driver.commit([mutation])
            #expect(probe(keyring.environment) == .available("GNOME Keyring answers on the session bus."))
        }

        @Test func withoutADefaultCollection() throws {
            let keyring = try PrivateKeyring.start(password: nil)
            let driver = try keyring.driver()
            let error = #expect(throws: KeychainError.self) { _ = try driver.records(selection) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("/org/freedesktop/secrets/collection/session") == true)
            #expect(code { try driver.commit([mutation]) } == .unavailable)
            #expect(isUnavailable(probe(keyring.environment)))
            let session = try keyring.driver("session")
            try session.commit([mutation])
            #expect(try session.item(selection)?.value == Data("v".utf8))
            #expect(!isUnavailable(probe(keyring.environment, "session")))
        }

        @Test func aDefaultCollectionThatGoesAwayIsNoticed() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([mutation])
            try keyring.removeDefaultCollection()
            #expect(code { _ = try driver.records(selection) } == .unavailable)
            #expect(code { try driver.commit([mutation]) } == .unavailable)
        }

        @Test func collectionsByPathLabelAndAlias() throws {
            let keyring = try PrivateKeyring.start()
            try keyring.driver().commit([mutation])
            for name in [PrivateKeyring.defaultCollection, "Login", "login", "default"] {
                #expect(try keyring.driver(name).records(selection).count == 1, "\(name)")
            }
            #expect(try keyring.driver("session").records(selection).isEmpty)
            for name in ["Nowhere", "/org/freedesktop/secrets/collection/nowhere"] {
                #expect(code { _ = try keyring.driver(name).records(selection) } == .unavailable, "\(name)")
                #expect(code { try keyring.driver(name).commit([mutation]) } == .unavailable, "\(name)")
            }
            #expect(code { _ = try keyring.driver("/not a path") } == .invalidParameter)
            #expect(code { _ = try keyring.driver("a\0b") } == .invalidParameter)
            #expect(try keyring.driver("Login").location == "secret-service:Login")
        }

        @Test func aDaemonThatDoesNotAnswerTimesOut() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([mutation])
            keyring.suspendDaemon()
            let start = ContinuousClock.now
            for _ in 0..<2 {
                #expect(
                    code { _ = try driver.records(selection, CallContext(.retrieve, timeout: .milliseconds(500))) }
                        == .timedOut
                )
                #expect(
                    code { try driver.commit([mutation], CallContext(.store, timeout: .milliseconds(500))) }
                        == .timedOut
                )
            }
            #expect(ContinuousClock.now - start < .seconds(4))
            // A new connection as well as one that had been open.
            let other = try SecretServiceDriver(
                busAddress: keyring.busAddress + ",x=y",
                environment: keyring.environment
            )
            #expect(
                code { _ = try other.records(selection, CallContext(.retrieve, timeout: .milliseconds(500))) }
                    == .timedOut
            )
            guard case .unreachable = probe(keyring.environment) else {
                Issue.record("A service that does not answer is unreachable")
                return
            }
            #expect(ContinuousClock.now - start < .seconds(8))
            keyring.resumeDaemon()
            #expect(try driver.item(selection)?.value == Data("v".utf8))
        }

        @Test func aCallThatIsCancelledEndsAtOnce() throws {
            let keyring = try PrivateKeyring.start()
            let driver = try keyring.driver()
            try driver.commit([mutation])
            keyring.suspendDaemon()
            defer { keyring.resumeDaemon() }
            let call = CallContext(.retrieve)
            let start = ContinuousClock.now
            let outcome = OneShot<KeychainError.Code?>()
            Thread { outcome.fulfil(code { _ = try driver.records(selection, call) }) }.start()
            call.cancel()
            #expect(outcome.wait(.seconds(5)) == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(5))
        }

        @Test func theProbeStartsNothing() throws {
            let keyring = try PrivateKeyring.start(startsDaemon: false)
            _ = probe(keyring.environment)
            let names = try keyring.python("print(bus.get_object('org.freedesktop.DBus', '/').ListNames())")
            #expect(!names.contains("org.freedesktop.secrets"))
        }

        @Test func theRegistrationOpensByURL() throws {
            let registry = DriverRegistry([.secretService])
            let driver = try registry.open(StoreURL(parsing: "secret-service:Login"))
            #expect(driver.location == "secret-service:Login" && driver.identifier == "secret-service")
        }
    }
#endif
