// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// Writes secrets to files and descriptors.
enum FileOutput {
    /// Writes all bytes to a descriptor.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: An open descriptor.
    ///   - action: What is being done, for the error.
    /// - Throws: ``CommandIO/brokenPipe``, or the system's error.
    static func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        _ action: @autoclosure () -> String
    ) throws(KeychainError) {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = Glibc.write(descriptor, start, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            case EPIPE: throw CommandIO.brokenPipe
            default: throw .system(errno, action())
            }
        }
    }

    /// Puts bytes into a new file that only its owner can read.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: The bytes.
    /// - Throws: As ``PrivateFile/create(_:_:)``. Then there is no new file.
    static func create(_ path: String, with bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        try PrivateFile.create(path) { (file) throws(KeychainError) in
            try file.write(bytes, action: "The file ‘\(path)’ could not be written")
        }
    }

    /// Puts bytes into a file that only its owner can read.
    ///
    /// They go into a new file beside it, which then takes its name: a link or a file with a looser mode is replaced and
    /// never written through, and no one ever sees half of the value.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - path: The file.
    /// - Throws: `unsupported` for a device, pipe or socket, which would be replaced by a file; the system's error. Then
    ///   there is no new file, and an old one is as it was.
    static func replace(_ path: String, with bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw KeychainError(.invalidParameter, "‘--output’ takes the path of a file.")
        }
        var status = stat()
        if stat(path, &status) == 0, [S_IFCHR, S_IFBLK, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) {
            throw KeychainError(
                .unsupported,
                "‘\(path)’ is no file, and ‘--output’ would put one in its place. To write to a pipe, use ‘--output -’."
            )
        }
        guard path.utf8.last != UInt8(ascii: "/"), status.st_mode & S_IFMT != S_IFDIR else {
            throw KeychainError(.invalidParameter, "‘\(path)’ is a folder. ‘--output’ takes the path of a file.")
        }
        let action = "The file ‘\(path)’ could not be written"
        let temporary = "\(path).\(UUID().uuidString)"
        try PrivateFile.create(temporary, action: action) { (file) throws(KeychainError) in
            try file.write(bytes, action: action)
        }
        guard rename(temporary, path) == 0 else {
            let number = errno
            _ = unlink(temporary)
            throw .system(number, action)
        }
    }
}
