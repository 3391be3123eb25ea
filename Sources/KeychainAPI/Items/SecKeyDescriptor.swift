// SPDX-License-Identifier: MIT

/// What kind of key is meant: its algorithm, and which half.
public struct SecKeyDescriptor: Hashable, Sendable {
    /// The algorithm.
    public let keyType: KeyType
    /// Which half.
    public let keyClass: KeyClass

    /// Makes a descriptor.
    ///
    /// - Parameters:
    ///   - keyType: The algorithm.
    ///   - keyClass: Which half.
    public init(keyType: KeyType, keyClass: KeyClass) {
        self.keyType = keyType
        self.keyClass = keyClass
    }

    /// The private half of an elliptic-curve key.
    public static let ecPrivateKey = SecKeyDescriptor(keyType: .ecsecPrimeRandom, keyClass: .private)
    /// The public half of an elliptic-curve key.
    public static let ecPublicKey = SecKeyDescriptor(keyType: .ecsecPrimeRandom, keyClass: .public)
    /// The private half of an RSA key.
    public static let rsaPrivateKey = SecKeyDescriptor(keyType: .rsa, keyClass: .private)
    /// The public half of an RSA key.
    public static let rsaPublicKey = SecKeyDescriptor(keyType: .rsa, keyClass: .public)
    /// A symmetric key for AES.
    public static let aesKey = SecKeyDescriptor(keyType: .aes, keyClass: .symmetric)
}
