// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import KeychainSystem
import Testing

@Suite struct KeySourceMaterialTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func material(
        _ source: KeySource,
        prompt: (any PassphrasePrompt)? = nil,
        environment: [String: String] = [:]
    ) throws(KeychainError) -> KeyMaterial {
        try source.material(prompt: prompt, location: "file:/x", isNew: true, environment: environment)
    }

    private func passphrase(_ text: String) -> KeyMaterial { .passphrase(SecureBytes(Data(text.utf8))) }

    /// By number, since a newline in an argument would break the log's lines.
    private static let newlines = [
        ("hunter2", "hunter2"), ("hunter2\n", "hunter2"), ("hunter2\n\n", "hunter2\n"), ("\n", ""), ("", ""),
        ("a\r\n", "a\r"), ("\na", "\na"), (" a ", " a "),
    ]

    @Test(arguments: 0..<8)
    func exactlyOneNewlineIsDropped(_ number: Int) throws {
        let (text, expected) = Self.newlines[number]
        #expect(try material(.file(folder.file("p", Array(text.utf8)))) == passphrase(expected))
        #expect(try material(.environment("P"), environment: ["P": text]) == passphrase(expected))
        _ = try folder.file("cred", Array(text.utf8))
        let environment = ["CREDENTIALS_DIRECTORY": folder.path]
        #expect(try material(.credential("cred"), environment: environment) == passphrase(expected))
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        write(ends[1], text, text.utf8.count)
        close(ends[1])
        #expect(try material(.fileDescriptor(ends[0])) == passphrase(expected))
        #expect(fcntl(ends[0], F_GETFD) >= 0, "The descriptor stays the caller's.")
        close(ends[0])
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644, 0o601] as [mode_t])
    func aFileOfOnesOwnThatOthersMayTouchIsRefused(_ mode: mode_t) throws {
        let path = try folder.file("k", Array(repeating: 7, count: 32), mode: mode)
        for source in [KeySource.file(path), .keyFile(path)] {
            let error = #expect(throws: KeychainError.self) { try material(source) }
            #expect(error?.code == .insecurePermissions)
            #expect(error?.message.contains("chmod 600 '\(path)'") == true)
            _ = try source.material(prompt: nil, location: "file:/x", isNew: false, permissions: .any)
        }
        _ = try folder.file("cred", Array("x".utf8), mode: mode)
        _ = try material(.credential("cred"), environment: ["CREDENTIALS_DIRECTORY": folder.path])
    }

    @Test func aFileOfAnotherOwnerIsThatOwnersBusiness() async throws {
        let path = try folder.file("k", Array("secret".utf8), mode: 0o644)
        await #expect(processExitsWith: .success) { [path = path as String] in
            dropPrivileges()
            // Run without privileges, it is the same person's, and refused.
            let isOwn = status(path)?.owner == geteuid()
            let source = KeySource.file(path)
            let refusal = { () -> KeychainError.Code? in
                do throws(KeychainError) {
                    _ = try source.material(prompt: nil, location: "file:/x", isNew: false)
                    return nil
                } catch { return error.code }
            }
            #expect(refusal() == (isOwn ? .insecurePermissions : nil))
        }
    }

    @Test func bytesThatAreNotTextAreKept() throws {
        let bytes: [UInt8] = [0xFF, 0, 0xC3, 0x0A, 0x80]
        #expect(try material(.file(folder.file("p", bytes))) == .passphrase(SecureBytes(bytes)))
    }

    @Test func aVariableOfTheProcessIsReadByteForByte() async {
        await #expect(processExitsWith: .success) {
            let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62]
            let text = bytes.map { CChar(bitPattern: $0) } + [0]
            setenv("KEYCHAIN_TESTS_PASSPHRASE", text, 1)
            let source = KeySource.environment("KEYCHAIN_TESTS_PASSPHRASE")
            let material = try source.material(prompt: nil, location: "file:/x", isNew: false)
            #expect(material == .passphrase(SecureBytes(bytes)))
            // What the caller gives as the environment counts, not what the process has.
            #expect(throws: KeychainError(.unavailable, "")) {
                try source.material(prompt: nil, location: "file:/x", isNew: false, environment: [:])
            }
            let other = ["KEYCHAIN_TESTS_PASSPHRASE": "other"]
            let given = try source.material(prompt: nil, location: "file:/x", isNew: false, environment: other)
            #expect(given == .passphrase(SecureBytes(Data("other".utf8))))
        }
    }

    @Test func whatIsMissingIsUnavailableAndNamed() {
        let missing = folder.path + "/missing"
        let sources: [(KeySource, String)] = [
            (.environment("NOT_SET"), "NOT_SET"), (.file(missing), missing), (.keyFile(missing), missing),
            (.credential("db"), "db"), (.fileDescriptor(987_654), "987654"),
        ]
        for (source, name) in sources {
            let error = #expect(throws: KeychainError.self) { _ = try material(source) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains(name) == true)
        }
        #expect(throws: KeychainError(.unavailable, "")) {
            _ = try material(.credential("db"), environment: ["CREDENTIALS_DIRECTORY": folder.path])
        }
    }

    @Test func aCredentialIsANameAndNoPath() throws {
        _ = try folder.file("secret", [1])
        let environment = ["CREDENTIALS_DIRECTORY": folder.path + "/sub"]
        #expect(throws: KeychainError(.unavailable, "")) {
            _ = try material(.credential("../secret"), environment: environment)
        }
    }

    @Test func whatIsTooLargeIsRefused() throws {
        let largest = try folder.file("largest", [UInt8](repeating: 0x61, count: 65_536))
        #expect(try material(.file(largest)) == .passphrase(SecureBytes(Data(repeating: 0x61, count: 65_536))))
        let larger = try folder.file("larger", [UInt8](repeating: 0x61, count: 65_537))
        #expect(throws: KeychainError(.dataTooLarge, "")) { _ = try material(.file(larger)) }
        #expect(throws: KeychainError(.dataTooLarge, "")) { _ = try material(.file("/dev/zero")) }
        #expect(throws: KeychainError(.dataTooLarge, "")) { _ = try material(.keyFile("/dev/zero")) }
    }

    @Test(arguments: [0, 31, 33, 64])
    func aKeyHasThirtyTwoBytes(_ count: Int) throws {
        let file = try folder.file("key", [UInt8](repeating: 0x6B, count: count))
        let error = #expect(throws: KeychainError.self) { _ = try material(.keyFile(file)) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("kkk") == false)
    }

    @Test func aKeyIsTakenAsItIs() throws {
        let bytes = Array(repeating: UInt8(7), count: 31) + [0x0A]
        #expect(try material(.keyFile(folder.file("key", bytes))) == .key(SecureBytes(bytes)))
    }

    @Test func aFolderIsNoPassphrase() {
        #expect(throws: KeychainError(.invalidParameter, "")) { _ = try material(.file(folder.path)) }
    }

    @Test func aPathWithNULIsNotAShorterOne() throws {
        let file = try folder.file("p", [0x61])
        #expect(throws: KeychainError(.invalidParameter, "")) { _ = try material(.file(file + "\0x")) }
    }

    @Test func aFileThatMayNotBeReadIsAccessDenied() async throws {
        let file = try folder.file("p", [0x61], mode: 0o000)
        await #expect(processExitsWith: .success) { [file = file as String] in
            dropPrivileges()
            let error = #expect(throws: KeychainError.self) {
                try KeySource.file(file).material(prompt: nil, location: "file:/x", isNew: false)
            }
            #expect(error?.code == .accessDenied)
        }
    }

    private struct Prompt: PassphrasePrompt {
        func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
            guard location != "refuse" else { throw KeychainError(.userCanceled, "x") }
            return SecureBytes(Data("\(location) \(isNew)\n".utf8))
        }
    }

    @Test func thePersonIsAsked() throws {
        #expect(
            try material(.prompt, prompt: Prompt()) == passphrase("file:/x true\n"),
            "What is typed is kept as it is."
        )
        #expect(throws: KeychainError(.userCanceled, "")) {
            try KeySource.prompt.material(prompt: Prompt(), location: "refuse", isNew: false, environment: [:])
        }
        let error = #expect(throws: KeychainError.self) { _ = try material(.prompt) }
        #expect(error?.code == .interactionNotAllowed)
        #expect(error?.message.contains("KEYCHAIN_KEY") == true)
    }

    @Test func materialAtHandIsGivenBack() throws {
        let key = KeyMaterial.key(SecureBytes(Data(count: 32)))
        #expect(try material(.material(key)) == key)
    }

    @Test func nothingIsLeftOpen() async throws {
        let file = try folder.file("p", [0x61])
        await #expect(processExitsWith: .success) { [file = file as String] in
            // Of this file alone: the runtime opens descriptors of its own whenever it likes.
            func count() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == file
                }
            }
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            let before = try count()
            for source in [KeySource.file(file), .keyFile(file), .fileDescriptor(descriptor), .file(file + "x")] {
                for _ in 0..<10 { _ = try? source.material(prompt: nil, location: "file:/x", isNew: false) }
            }
            #expect(try count() == before)
        }
    }
}
