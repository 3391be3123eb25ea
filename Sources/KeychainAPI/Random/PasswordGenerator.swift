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

    /// How many characters a password has, the hyphens between groups included.
    public let length: Int
    /// How many characters stand between two hyphens, nil for a password without any.
    public let groupLength: Int?

    /// How many characters are chosen.
    private let count: Int

    /// Makes a generator of passwords without hyphens.
    ///
    /// - Parameter length: How many characters a password has, 3 to 4096.
    /// - Throws: `invalidParameter` for another length.
    public init(length: Int = 20) throws(KeychainError) {
        guard (3...4096).contains(length) else {
            throw KeychainError(.invalidParameter, "A password has 3 to 4096 characters.")
        }
        self.length = length
        groupLength = nil
        count = length
    }

    /// Makes a generator of passwords in groups with hyphens between them, as in `kPz-7mq-Wd4-xNb`.
    ///
    /// - Parameters:
    ///   - groupCount: How many groups a password has.
    ///   - groupLength: How many characters a group has.
    /// - Throws: `invalidParameter` if these are not 3 to 4096 characters in all, in one group or more.
    public init(groupCount: Int, groupLength: Int) throws(KeychainError) {
        let (count, overflow) = groupCount.multipliedReportingOverflow(by: groupLength)
        guard groupCount >= 1, groupLength >= 1, !overflow, (3...4096).contains(count) else {
            throw KeychainError(
                .invalidParameter,
                "A password has one group or more, of one character or more, and 3 to 4096 characters in all."
            )
        }
        self.init(groupCount: groupCount, groupLength: groupLength, count: count)
    }

    private init(groupCount: Int, groupLength: Int, count: Int) {
        length = count + groupCount - 1
        self.groupLength = groupLength
        self.count = count
    }

    /// Four groups of three characters, as Apple's systems suggest them for websites: about 69 bits (``entropy``).
    public static let website = PasswordGenerator(groupCount: 4, groupLength: 3, count: 12)

    /// The unpredictability of a password in bits, before the rule that each kind occurs: about 5.78 for a character, and
    /// none for a hyphen.
    public var entropy: Double {
        Double(count) * log2(Double((Self.lowercase + Self.uppercase + Self.digits).count))
    }

    /// A new password.
    ///
    /// - Complexity: O(length); a password without one of the kinds is thrown away and made again.
    public func next() -> String {
        let alphabet = Self.lowercase + Self.uppercase + Self.digits
        var generator = SystemRandomNumberGenerator()
        while true {
            let password = (0..<count).map { _ in alphabet.randomElement(using: &generator)! }
            let kinds = [Self.lowercase, Self.uppercase, Self.digits]
            guard kinds.allSatisfy({ kind in password.contains { kind.contains($0) } }) else { continue }
            guard let groupLength else { return String(password) }
            return stride(from: 0, to: count, by: groupLength)
                .map { String(password[$0..<min($0 + groupLength, count)]) }
                .joined(separator: "-")
        }
    }
}
