// SPDX-License-Identifier: MIT

import Foundation

/// The program of the other processes, built next to the tests.
enum WorkerProgram {
    static let path: String = {
        // The test bundle lies in the folder of products; the test runner may lie elsewhere.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.bundlePath
        let nextToBundle = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let candidates = [nextToBundle, Bundle.main.bundleURL].map {
            $0.appendingPathComponent("ConformanceWorkerTool")
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }?.path ?? candidates[0].path
    }()
}
