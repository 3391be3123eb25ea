// SPDX-License-Identifier: MIT

import Foundation

/// A temporary home with an encrypted file in it, which the program is run in; it is removed in the end.
final class Home {
    /// What the program said before it ended.
    struct Answer: Equatable {
        var status: Int32 = 0
        var output = ""
        var errors = ""
    }

    let folder: URL

    /// SwiftPM builds it next to the bundle of the tests, which is the program itself or one of its arguments.
    private static let program: URL = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.bundlePath
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "logins")
    }()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "logins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs the program to its end.
    func logins(_ arguments: String..., input: String = "", passphrase: String = "correct horse") throws -> Answer {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        // Nothing of the person's who runs the tests: neither their home, nor their bus, nor their keyring.
        process.environment = [
            "HOME": folder.path, "KEYCHAIN_STORE": "file:\(folder.path)/logins.keychain",
            "KEYCHAIN_KEY": "env:PASSPHRASE", "PASSPHRASE": passphrase,
        ]
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // What the program does not read goes nowhere; it takes a few bytes, and never waits for them.
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        // A few lines, which fit into the pipes.
        process.waitUntilExit()
        return Answer(status: process.terminationStatus, output: try text(output), errors: try text(errors))
    }

    private func text(_ pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}
