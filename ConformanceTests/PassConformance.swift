// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainConformance
    import SecretServiceFixture
    import Testing

    /// Without the power to lock, which this server does not have.
    @Suite("pass_secret_service", .serialized) struct PassConformance {
        private static let harness = SecretServiceHarness(
            server: SharedServer { try PrivatePass.start() },
            powers: [.reopen, .processes]
        )
        private static let large = "It hangs when it is to read more than 64 KiB; such a value is refused."
        private static let differences = ServerDifferences(
            server: "pass_secret_service",
            checks: [
                "A value of the largest size is accepted, and one byte more is dataTooLarge": large,
                "Values of 1 MiB round-trip to the byte in every class": large,
                "A long line round-trips to the byte, by every verb that writes and reads": large,
                "No error of the driver shows the value that it was given": large,
                "Reopened, the store holds every item exactly as it was": large,
                "store(.replaceValue) can make a value longer, shorter and empty": large,
                "store(.replace) can make a value longer, shorter and empty": large,
            ]
        )

        /// Every fifth check, or all with `KEYCHAIN_TEST_DEPTH=full`: the server runs gpg for each value.
        private static let checks: [ConformanceCheck] = {
            let remaining = differences.remaining(harness)
            if ProcessInfo.processInfo.environment["KEYCHAIN_TEST_DEPTH"] == "full" { return remaining }
            return stride(from: 0, to: remaining.count, by: 5).map { remaining[$0] }
        }()

        @Test("pass_secret_service", arguments: checks)
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: Self.harness)
        }

        @Test func differencesAreReal() async throws {
            try await Self.differences.expectToBeReal(Self.harness)
        }
    }
#endif
