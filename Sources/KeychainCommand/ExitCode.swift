// SPDX-License-Identifier: MIT

import KeychainAPI

/// What the command's exit status says.
enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
    /// What was asked for has been done.
    case done = 0
    /// The store was able to look, and no item matches.
    case notFound = 1
    /// The command line, the environment or the value cannot be right, whatever the store holds: also text that is not
    /// UTF-8, and a value or attribute of more bytes than the store takes.
    case usage = 2
    /// An item or store is there already.
    case duplicate = 3
    /// Someone would have to be asked, and is not.
    case locked = 4
    /// The passphrase or key is not the store's.
    case wrongKey = 5
    /// There is no store to be reached: also where a folder, device, pipe or socket has the path of a file.
    case unavailable = 6
    /// There is a file, and it is no keychain file, a damaged one, or a former state of the one that was there.
    case damaged = 7
    /// It did not come to an end.
    case interrupted = 8
    /// The store or the system does not allow or cannot do it.
    case refused = 9
    /// The machine failed, or the library.
    case failed = 10

    /// The status in words, as the help shows it.
    var summary: String {
        switch self {
        case .done: "done"
        case .notFound: "not found"
        case .usage: "wrong usage, invalid parameter, too large a value or attribute"
        case .duplicate: "exists already"
        case .locked: "locked, and prompting is off, impossible or was dismissed"
        case .wrongKey: "wrong passphrase or key"
        case .unavailable: "store unavailable: no bus, no service, no file"
        case .damaged: "store damaged, or put back to a former state"
        case .interrupted: "timed out, cancelled or busy"
        case .refused: "refused: unsupported, read-only, access denied, insecure permissions, ambiguous"
        case .failed: "anything else: I/O, no space, internal"
        }
    }

    /// The status for a code of the library; a code of a later version is ``failed``.
    init(_ code: KeychainError.Code) {
        self =
            switch code {
            case .itemNotFound: .notFound
            case .invalidParameter, .dataTooLarge: .usage
            case .duplicateItem: .duplicate
            case .interactionNotAllowed, .userCanceled: .locked
            case .authenticationFailed: .wrongKey
            case .unavailable: .unavailable
            case .corrupt, .rolledBack: .damaged
            case .timedOut, .cancelled, .busy: .interrupted
            case .unsupported, .readOnly, .accessDenied, .insecurePermissions, .ambiguous: .refused
            default: .failed
            }
    }
}
