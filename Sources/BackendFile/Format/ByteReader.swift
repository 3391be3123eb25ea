// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI

    /// Reads little-endian values from bytes that nobody vouches for: whatever they are, it throws and never traps.
    ///
    /// Valid only inside the closure that gave the bytes.
    struct ByteReader {
        private let bytes: UnsafeRawBufferPointer
        private(set) var position = 0

        /// Reads from the beginning of a place.
        init(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
        }

        /// How many bytes have not been read.
        var remaining: Int { bytes.count - position }

        /// The next bytes.
        @inline(__always)
        mutating func slice(_ count: Int) throws(KeychainError) -> UnsafeRawBufferPointer {
            guard count >= 0, count <= remaining else { throw Self.tooShort }
            defer { position += count }
            return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
        }

        /// The next bytes, copied.
        mutating func array(_ count: Int) throws(KeychainError) -> [UInt8] {
            [UInt8](try slice(count))
        }

        /// The next number.
        mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws(KeychainError) -> Number {
            Number(littleEndian: try slice(MemoryLayout<Number>.size).loadUnaligned(as: Number.self))
        }

        /// The next bytes, as text that has to be UTF-8.
        mutating func text(_ count: Int) throws(KeychainError) -> String {
            let bytes = try slice(count)
            // ASCII needs no validation, which takes longer than all else that is done to a record.
            if bytes.isASCII { return String(decoding: bytes, as: UTF8.self) }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.notText }
            return text
        }

        /// The next bytes, which have to be UTF-8, as they are.
        mutating func textBytes(_ count: Int) throws(KeychainError) -> UnsafeRawBufferPointer {
            let bytes = try slice(count)
            guard bytes.isASCII || String(validating: bytes, as: UTF8.self) != nil else { throw Self.notText }
            return bytes
        }

        /// The next bytes with the four bytes before them that say how many they are.
        mutating func counted() throws(KeychainError) -> UnsafeRawBufferPointer {
            let start = position
            _ = try slice(Int(integer(UInt32.self)))
            return slice(from: start)
        }

        /// The next value of an attribute: its form and its bytes.
        mutating func attributeValue() throws(KeychainError) -> UnsafeRawBufferPointer {
            let start = position
            switch try integer(UInt8.self) {
            case 1, 2: _ = try counted()
            case 3: _ = try slice(8)
            default: _ = try slice(1)
            }
            return slice(from: start)
        }

        /// The bytes from a position that was passed to this one.
        func slice(from start: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[start..<position])
        }

        /// The next truth value, which has to be 0 or 1.
        mutating func boolean() throws(KeychainError) -> Bool {
            switch try integer(UInt8.self) {
            case 0: return false
            case 1: return true
            default: throw .damaged("a truth value is neither 0 nor 1")
            }
        }

        private static let tooShort = KeychainError.damaged("a record ends too early")
        private static let notText = KeychainError.damaged("a text is not UTF-8")
    }

    extension UnsafeRawBufferPointer {
        /// Whether all bytes are ASCII, as most text is: looked at eight at a time.
        var isASCII: Bool { union & 0x8080_8080_8080_8080 == 0 }

        /// Whether these are the same bytes as others.
        func isIdentical(to other: UnsafeRawBufferPointer) -> Bool {
            count == other.count && (isEmpty || memcmp(baseAddress!, other.baseAddress!, count) == 0)
        }

        /// Whether all bytes are zero.
        var isZero: Bool { union == 0 }

        /// The bits that are set in any of the bytes.
        private var union: UInt64 {
            var seen: UInt64 = 0
            var position = 0
            while position + 8 <= count {
                seen |= loadUnaligned(fromByteOffset: position, as: UInt64.self)
                position += 8
            }
            while position < count {
                seen |= UInt64(self[position])
                position += 1
            }
            return seen
        }
    }

    /// Writes little-endian values.
    struct ByteWriter {
        /// What has been written.
        private(set) var bytes: [UInt8] = []

        /// Makes a writer with room for what is usual.
        init(capacity: Int = 0) {
            bytes.reserveCapacity(capacity)
        }

        /// Forgets what has been written, and keeps the memory.
        mutating func clear() {
            bytes.removeAll(keepingCapacity: true)
        }

        /// Appends bytes.
        mutating func append(_ more: some Sequence<UInt8>) {
            bytes.append(contentsOf: more)
        }

        /// Appends a number.
        mutating func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }

        /// Appends a count of four bytes and the bytes.
        mutating func appendCounted(_ more: some Collection<UInt8>) {
            append(UInt32(more.count))
            append(more)
        }

        /// Appends zeros up to a length.
        mutating func pad(to count: Int) {
            bytes.append(contentsOf: repeatElement(0, count: max(0, count - bytes.count)))
        }
    }

    extension KeychainError {
        /// The error for a file that is damaged.
        ///
        /// - Parameter finding: What was found, as a clause.
        static func damaged(_ finding: String) -> KeychainError {
            KeychainError(
                .corrupt,
                "The keychain file is damaged: \(finding). It was left as it is; restore it from a backup."
            )
        }
    }
#endif
