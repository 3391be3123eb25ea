// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import SwiftKeychain

/// A socket at which clients say a line and are told ‘welcome’ or ‘refused’, one after the other.
struct Door: Sendable {
    /// Why a socket cannot be used.
    struct Failure: LocalizedError {
        let errorDescription: String?
    }

    private let socket: Int32

    /// Makes the socket, in the place of one that an earlier run has left.
    init(path: String) throws(Failure) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8) + [0]
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(errorDescription: "‘\(path)’ is too long for a socket. Choose a shorter RUNTIME_DIRECTORY.")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        unlink(path)
        let isBound = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(socket, 16) == 0 else {
            throw Failure(errorDescription: "‘\(path)’ cannot be made. Look at the permissions of RUNTIME_DIRECTORY.")
        }
    }

    /// Answers clients for as long as the program runs.
    func serve(_ gate: Gate) -> Never {
        while true {
            let client = accept(socket, nil, nil)
            guard client >= 0 else { continue }
            // No one keeps the others waiting for long.
            var patience = timeval(tv_sec: 1, tv_usec: 0)
            setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            let answer = Array((gate.lets(in: line(of: client)) ? "welcome\n" : "refused\n").utf8)
            send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
            close(client)
        }
    }

    /// What a client says up to the end of its line, at most 1 KiB.
    private func line(of client: Int32) -> SecureBytes {
        var count = 0
        let buffer = SecureBytes(count: 1024) { bytes in
            while count < bytes.count {
                let read = recv(client, bytes.baseAddress! + count, 1, 0)
                guard read == 1, bytes[count] != UInt8(ascii: "\n") else { return }
                count += 1
            }
        }
        return buffer.withBytes { SecureBytes(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}
