// SPDX-License-Identifier: MIT
#if File && DEBUG
    import Foundation
    import Testing

    /// The seeds of the fuzzer, without libFuzzer: that the program fits the library, and what it once found stays fixed.
    struct FuzzerTests {
        @Test func everySeedIsTakenOrRefused() throws {
            let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Fuzzing/Corpus")
            let seeds = try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted()
            #expect(seeds.count >= 11)
            let program = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appendingPathComponent(
                "FileFuzzer"
            )
            let result = try Tool.run(
                seeds.map { corpus.appendingPathComponent($0).path },
                executable: program.path
            )
            #expect(result.status == 0, "\(result.errors)")
        }
    }
#endif
