// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainConformance
    import SecretServiceFixture
    import Testing

    @Suite("Secret Service", .serialized) struct SecretServiceConformance {
        private static let harness = SecretServiceHarness(server: SharedServer { try PrivateKeyring.start() })

        @Test("Secret Service", arguments: ConformanceSuite.checks(for: harness))
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: Self.harness)
        }
    }
#endif
