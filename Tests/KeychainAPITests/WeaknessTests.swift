// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

/// What is said of a passphrase that is being chosen.
struct WeaknessTests {
    private func weakness(_ text: String) -> String? { KeyMaterial.passphrase(SecureBytes(Data(text.utf8))).weakness }

    @Test(arguments: [
        ("", "empty"), ("hunter2", "shorter"), ("elevenbytes", "shorter"), ("aaaaaaaaaaaa", "repeated"),
        ("abababababab", "repeated"), ("elevenbyteselevenbytes", "repeated"), ("passwordpassword", "repeated"),
        ("abcdefghijklmnop", "sequence"), ("zyxwvutsrqpo", "sequence"), ("123456789012", "digits"),
        ("1928374650918", "digits"), ("Password12345", "common"), ("123password!!", "common"),
        ("QWERTYuiop12", "common"),
        ("correcthorsebatterystaple", "common"), ("administrator", "common"),
    ])
    func theWorstAreFound(text: String, reason: String) {
        #expect(weakness(text)?.contains(reason) == true, "\(weakness(text) ?? "nothing")")
    }

    @Test(arguments: [
        "correct horse battery staple", "twelve bytes", "mV7rqKx2TdWp", "79203641857392016485", "пароль и ещё",
        "password of the vault",
        "\u{0}\u{1}\u{7}\u{3}\u{9}\u{0}\u{2}\u{8}\u{4}\u{4}\u{0}\u{1}\u{0}", "!!!!!!!!!!!?",
    ])
    func nothingIsSaidOfOthers(text: String) {
        #expect(weakness(text) == nil)
    }

    @Test func aKeyIsNoPassphrase() {
        #expect(KeyMaterial.key(SecureBytes(Data(repeating: 0, count: 32))).weakness == nil)
    }

    @Test func nothingOfThePassphraseIsRepeated() {
        for text in ["hunter2", "Password12345", "aaaaaaaaaaaa"] { #expect(weakness(text)?.contains(text) == false) }
    }
}
