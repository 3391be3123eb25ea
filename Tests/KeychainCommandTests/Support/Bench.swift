// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainSystem
import SwiftKeychain

@testable import KeychainCommand

/// A home, a store and an environment of a test's own, in which command lines are run; removed when the test ends.
final class Bench: Sendable {
    /// How a command ended, and what it said.
    struct Outcome: Sendable {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    let folder: String
    /// A store in memory that no other test names.
    let store = "memory:\(UUID().uuidString)"

    init() {
        var template = Array("/tmp/keychainctl-tests-XXXXXX".utf8CString)
        folder = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// What the command sees of the environment, if the test says nothing else.
    var environment: [String: String] { ["HOME": folder, "KEYCHAIN_STORE": store] }

    /// Runs a command line in this process.
    func run(
        _ arguments: String...,
        input: Data = Data(),
        environment: [String: String]? = nil,
        registry: DriverRegistry? = nil,
        terminal: String = "/nonexistent"
    ) async throws -> Outcome {
        try await run(
            arguments: arguments,
            input: input,
            environment: environment,
            registry: registry,
            terminal: terminal
        )
    }

    /// Runs a command line in this process.
    func run(
        arguments: [String],
        input: Data = Data(),
        environment: [String: String]? = nil,
        registry: DriverRegistry? = nil,
        terminal: String = "/nonexistent"
    ) async throws -> Outcome {
        let environment = environment ?? self.environment
        let name = "\(folder)/\(UUID().uuidString)"
        try input.write(to: URL(filePath: name + ".in"))
        let flags = O_RDWR | O_CREAT
        let standardInput = try FileDescriptor(name + ".in", O_RDONLY, action: "input")
        let standardOutput = try FileDescriptor(name + ".out", flags, action: "output")
        let standardError = try FileDescriptor(name + ".err", flags, action: "error")
        let io = CommandIO(
            input: standardInput.number,
            output: standardOutput.number,
            error: standardError.number,
            terminal: terminal,
            interrupt: try Interrupt()
        )
        let status = await KeychainCommand.run(
            arguments,
            environment: environment,
            io: io,
            registry: registry ?? Self.registry(environment)
        )
        return Outcome(
            status: status,
            output: try Data(contentsOf: URL(filePath: name + ".out")),
            errors: String(decoding: try Data(contentsOf: URL(filePath: name + ".err")), as: UTF8.self)
        )
    }

    /// The drivers that need no service, with an environment of the test's own.
    static func registry(_ environment: [String: String]) -> DriverRegistry {
        #if File
            DriverRegistry([.memory, .file(environment: environment)])
        #else
            DriverRegistry([.memory])
        #endif
    }

    /// A file with 32 bytes, which unlocks a file store without deriving a key.
    func keyFile() throws -> String {
        let path = "\(folder)/key"
        try Data(repeating: 7, count: 32).write(to: URL(filePath: path))
        guard chmod(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// The environment of a file store that the key file unlocks.
    func fileEnvironment() throws -> [String: String] {
        ["HOME": folder, "KEYCHAIN_STORE": "file:\(folder)/a.keychain", "KEYCHAIN_KEY": "keyfile:\(try keyFile())"]
    }

    /// The permissions of a file.
    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
}

/// Runs a closure that blocks on a thread of its own, so that it takes none from the commands that it waits for.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}
