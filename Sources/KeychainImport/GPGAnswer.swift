// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// What GnuPG prints: the text in guarded memory, and its messages.
struct GPGAnswer {
    private var chunks: [(bytes: SecureBytes, count: Int)] = []
    private var errors: [UInt8] = []

    private static let chunkSize = 16 << 10
    /// How many bytes of messages are kept; the rest is read and dropped.
    private static let messageLimit = 64 << 10

    /// The messages, as text.
    var messages: String { String(decoding: errors, as: UTF8.self) }

    /// The text in one piece.
    var text: SecureBytes {
        SecureBytes(count: chunks.reduce(0) { $0 + $1.count }) { target in
            var start = 0
            for chunk in chunks {
                chunk.bytes.withBytes { bytes in
                    let place = UnsafeMutableRawBufferPointer(rebasing: target[start..<(start + chunk.count)])
                    place.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<chunk.count]))
                }
                start += chunk.count
            }
        }
    }

    /// Reads both ends together: a program that waits for one to be read would never end the other.
    ///
    /// - Throws: `dataTooLarge` for a text above the limit, and the system's error.
    mutating func read(_ process: ChildProcess, limit: Int) throws(KeychainError) {
        var files = [process.output, process.errors].compactMap { $0 }
        let output = process.output.number
        var total = 0
        while !files.isEmpty {
            var polled = files.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
            guard retryingInterruptions({ poll(&polled, nfds_t(polled.count), -1) }) >= 0 else {
                throw Self.failure(errno)
            }
            for ready in polled where ready.revents != 0 {
                let count = try ready.fd == output ? readText(output) : readMessage(ready.fd)
                if ready.fd == output { total += count }
                guard total <= limit else { throw KeychainError(.dataTooLarge, "The text is too large.") }
                if count == 0 { files.removeAll { $0.number == ready.fd } }
            }
        }
    }

    private mutating func readText(_ file: Int32) throws(KeychainError) -> Int {
        var count = 0
        var number: Int32 = 0
        let bytes = SecureBytes(count: Self.chunkSize) { bytes in
            count = retryingInterruptions { Glibc.read(file, bytes.baseAddress!, bytes.count) }
            number = errno
        }
        guard count >= 0 else { throw Self.failure(number) }
        if count > 0 { chunks.append((bytes, count)) }
        return count
    }

    private mutating func readMessage(_ file: Int32) throws(KeychainError) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = retryingInterruptions { Glibc.read(file, &buffer, buffer.count) }
        guard count >= 0 else { throw Self.failure(errno) }
        errors += buffer[..<count].prefix(max(0, Self.messageLimit - errors.count))
        return count
    }

    private static func failure(_ number: Int32) -> KeychainError {
        .system(number, "What gpg prints could not be read")
    }
}
