// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI

/// A new file that only its owner can read.
package enum PrivateFile {
    /// Makes a file and lets a closure write it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - action: What is being done, for errors; left out, that the file is written.
    ///   - body: Writes to the descriptor that it is given.
    /// - Returns: What the closure returns, once the disk has the file.
    /// - Throws: `duplicateItem` if something has the name; `invalidParameter` if there is no such folder; the system's
    ///   error, or what the closure throws. Then there is no new file.
    package static func create<Result>(
        _ path: String,
        action: String? = nil,
        _ body: (FileDescriptor) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let action = action ?? "The file ‘\(path)’ could not be written"
        let file: FileDescriptor
        do throws(KeychainError) {
            file = try FileDescriptor(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, action: action)
        } catch {
            if error.underlying?.code == Int(EEXIST) {
                throw KeychainError(.duplicateItem, "There is a file at ‘\(path)’ already. It was left as it is.")
            }
            // It is no store that is missing, but the folder of the file.
            if error.code == .unavailable {
                throw KeychainError(.invalidParameter, error.message, underlying: error.underlying)
            }
            throw error
        }
        do throws(KeychainError) {
            // Whatever the umask is.
            guard fchmod(file.number, 0o600) == 0 else { throw .system(errno, action) }
            let result = try body(file)
            guard retryingInterruptions({ fsync(file.number) }) == 0 else { throw .system(errno, action) }
            try syncFolder(of: path, action)
            return result
        } catch {
            _ = unlink(path)
            throw error
        }
    }

    /// Without this, the file may have no name after the power failed.
    private static func syncFolder(of path: String, _ action: String) throws(KeychainError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { $0 == path.utf8.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // A folder that may be written to and not read cannot be opened; what it holds is safe a little later.
        guard let descriptor = try? FileDescriptor(folder, O_RDONLY | O_DIRECTORY, action: action) else { return }
        guard retryingInterruptions({ fsync(descriptor.number) }) == 0 || errno == EINVAL || errno == EROFS else {
            throw .system(errno, action)
        }
    }
}

extension FileDescriptor {
    /// Writes all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - action: What is being done, for the error.
    /// - Throws: The system's error.
    package func write(_ bytes: UnsafeRawBufferPointer, action: @autoclosure () -> String) throws(KeychainError) {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            let written = retryingInterruptions { Glibc.write(number, start, rest.count) }
            guard written >= 0 else { throw .system(errno, action()) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }
}
