// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// How a session is agreed on.
    @Suite struct SessionTests {
        @Test(arguments: [Data(), Data("v".utf8), Data([0, 0xFF, 0x0A])])
        func aServiceThatCannotEncryptIsSpokenToInClear(value: Data) throws {
            let server = try FaultyService.start()
            let driver = try server.driver()
            try driver.commit([.insert(.password("svc", "bob"), SecureBytes(value))])
            #expect(try driver.item(.password("svc", "bob"))?.value == value)
        }

        @Test func anErrorThatNamesTheSessionMeansTheSession() {
            func trouble(_ domain: String, _ message: String) -> BusTrouble {
                KeychainError(.io, "", underlying: .init(domain: domain, code: 0, message: message)).trouble
            }
            let session = "Can't find session /org/freedesktop/secrets/session/55"
            #expect(trouble("org.qtproject.QtDBus.Error.InvalidObjectPath", session) == .noSession)
            #expect(trouble("org.freedesktop.DBus.Error.UnknownObject", session) == .noSession)
            #expect(
                trouble(
                    "org.freedesktop.DBus.Error.UnknownObject",
                    "No such object path '/org/freedesktop/secrets/collection/session/1'"
                ) == .noObject
            )
        }
    }
#endif
