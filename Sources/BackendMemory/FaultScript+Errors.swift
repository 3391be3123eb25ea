// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI
import KeychainSystem

extension FaultScript {
    /// The error of a code in the words of a store that really fails with it, for tests of what a person gets to read.
    ///
    /// - Parameter code: What went wrong.
    package static func error(_ code: KeychainError.Code) -> KeychainError {
        switch code {
        case .duplicateItem: .duplicateItem
        case .itemNotFound: .itemNotFound
        case .timedOut: CallContext.timedOut
        case .cancelled: CallContext.cancelled
        case .accessDenied: .system(EACCES, "The keychain file could not be opened")
        case .readOnly: .system(EROFS, "The keychain file could not be opened for writing")
        case .outOfSpace: .system(ENOSPC, "The keychain file could not be written")
        case .io: .system(EIO, "The keychain file could not be read")
        default: KeychainError(code, sentences[code] ?? "The test made this call fail.")
        }
    }

    private static let sentences: [KeychainError.Code: String] = [
        .interactionNotAllowed: "The keyring is locked. Unlock it and try again.",
        .userCanceled: "The keyring is locked, and the prompt was dismissed. Try again and answer it.",
        .unavailable:
            "No Secret Service runs on the session bus, and none can be started. Install and start one, for example "
            + "the package gnome-keyring, or use another store, for example file:.",
        .authenticationFailed:
            "The passphrase of the keychain file is wrong. Nothing was changed; try again with the right one.",
        .corrupt:
            "The value of the item is damaged, probably because the keyring's daemon was killed while it wrote. Store it "
            + "again; the attributes are intact.",
        .busy: "Another process is writing to the store. Try again when it is done, or allow more time.",
        .rolledBack:
            "The keychain file is older than when it was last seen here: someone has put a former state in its place.",
        .insecurePermissions:
            "The keychain file belongs to another user. Use one of your own, or change its owner (chown).",
    ]
}
