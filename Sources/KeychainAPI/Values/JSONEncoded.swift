// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A `Codable` value that is stored as JSON (RFC 8259).
///
/// ```swift
/// try keychain.store(JSONEncoded(session), query: .credential(for: "session"))
/// let session: JSONEncoded<Session>? = try keychain.retrieve(.credential(for: "session"))
/// ```
///
/// The text is canonical: sorted keys, no blanks, dates as seconds since 1970, data in base64.
public struct JSONEncoded<Value: Codable & Sendable>: SecDataConvertible {
    /// The value.
    public let value: Value
    /// The value as JSON.
    public let rawRepresentation: Data

    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Throws: `invalidParameter` if it has no JSON form, such as an infinite number.
    public init(_ value: Value) throws(KeychainError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        do {
            rawRepresentation = try encoder.encode(value)
        } catch {
            throw KeychainError(.invalidParameter, "A value of type \(Value.self) could not be written as JSON.")
        }
        self.value = value
    }

    /// Decodes a value.
    ///
    /// - Parameter rawRepresentation: JSON.
    /// - Throws: What the decoder throws.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let data = rawRepresentation.withUnsafeBytes { Data($0) }
        value = try decoder.decode(Value.self, from: data)
        self.rawRepresentation = data
    }
}

extension JSONEncoded: CustomStringConvertible, CustomReflectable {
    /// The type; never the value.
    public var description: String { "JSONEncoded<\(Value.self)>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
