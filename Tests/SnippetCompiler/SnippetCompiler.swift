// SPDX-License-Identifier: MIT

public import Foundation

/// Type-checks Swift text against the modules that this test run was built with.
public enum SnippetCompiler {
    /// What the compiler said.
    public struct Verdict: Sendable {
        /// The exit status of the compiler: 0 if it compiles.
        public let status: Int32
        /// Its errors and warnings.
        public let output: String
    }

    /// Type-checks one file as a module of its own.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - arguments: What the compiler is told besides.
    /// - Throws: Why the compiler could not be run.
    public static func check(_ file: URL, _ arguments: [String] = []) throws -> Verdict {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", try modules().path] + arguments + [file.path]
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Verdict(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }

    /// The folder of what was built, beside the test bundle.
    ///
    /// - Throws: If it cannot be found.
    public static func products() throws -> URL {
        try modules().deletingLastPathComponent()
    }

    private static func modules() throws -> URL {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = CommandLine.arguments.map { URL(filePath: $0) }
        for start in [URL(filePath: executable)] + arguments {
            var folder = start.deletingLastPathComponent()
            while folder.path.count > 1 {
                let modules = folder.appending(path: "Modules")
                let module = modules.appending(path: "KeychainAPI.swiftmodule")
                if FileManager.default.fileExists(atPath: module.path) { return modules }
                folder.deleteLastPathComponent()
            }
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
