// SPDX-License-Identifier: MIT

import KeychainAPI

/// What the command's exit status says.
enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
    case done = 0
    case notFound = 1
    case usage = 2
    case duplicate = 3
    case locked = 4
    case wrongKey = 5
    case unavailable = 6
    case damaged = 7
    case interrupted = 8
    case refused = 9
    case failed = 10

    /// The status in words, as the help shows it.
    var summary: String {
        switch self {
        case .done: "done"
        case .notFound: "not found"
        case .usage: "wrong usage, invalid parameter"
        case .duplicate: "exists already"
        case .locked: "locked, and prompting is off, impossible or was dismissed"
        case .wrongKey: "wrong passphrase or key"
        case .unavailable: "store unavailable: no bus, no service, no file"
        case .damaged: "store damaged"
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
            case .invalidParameter: .usage
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
