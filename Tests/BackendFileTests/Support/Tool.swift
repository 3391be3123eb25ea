// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import Testing

    /// The program that stands for another process; see `Tests/Tools/file-writer`.
    final class Tool: Sendable {
        private let process: Process
        private let output = Pipe()
        private let input = Pipe()
        private let errors = Pipe()

        /// Starts the program.
        ///
        /// - Parameters:
        ///   - arguments: What follows its name.
        ///   - wrapper: A command that is to run it, for example one that gives up privileges.
        ///   - executable: The program, if it is not where it was built.
        ///   - home: Its home; without one it remembers nothing of what it has seen.
        init(
            _ arguments: [String],
            wrapper: [String] = [],
            executable: String = Tool.path,
            home: String? = nil
        ) throws {
            process = Process()
            // Nothing of the person's who runs the tests.
            var environment = ProcessInfo.processInfo.environment.filter {
                !$0.key.hasPrefix("XDG_") && !$0.key.hasPrefix("KEYCHAIN_") && $0.key != "HOME"
            }
            environment["HOME"] = home
            process.environment = environment
            let command = wrapper + [executable] + arguments
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.standardOutput = output
            process.standardInput = input
            process.standardError = errors
            try process.run()
        }

        /// Where the program was built: next to the tests.
        static var path: String {
            let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("FileWriterTool").path
        }

        /// The process.
        var identifier: pid_t { process.processIdentifier }

        /// Waits for one line; nil at the end.
        func line() -> String? {
            var line = Data()
            while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
                if byte == Data([0x0A]) { return String(decoding: line, as: UTF8.self) }
                line += byte
            }
            return nil
        }

        /// Ends the process at once, in the middle of whatever it does.
        func kill() {
            _ = Glibc.kill(identifier, SIGKILL)
        }

        /// Lets the program go on that waits for its input to end.
        func closeInput() throws {
            try input.fileHandleForWriting.close()
        }

        /// Waits for the end, and gives the complete lines that were printed.
        func finish() throws -> (status: Int32, lines: [String], errors: String) {
            let printed = try output.fileHandleForReading.readToEnd() ?? Data()
            let complained = try errors.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let lines = String(decoding: printed, as: UTF8.self).components(separatedBy: "\n").dropLast()
            return (process.terminationStatus, Array(lines), String(decoding: complained, as: UTF8.self))
        }

        /// Runs the program to its end.
        static func run(
            _ arguments: [String],
            wrapper: [String] = [],
            executable: String = Tool.path
        ) throws -> (status: Int32, lines: [String], errors: String) {
            try Tool(arguments, wrapper: wrapper, executable: executable).finish()
        }
    }
#endif
