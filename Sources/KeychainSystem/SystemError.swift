// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI

extension KeychainError {
    /// The error for a failed system call.
    ///
    /// The code follows from `errno`, the sentence from what was being done; a remedy is added where one is known.
    ///
    /// - Parameters:
    ///   - number: The value of `errno`.
    ///   - action: What was being done, as in "The keychain file ‘x’ could not be opened".
    package static func system(_ number: Int32, _ action: String) -> KeychainError {
        let (code, remedy): (Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.unavailable, "Check that the path exists.")
            case EACCES, EPERM: (.accessDenied, "Check the owner and the permissions.")
            case EROFS: (.readOnly, "The file system is mounted read-only.")
            case ENOSPC, EDQUOT, EFBIG: (.outOfSpace, "Free some space and try again; nothing was lost.")
            case EAGAIN, EBUSY, ETXTBSY: (.busy, "Try again when the other process is done.")
            case ENAMETOOLONG, EINVAL, ELOOP, EISDIR: (.invalidParameter, "Check the path.")
            case EBADF: (.io, "It is closed, or open for the other direction; check how the program was started.")
            case EMFILE, ENFILE: (.io, "Too many files are open; close some or raise the limit (ulimit -n).")
            case ENOLCK, ENOSYS, EOPNOTSUPP: (.unsupported, "The file system cannot do this; use a local one.")
            default: (.io, "Check the disk and the system's log.")
            }
        let text = String(cString: strerror(number))
        return KeychainError(
            code,
            "\(action): \(text). \(remedy)",
            underlying: Underlying(domain: "errno", code: Int(number), message: text)
        )
    }
}
