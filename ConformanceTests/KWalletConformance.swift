// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainConformance
    import SecretServiceFixture
    import Testing

    @Suite("KWallet", .serialized) struct KWalletConformance {
        private static let harness = SecretServiceHarness(server: SharedServer { try PrivateKWallet.start() })
        private static let differences = ServerDifferences(
            server: "KWallet",
            checks: [
                "Ignorable characters count: accounts":
                    "Qt drops a byte order mark at the beginning of a text; an attribute that begins with one is refused."
            ]
        )

        @Test("KWallet", arguments: differences.remaining(harness))
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: Self.harness)
        }

        @Test func differencesAreReal() async throws {
            try await Self.differences.expectToBeReal(Self.harness)
        }
    }
#endif
