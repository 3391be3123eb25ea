// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// How the values of a ``KeychainKey`` become bytes, and values again.
///
/// ``raw`` is for types that have a form of their own, ``json`` for any `Codable` type. A codec of your own is two
/// closures.
public struct KeychainCodec<Value: Sendable>: Sendable {
    private let encoder: @Sendable (Value) throws -> SecureBytes
    private let decoder: @Sendable (SecureBytes) throws -> Value

    /// Makes a codec.
    ///
    /// - Parameters:
    ///   - encode: Makes bytes of a value.
    ///   - decode: Makes a value of bytes; throws any error for bytes that are none.
    public init(
        encode: @escaping @Sendable (Value) throws -> SecureBytes,
        decode: @escaping @Sendable (SecureBytes) throws -> Value
    ) {
        encoder = encode
        decoder = decode
    }

    func encode(_ value: Value, for key: String) throws(KeychainError) -> SecureBytes {
        do {
            return try encoder(value)
        } catch {
            // The codec's own error is not passed on: its text may quote the value.
            throw KeychainError(.invalidParameter, "The value for the key ‘\(key)’ has no form that can be stored.")
        }
    }

    func decode(_ bytes: SecureBytes, for key: String) throws(KeychainError) -> Value {
        do {
            return try decoder(bytes)
        } catch {
            throw KeychainError(
                .decode,
                "The item of the key ‘\(key)’ exists, but its value is not a \(Value.self). Read it with the type and the "
                    + "codec that it was stored with."
            )
        }
    }
}

extension KeychainCodec where Value: SecDataConvertible {
    /// The type's own form: text as UTF-8, numbers as text, bytes as they are.
    public static var raw: KeychainCodec {
        KeychainCodec {
            $0.secureRepresentation
        } decode: {
            try Value(rawRepresentation: $0)
        }
    }
}

extension KeychainCodec where Value: Codable {
    /// Canonical JSON, see ``JSONEncoded``: sorted keys, no blanks, dates as seconds since 1970, data in base64.
    ///
    /// Arrays of any of the simple types are JSON arrays.
    public static var json: KeychainCodec {
        KeychainCodec {
            try JSONEncoded($0).secureRepresentation
        } decode: {
            try JSONEncoded<Value>(rawRepresentation: $0).value
        }
    }

    /// Canonical JSON with the number of its version: `{"value":…,"version":2}`.
    ///
    /// ```swift
    /// static let session = KeychainKey<Session>("session", codec: .json(version: 2) { version, old in
    ///     Session(try JSONDecoder().decode(SessionV1.self, from: old))
    /// })
    /// ```
    ///
    /// What was stored by ``json``, without a version, has the version 0.
    ///
    /// - Parameters:
    ///   - version: The version that is written, at least 1.
    ///   - migrate: Makes a value of the JSON of another version, older or newer; throws for one that it does not know.
    public static func json(
        version: Int,
        migrate: @escaping @Sendable (_ version: Int, _ json: Data) throws -> Value
    ) -> KeychainCodec {
        precondition(version >= 1, "The versions of a codec begin with 1")
        return KeychainCodec {
            try JSONEncoded(Versioned(version: version, value: $0)).secureRepresentation
        } decode: { bytes in
            guard let found = (try? JSONEncoded<VersionAlone>(rawRepresentation: bytes))?.value.version else {
                return try migrate(0, bytes.rawRepresentation)
            }
            if found == version { return try JSONEncoded<Versioned<Value>>(rawRepresentation: bytes).value.value }
            return try migrate(found, try VersionAlone.value(in: bytes))
        }
    }
}

/// A value with the version of its form.
private struct Versioned<Value: Codable & Sendable>: Codable, Sendable {
    let version: Int
    let value: Value
}

/// What every version has, and nothing else of it.
private struct VersionAlone: Codable, Sendable {
    let version: Int

    /// The JSON of the value, as it stands between the braces.
    static func value(in bytes: SecureBytes) throws -> Data {
        let text = bytes.withBytes { [UInt8]($0) }
        let (start, end) = (Array(#"{"value":"#.utf8), Array(#","version":"#.utf8))
        // The canonical form has two keys, in this order; the number behind the second one has no comma.
        guard text.starts(with: start), let comma = text.lastIndex(of: end[0]), text[comma...].starts(with: end) else {
            throw CocoaError(.formatting)
        }
        return Data(text[start.count..<comma])
    }
}
