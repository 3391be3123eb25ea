// SPDX-License-Identifier: MIT

import KeychainAPI

/// What GnuPG said while it decrypted: its status lines (doc/DETAILS in its source) among those for people.
struct GPGReport {
    private let statuses: [[Substring]]
    private let words: String

    private static let mark = "[GNUPG:] "

    init(_ text: String) {
        let lines = text.split(separator: "\n")
        statuses = lines.filter { $0.hasPrefix(Self.mark) }.map { $0.dropFirst(Self.mark.count).split(separator: " ") }
        words = lines.filter { !$0.hasPrefix(Self.mark) }.joined(separator: " ")
    }

    /// Whether what came was an encrypted message, and whole.
    var isDecrypted: Bool { has("DECRYPTION_OKAY") }

    private func has(_ status: String) -> Bool { statuses.contains { $0.first.map { $0 == status } ?? false } }

    /// The codes of errors, without the part of GnuPG that they come from (gpg-error(1)).
    private var codes: [Int] {
        statuses.filter { $0.count >= 3 && $0[0] == "ERROR" }.compactMap { Int($0[2]) }.map { $0 & 0xFFFF }
    }

    /// Why an entry could not be decrypted.
    func error(_ name: String, _ status: Int32?) -> KeychainError {
        let (code, message) = reason
        return KeychainError(
            code,
            "The entry ‘\(name)’ could not be decrypted, and nothing was imported: \(message)",
            underlying: KeychainError.Underlying(
                domain: "gpg",
                code: status.map(Int.init) ?? -1,
                message: String(words.prefix(400))
            )
        )
    }

    private var reason: (KeychainError.Code, String) {
        // GPG_ERR_CANCELED and GPG_ERR_FULLY_CANCELED; GPG_ERR_BAD_PASSPHRASE; GPG_ERR_NO_AGENT, GPG_ERR_AGENT,
        // GPG_ERR_NO_PIN_ENTRY and GPG_ERR_PIN_ENTRY (gpg-error(1)).
        if codes.contains(where: [99, 198].contains) {
            return (.userCanceled, "the question for the passphrase was dismissed.")
        }
        if codes.contains(11) { return (.authenticationFailed, "the passphrase of the key is wrong.") }
        if codes.contains(where: [77, 78, 85, 86].contains) {
            return (
                .interactionNotAllowed,
                "the key is locked, and its agent cannot ask for the passphrase. Unlock it first, as with: pass show "
                    + "ENTRY"
            )
        }
        if has("NO_SECKEY") || codes.contains(17) {
            return (
                .authenticationFailed,
                "the secret key that it is encrypted for is not here. Import the key with gpg, or set GNUPGHOME."
            )
        }
        if !codes.isEmpty { return (.io, "GnuPG’s agent did not decrypt it. Try it with: pass show ENTRY") }
        return (.corrupt, "it is no message that GnuPG encrypted, or was cut or changed. Restore the file.")
    }
}
