// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainConformance
    import Testing

    @Suite("Secret Service", .serialized) struct SecretServiceConformance {
        @Test("Secret Service", arguments: ConformanceSuite.checks(for: SecretServiceHarness()))
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: SecretServiceHarness())
        }
    }
#endif
