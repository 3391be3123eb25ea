// SPDX-License-Identifier: MIT

import KeychainConformance
import Testing

@Suite("Memory", .serialized) struct MemoryConformance {
    @Test("Memory", arguments: ConformanceSuite.checks(for: MemoryHarness()))
    func conforms(_ check: ConformanceCheck) async throws {
        try await check.run(on: MemoryHarness())
    }
}
