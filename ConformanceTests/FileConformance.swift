// SPDX-License-Identifier: MIT
#if File
    import KeychainConformance
    import Testing

    @Suite("File", .serialized) struct FileConformance {
        @Test("File", arguments: ConformanceSuite.checks(for: FileHarness(secret: .key)))
        func conforms(_ check: ConformanceCheck) async throws {
            try await check.run(on: FileHarness(secret: .key))
        }

        @Test(
            "File with a passphrase",
            arguments: ConformanceSuite.all.filter { [.persistence, .store].contains($0.family) }
        )
        func conformsWithPassphrase(_ check: ConformanceCheck) async throws {
            try await check.run(on: FileHarness(secret: .passphrase))
        }
    }
#endif
