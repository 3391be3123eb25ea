// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Does what systemd does for the unit, in a temporary folder: a credential, a state folder, a runtime folder.
final class Unit {
    let folder: URL
    private let service = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(passphrase: String = "correct horse") throws {
        // Short, since the path of a socket has to fit into 108 bytes.
        folder = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString.prefix(8))")
        for name in ["credentials", "state", "run"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        try setPassphrase(passphrase)
    }

    deinit {
        if service.isRunning {
            service.terminate()
            service.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// What the next program that starts finds as its credential.
    func setPassphrase(_ passphrase: String) throws {
        let file = folder.appending(path: "credentials/keychain")
        try? FileManager.default.removeItem(at: file)
        try #require(
            FileManager.default.createFile(
                atPath: file.path,
                contents: Data(passphrase.utf8),
                attributes: [.posixPermissions: 0o400]
            )
        )
    }

    /// Starts the service.
    func start() throws { try run(service, "app", [], output) }

    /// The next line that the service prints; nil when it has ended.
    func nextLine() throws -> String? {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// How the service ended, and what it complained about.
    func end() throws -> (status: Int32, complaint: String) {
        service.waitUntilExit()
        let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
        return (service.terminationStatus, String(decoding: complaint, as: UTF8.self))
    }

    /// Runs the command, with the unit's settings.
    func keychainctl(_ arguments: String..., input: String = "") throws {
        let (process, source) = (Process(), Pipe())
        process.standardInput = source
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        try run(process, "keychainctl", ["-q"] + arguments, Pipe())
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Says a line to the service, as a client does, and returns its answer.
    func say(_ line: String) throws -> String {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/python3")
        let script = """
            import socket, sys
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            client.sendall(sys.stdin.buffer.read())
            print(client.makefile().read(), end='')
            """
        let (source, answer) = (Pipe(), Pipe())
        client.arguments = ["-c", script, folder.appending(path: "run/app.sock").path]
        client.standardInput = source
        client.standardOutput = answer
        try client.run()
        try source.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        try source.fileHandleForWriting.close()
        client.waitUntilExit()
        return String(decoding: try answer.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    private func run(_ process: Process, _ name: String, _ arguments: [String], _ output: Pipe) throws {
        // SwiftPM builds it next to the bundle of the tests, which is the program itself or one of its arguments.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.bundlePath
        process.executableURL = URL(filePath: bundle).deletingLastPathComponent().appending(path: name)
        process.arguments = arguments
        // As in app.service, and nothing of the person's who runs the tests.
        process.environment = [
            "HOME": folder.path, "CREDENTIALS_DIRECTORY": folder.appending(path: "credentials").path,
            "RUNTIME_DIRECTORY": folder.appending(path: "run").path,
            "XDG_STATE_HOME": folder.appending(path: "state").path,
            "KEYCHAIN_STORE": "file:\(folder.path)/app.keychain", "KEYCHAIN_KEY": "credential:keychain",
            "KEYCHAIN_NO_PROMPT": "1",
        ]
        process.standardOutput = output
        process.standardError = name == "app" ? errors : FileHandle.standardError
        try process.run()
    }
}
