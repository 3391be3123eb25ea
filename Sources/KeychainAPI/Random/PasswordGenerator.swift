// SPDX-License-Identifier: MIT

import Glibc

/// Makes passwords that people can read aloud and type.
///
/// The characters are ASCII letters and digits without those that look alike (`0 O o 1 l I i`), chosen evenly by the
/// system's cryptographic source. Each password has at least one lower-case letter, one upper-case letter and one
/// digit.
public struct PasswordGenerator: Sendable, Hashable {
    private static let lowercase = Array("abcdefghjkmnpqrstuvwxyz")
    private static let uppercase = Array("ABCDEFGHJKLMNPQRSTUVWXYZ")
    private static let digits = Array("23456789")

    /// How many characters a password has.
    public let length: Int

    /// Makes a generator.
    ///
    /// - Parameter length: How many characters a password has, 3 to 4096.
    /// - Throws: `invalidParameter` for another length.
    public init(length: Int = 20) throws(KeychainError) {
        guard (3...4096).contains(length) else {
            throw KeychainError(.invalidParameter, "A password has 3 to 4096 characters.")
        }
        self.length = length
    }

    /// The unpredictability of a password in bits, before the rule that each kind occurs: about 5.78 for a character.
    public var entropy: Double {
        Double(length) * log2(Double((Self.lowercase + Self.uppercase + Self.digits).count))
    }

    /// A new password.
    ///
    /// - Complexity: O(length); a password without one of the kinds is thrown away and made again.
    public func next() -> String {
        let alphabet = Self.lowercase + Self.uppercase + Self.digits
        var generator = SystemRandomNumberGenerator()
        while true {
            let password = (0..<length).map { _ in alphabet.randomElement(using: &generator)! }
            let kinds = [Self.lowercase, Self.uppercase, Self.digits]
            guard kinds.allSatisfy({ kind in password.contains { kind.contains($0) } }) else { continue }
            return String(password)
        }
    }
}
