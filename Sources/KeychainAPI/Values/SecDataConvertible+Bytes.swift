// SPDX-License-Identifier: MIT

public import FoundationEssentials

extension Data: SecDataConvertible {
    /// Takes the bytes as they are.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) {
        self = rawRepresentation.withUnsafeBytes { Data($0) }
    }

    /// The bytes as they are.
    public var rawRepresentation: Data { self }
}

extension [UInt8]: SecDataConvertible {
    /// Takes the bytes as they are.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) {
        self = rawRepresentation.withUnsafeBytes { [UInt8]($0) }
    }

    /// The bytes as they are.
    public var rawRepresentation: Data { Data(self) }

    /// The bytes as they are, in guarded memory.
    public var secureRepresentation: SecureBytes { SecureBytes(self) }
}

extension SecureBytes: SecDataConvertible {
    /// Takes the bytes as they are.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) {
        self = (rawRepresentation as? SecureBytes) ?? SecureBytes(rawRepresentation)
    }

    /// A copy of the bytes in ordinary memory.
    public var rawRepresentation: Data { withUnsafeBytes { Data($0) } }

    /// The bytes themselves.
    public var secureRepresentation: SecureBytes { self }
}

extension String: SecDataConvertible {
    /// Reads UTF-8; bytes that are not UTF-8 are an error, never replaced.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        guard let text = rawRepresentation.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw CocoaError(.fileReadInapplicableStringEncoding)
        }
        self = text
    }

    /// The text as UTF-8.
    public var rawRepresentation: Data { Data(utf8) }

    /// The text as UTF-8, in guarded memory.
    public var secureRepresentation: SecureBytes {
        var text = self
        return text.withUTF8 { SecureBytes(UnsafeRawBufferPointer($0)) }
    }
}
