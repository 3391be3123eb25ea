// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainSystem

/// The program itself, as a shell starts it.
enum Program {
    struct Outcome: Sendable {
        let status: Int32
        let output: Data
        let errors: String
    }

    /// Where it was built: beside the tests.
    static var path: String {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: tests).deletingLastPathComponent().appending(path: "keychainctl").path()
        }
    }

    /// The program, ready to be run.
    static func process(_ arguments: [String], environment: [String: String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: try path)
        process.arguments = arguments
        process.environment = environment
        return process
    }

    /// Runs a shell script in which `$K` is the program, with an environment of the test's own and nothing else.
    ///
    /// - Parameters:
    ///   - script: A script for bash.
    ///   - environment: More variables.
    ///   - terminal: A terminal that becomes the script's controlling one and its three standard files.
    ///   - isJobControlled: Whether each command gets a process group of its own, as in an interactive shell.
    static func shell(
        _ script: String,
        environment: [String: String],
        terminal: String? = nil,
        isJobControlled: Bool = false
    ) throws -> Outcome {
        let bash = ["/bin/bash", isJobControlled ? "-mc" : "-c", script]
        let process = Process()
        process.environment = environment.merging(
            ["K": try path, "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8"]
        ) { $1 }
        let arguments = terminal == nil ? bash : ["/usr/bin/setsid", "--ctty", "--wait"] + bash
        process.executableURL = URL(filePath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        let output = Pipe()
        let errors = Pipe()
        if let terminal {
            let file = try FileHandle(forUpdating: URL(filePath: terminal))
            process.standardInput = file
            process.standardOutput = file
            process.standardError = file
            try process.run()
            process.waitUntilExit()
            return Outcome(status: process.terminationStatus, output: Data(), errors: "")
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: text,
            errors: String(decoding: errorText, as: UTF8.self)
        )
    }
}
