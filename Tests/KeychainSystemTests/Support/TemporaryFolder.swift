// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A folder that goes with its last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let parent = URL(filePath: NSTemporaryDirectory()).standardizedFileURL
        var template = Array(parent.appending(path: "keychain-tests-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Others may look in, so that what a test forbids them is forbidden by what it tests.
        chmod(path, 0o755)
    }

    func file(_ name: String, _ bytes: [UInt8] = [], mode: mode_t = 0o600) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        chmod(file, mode)
        return file
    }

    func pipe(_ name: String) throws -> String {
        guard mkfifo(path + "/" + name, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path + "/" + name
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// The mode and owner of a file.
func status(_ path: String) -> (mode: mode_t, owner: uid_t)? {
    var status = stat()
    return lstat(path, &status) == 0 ? (status.st_mode & 0o7777, status.st_uid) : nil
}

/// Becomes a user without any privilege, in a process of its own; one that has none stays who it is.
func dropPrivileges() {
    guard geteuid() == 0 else { return }
    // For root the two set the real, the effective and the saved number.
    guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else {
        fatalError("Privileges could not be dropped.")
    }
}

/// Runs a closure that blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Writes a line into a named pipe, and waits for a reader.
func tell(_ pipe: String, _ line: String = "go") {
    let file = open(pipe, O_WRONLY | O_CLOEXEC)
    _ = write(file, line, line.utf8.count)
    close(file)
}

/// Waits for what is written into a named pipe.
func hear(_ pipe: String) -> String {
    let file = open(pipe, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
