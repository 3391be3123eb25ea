// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A symmetric key of 128, 192 or 256 bits, for AES.
///
/// ```swift
/// let key = try AESKey.generate(bits: 256)
/// try keychain.store(key, query: .key(for: "com.example.cache", descriptor: .aesKey))
/// let found: AESKey? = try keychain.retrieve(.key(for: "com.example.cache", descriptor: .aesKey))
/// ```
///
/// Nothing prints it.
public struct AESKey: Sendable, Equatable {
    /// The key, in guarded memory.
    public let bytes: SecureBytes

    /// Makes a new key with the system's generator.
    ///
    /// - Parameter bits: 128, 192 or 256.
    /// - Throws: `invalidParameter` for another size.
    public static func generate(bits: Int = 256) throws(KeychainError) -> AESKey {
        guard [128, 192, 256].contains(bits) else {
            throw KeychainError(.invalidParameter, "An AES key has 128, 192 or 256 bits; choose 256.")
        }
        var generator = try SecureRandomDataGenerator(count: bits / 8)
        return AESKey(bytes: SecureBytes(try generator.next()))
    }

    private init(bytes: SecureBytes) {
        self.bytes = bytes
    }

    /// The size: 128, 192 or 256.
    public var sizeInBits: Int { bytes.count * 8 }
}

extension AESKey: SecDataConvertible {
    /// Takes the bytes of a key.
    ///
    /// - Parameter rawRepresentation: 16, 24 or 32 bytes.
    /// - Throws: `decode` for another number of bytes.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let bytes = SecureBytes(rawRepresentation: rawRepresentation)
        guard [16, 24, 32].contains(bytes.count) else {
            throw KeychainError(.decode, "An AES key has 16, 24 or 32 bytes.")
        }
        self.init(bytes: bytes)
    }

    /// A copy of the key in ordinary memory.
    public var rawRepresentation: Data { bytes.rawRepresentation }

    /// The key itself.
    public var secureRepresentation: SecureBytes { bytes }
}

extension AESKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The size; never the key.
    public var description: String { "AES key of \(sizeInBits) bits" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
