// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import KeychainSystem

/// A process as polkit knows it: with the time of its start, so that no later process with its number is taken for it.
struct PolkitSubject {
    let process: pid_t
    let startTime: UInt64
    let user: uid_t

    /// This process.
    ///
    /// - Parameter user: Whose it is.
    /// - Throws: The system's error if /proc cannot be read.
    static func current(of user: uid_t) throws(KeychainError) -> PolkitSubject {
        let action = "The time at which this process was started could not be read from /proc/self/stat"
        let file = try FileDescriptor("/proc/self/stat", O_RDONLY, action: action)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = retryingInterruptions { read(file.number, &buffer, buffer.count) }
        guard count >= 0 else { throw .system(errno, action) }
        guard let startTime = startTime(in: buffer[..<count]) else { throw KeychainError(.internal, "\(action).") }
        return PolkitSubject(process: getpid(), startTime: startTime, user: user)
    }

    /// The 22nd field of a process's `stat` (proc(5)).
    ///
    /// The second one is a name between parentheses that may itself have parentheses and spaces; none of those behind it
    /// has any.
    static func startTime(in stat: ArraySlice<UInt8>) -> UInt64? {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // The first one here is the third one.
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }

    /// As pkcheck(1) takes it.
    var text: String { "\(process),\(startTime),\(user)" }
}
