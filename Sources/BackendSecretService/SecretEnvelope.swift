// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI

    /// The form in which a value lies in the service: as it is where every server keeps it, else as one line of ASCII.
    ///
    /// The line is `keychain-1:CHECKSUM:BASE64.`, where CHECKSUM is the CRC-32 of the value (ISO 3309, as in zip and
    /// PNG) in eight lower-case hexadecimal digits and BASE64 has no line breaks. The full stop makes every cut
    /// visible, the checksum every change. A CRC and not a cryptographic hash: it guards against accidents, and
    /// leaves no state derived from the secret behind in memory.
    enum SecretEnvelope {
        static let magic = Array("keychain-1:".utf8)
        private static let headerCount = magic.count + 9

        /// Whether a value has to be wrapped to come back unaltered from every server.
        ///
        /// Plain is what is not empty, valid UTF-8, on one line, without NUL, backslash, a byte order mark at the
        /// beginning and leading or trailing blanks, and cannot be taken for an envelope. Other control characters count
        /// as line breaks.
        ///
        /// - Complexity: O(n) in the number of bytes.
        static func needsWrapping(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard let first = bytes.first, let last = bytes.last, first != 0x20, last != 0x20 else { return true }
            if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0x5C }) || bytes.starts(with: magic) {
                return true
            }
            return !isPlainText(bytes)
        }

        /// Whether the bytes are UTF-8 without the line breaks and blanks that Unicode has beyond ASCII.
        private static func isPlainText(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard bytes.contains(where: { $0 >= 0x80 }) else { return true }
            var decoder = UTF8()
            var iterator = bytes.makeIterator()
            var isFirst = true
            var endsWithBlank = false
            while true {
                switch decoder.decode(&iterator) {
                case .scalarValue(let scalar):
                    // NEL, LINE SEPARATOR and PARAGRAPH SEPARATOR break lines.
                    if [0x85, 0x2028, 0x2029].contains(scalar.value) { return false }
                    // A byte order mark at the beginning is lost in services written with Qt.
                    if isFirst && scalar.value == 0xFEFF { return false }
                    endsWithBlank = scalar.properties.isWhitespace
                    if isFirst && endsWithBlank { return false }
                    isFirst = false
                case .emptyInput: return !endsWithBlank
                case .error: return false
                }
            }
        }

        /// The line that stands for a value.
        static func wrap(_ value: SecureBytes) -> SecureBytes {
            value.withBytes { bytes in
                let count = headerCount + (bytes.count + 2) / 3 * 4 + 1
                return SecureBytes(count: count) { line in
                    line.copyBytes(from: magic)
                    let checksum = String(CRC32.checksum(of: bytes), radix: 16)
                    let padded = String(repeating: "0", count: 8 - checksum.count) + checksum + ":"
                    UnsafeMutableRawBufferPointer(rebasing: line[magic.count...]).copyBytes(from: padded.utf8)
                    Base64.encode(bytes, into: UnsafeMutableRawBufferPointer(rebasing: line[headerCount..<(count - 1)]))
                    line[count - 1] = UInt8(ascii: ".")
                }
            }
        }

        /// Whether bytes that came from the service are a line of ours, whole or damaged.
        static func isWrapped(_ bytes: SecureBytes) -> Bool {
            bytes.withBytes { $0.starts(with: magic) }
        }

        /// The value that a line stands for.
        ///
        /// - Throws: `corrupt` if the line was cut or changed.
        static func unwrap(_ line: SecureBytes) throws(KeychainError) -> SecureBytes {
            try line.withBytes { (bytes) throws(KeychainError) -> SecureBytes in
                guard bytes.count > headerCount, bytes[headerCount - 1] == UInt8(ascii: ":"),
                    bytes[bytes.count - 1] == UInt8(ascii: "."),
                    let checksum = UInt32(
                        String(decoding: bytes[magic.count..<(headerCount - 1)], as: UTF8.self),
                        radix: 16
                    )
                else { throw damaged }
                let value = try decoded(UnsafeRawBufferPointer(rebasing: bytes[headerCount..<(bytes.count - 1)]))
                guard value.withBytes({ CRC32.checksum(of: $0) }) == checksum else { throw damaged }
                return value
            }
        }

        /// Writes a value as another program's item has it that keeps base 64.
        static func base64(_ value: SecureBytes) -> SecureBytes {
            value.withBytes { bytes in
                SecureBytes(count: (bytes.count + 2) / 3 * 4) { Base64.encode(bytes, into: $0) }
            }
        }

        /// The value that base 64 stands for.
        ///
        /// - Throws: `corrupt` if it is none.
        static func decodedBase64(_ text: SecureBytes) throws(KeychainError) -> SecureBytes {
            try text.withBytes(decoded)
        }

        private static func decoded(_ text: UnsafeRawBufferPointer) throws(KeychainError) -> SecureBytes {
            guard let count = Base64.decodedCount(text) else { throw damaged }
            return try SecureBytes(count: count) { (target) throws(KeychainError) in
                guard Base64.decode(text, into: target) else { throw damaged }
            }
        }

        /// The error for a value that was only partly written.
        static let damaged = KeychainError(
            .corrupt,
            "The value of the item is damaged, probably because the keyring's daemon was killed while it wrote. "
                + "Store it "
                + "again; the attributes are intact."
        )
    }

    /// CRC-32 (ISO 3309), reflected, polynomial 0xEDB88320.
    enum CRC32 {
        private static let table: [UInt32] = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }

        static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
            table.withUnsafeBufferPointer { table in
                var value: UInt32 = 0xFFFF_FFFF
                for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
                return ~value
            }
        }
    }

    /// Base 64 (RFC 4648, 4) between two buffers, so that no copy of a secret is made on the way.
    enum Base64 {
        private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        private static let padding = UInt8(ascii: "=")
        private static let values: [UInt8] = {
            var values = [UInt8](repeating: 0xFF, count: 256)
            for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
            return values
        }()

        /// Writes four characters for each three bytes; the target has exactly the room for them.
        static func encode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
            alphabet.withUnsafeBufferPointer { alphabet in
                var source = 0
                var position = 0
                while source < bytes.count {
                    let left = bytes.count - source
                    var group = UInt32(bytes[source]) << 16
                    if left > 1 { group |= UInt32(bytes[source + 1]) << 8 }
                    if left > 2 { group |= UInt32(bytes[source + 2]) }
                    target[position] = alphabet[Int(group >> 18)]
                    target[position + 1] = alphabet[Int(group >> 12 & 63)]
                    target[position + 2] = left > 1 ? alphabet[Int(group >> 6 & 63)] : padding
                    target[position + 3] = left > 2 ? alphabet[Int(group & 63)] : padding
                    source += 3
                    position += 4
                }
            }
        }

        /// How many bytes a text stands for, nil if its length cannot be right.
        static func decodedCount(_ text: UnsafeRawBufferPointer) -> Int? {
            guard text.count % 4 == 0 else { return nil }
            return text.count / 4 * 3 - text.suffix(2).count { $0 == padding }
        }

        /// Writes the bytes that a text stands for; false if it is not the canonical form of any.
        static func decode(_ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
            values.withUnsafeBufferPointer { values in
                var position = 0
                for source in stride(from: 0, to: text.count, by: 4) {
                    let wanted = min(3, target.count - position)
                    var group: UInt32 = 0
                    for index in 0..<4 {
                        let character = text[source + index]
                        let isPadding = index > wanted
                        if isPadding != (character == padding) { return false }
                        let value = isPadding ? 0 : values[Int(character)]
                        guard value != 0xFF else { return false }
                        group = group << 6 | UInt32(value)
                    }
                    for index in 0..<wanted {
                        target[position + index] = UInt8(truncatingIfNeeded: group >> (16 - 8 * index))
                    }
                    // Bits beyond the last byte must be zero, or two texts would stand for the same bytes.
                    if wanted < 3 && group << (8 + 8 * UInt32(wanted)) != 0 { return false }
                    position += wanted
                }
                return position == target.count
            }
        }
    }
#endif
