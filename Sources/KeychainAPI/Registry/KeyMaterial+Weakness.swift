// SPDX-License-Identifier: MIT

extension KeyMaterial {
    /// Why a passphrase is easy to guess, as a clause; nil if nothing speaks against it, and for a key.
    ///
    /// An estimate by a few simple rules, to warn who chooses a passphrase: it finds the worst ones, and that it finds
    /// nothing does not make one strong. Nothing of the passphrase is in the text.
    ///
    /// - Complexity: O(n) in its length.
    public var weakness: String? {
        guard case .passphrase(let passphrase) = self else { return nil }
        return passphrase.withBytes { bytes in
            if bytes.isEmpty { return "it is empty" }
            if bytes.count < Self.shortest { return "it is shorter than \(Self.shortest) bytes" }
            if (1..<Self.shortest).contains(where: { Self.isRepetition(bytes, of: $0) }) {
                return "it is one short piece, repeated"
            }
            if Self.isSequence(bytes) { return "it is a sequence of characters" }
            // Twenty random digits are as good as eleven random characters of any kind.
            if bytes.count < 20, bytes.allSatisfy(Self.isDigit) { return "it has digits alone" }
            if Self.isCommon(bytes) { return "it is one of the most common ones" }
            return nil
        }
    }

    private static let shortest = 12

    /// What people choose most, without the digits and signs that they put around it.
    private static let common = [
        "administrator", "changeme", "correcthorsebatterystaple", "iloveyou", "keychain", "letmein", "login",
        "passphrase",
        "passwort", "password", "qwerty", "qwertyuiop", "qwertyuiopasdfghjkl", "qwertzuiop", "secret", "welcome",
    ].map { Array($0.utf8) }

    private static func isRepetition(_ bytes: UnsafeRawBufferPointer, of count: Int) -> Bool {
        count * 2 <= bytes.count && (count..<bytes.count).allSatisfy { bytes[$0] == bytes[$0 - count] }
    }

    /// Whether each byte is one above the one before it, or each one below.
    private static func isSequence(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let step = bytes[1] &- bytes[0]
        return (step == 1 || step == 255) && (1..<bytes.count).allSatisfy { bytes[$0] &- bytes[$0 - 1] == step }
    }

    private static func isCommon(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.firstIndex(where: isLetter), let last = bytes.lastIndex(where: isLetter) else {
            return false
        }
        // Compared in place: a copy would be ordinary memory.
        return common.contains { $0.elementsEqual(bytes[first...last].lazy.map { $0 | 0x20 }) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
