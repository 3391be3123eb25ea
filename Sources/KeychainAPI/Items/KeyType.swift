// SPDX-License-Identifier: MIT

/// The algorithm of a key.
///
/// The raw value is Apple's (`kSecAttrKeyType…`) where Apple has one.
public struct KeyType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number as text.
    public let rawValue: String

    /// Makes a type from Apple's number.
    ///
    /// - Parameter rawValue: The number as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// RSA.
    public static let rsa = KeyType(rawValue: "42")
    /// An elliptic curve over a prime field: P-256, P-384, P-521.
    public static let ecsecPrimeRandom = KeyType(rawValue: "73")

    /// Signatures by Edwards-curve 25519; not one of Apple's numbers.
    public static let ed25519 = KeyType(rawValue: "ed25519")
    /// Key agreement by Montgomery-curve 25519; not one of Apple's numbers.
    public static let x25519 = KeyType(rawValue: "x25519")
    /// A symmetric key: bytes.
    public static let aes = KeyType(rawValue: "2147483649")

    /// The algorithm in a word.
    public var description: String {
        switch self {
        case .rsa: "RSA"
        case .ecsecPrimeRandom: "EC"
        case .ed25519: "Ed25519"
        case .x25519: "X25519"
        case .aes: "AES"
        default: rawValue
        }
    }
}
