// SPDX-License-Identifier: MIT

import Foundation
import KeychainImport
import Testing

/// A home with a key and a password store of its own, removed on release together with the agent of GnuPG.
final class PassHome {
    let folder: String
    let environment: [String: String]

    /// The folder of the store.
    var path: String { folder + "/store" }

    init(passphrase: String = "", expires: String = "never") throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pass-\(UUID().uuidString.prefix(8))")
        folder = url.path
        for name in ["", "/gpg", "/store", "/bin"] {
            try FileManager.default.createDirectory(
                atPath: folder + name,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder, "GNUPGHOME": folder + "/gpg",
            "PASSWORD_STORE_DIR": folder + "/store",
        ]
        try write("trust-model always\nlock-never\nno-auto-check-trustdb\n", "gpg/gpg.conf")
        try write("allow-loopback-pinentry\n", "gpg/gpg-agent.conf")
        try write("test\n", "store/.gpg-id")
        try gpg(
            ["--pinentry-mode", "loopback", "--passphrase", passphrase, "--quick-generate-key", "test"]
                + ["future-default", "default", expires]
        )
    }

    deinit {
        try? gpgconf(["--kill", "gpg-agent"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    func store() throws -> PasswordStore { try PasswordStore(environment: environment) }

    /// Stores an entry as pass does it.
    func insert(_ name: String, _ text: String) throws {
        try run("pass", ["insert", "--multiline", "--force", name], input: Data(text.utf8))
    }

    /// Encrypts what pass itself would not take.
    func encrypt(_ data: Data, _ name: String) throws {
        let file = path + "/\(name).gpg"
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path,
            withIntermediateDirectories: true
        )
        try gpg(["--recipient", "test", "--output", file, "--encrypt"], input: data)
    }

    func write(_ text: String, _ name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(name)")
    }

    func gpg(_ arguments: [String], input: Data = Data()) throws {
        try run("gpg", ["--batch", "--quiet"] + arguments, input: input)
    }

    func gpgconf(_ arguments: [String]) throws {
        try run("gpgconf", arguments)
    }

    private func run(_ program: String, _ arguments: [String], input: Data = Data()) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
        process.arguments = arguments
        process.environment = environment
        let file = "\(folder)/input"
        try input.write(to: URL(fileURLWithPath: file))
        process.standardInput = FileHandle(forReadingAtPath: file)
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(program) failed; it needs gnupg and pass. \(said)")
    }
}
