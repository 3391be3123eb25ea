// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// A folder of a test's own, in which other programs make and read keys and certificates.
    final class Workshop: Sendable {
        let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("x509-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        /// Runs the openssl command with arguments as on one line, and returns what it printed.
        @discardableResult
        func openssl(_ line: String, input: Data = Data()) throws -> Data {
            try run("/usr/bin/openssl", line.split(separator: " ").map(String.init), input)
        }

        /// Runs Python with the package cryptography, and returns what it printed.
        func python(_ script: String, _ arguments: String...) throws -> Data {
            let head = "import sys\nfrom cryptography.hazmat.primitives import serialization, hashes\n"
            return try run("/usr/bin/python3", ["-c", head + script] + arguments, Data())
        }

        private func run(_ program: String, _ arguments: [String], _ input: Data) throws -> Data {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.currentDirectoryURL = folder
            process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "PYTHONDONTWRITEBYTECODE": "1"]
            let source = folder.appendingPathComponent("input-\(UUID().uuidString)")
            let target = folder.appendingPathComponent("output-\(UUID().uuidString)")
            let errors = folder.appendingPathComponent("errors-\(UUID().uuidString)")
            try input.write(to: source)
            try Data().write(to: target)
            try Data().write(to: errors)
            process.standardInput = try FileHandle(forReadingFrom: source)
            process.standardOutput = try FileHandle(forWritingTo: target)
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                let text = try String(contentsOf: errors, encoding: .utf8)
                throw WorkshopError("\(program) \(arguments.joined(separator: " ")): \(text)")
            }
            return try Data(contentsOf: target)
        }

        func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

        func write(_ data: Data, _ name: String) throws { try data.write(to: folder.appendingPathComponent(name)) }

        func write(_ bytes: SecureBytes, _ name: String) throws { try write(Data(bytes), name) }
    }

    struct WorkshopError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    extension Data {
        init(_ bytes: SecureBytes) { self = bytes.withBytes { Data($0) } }
    }

    /// The code of the error that a closure throws, nil if it throws none of ours.
    func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeychainError)?.code
        }
    }
#endif
