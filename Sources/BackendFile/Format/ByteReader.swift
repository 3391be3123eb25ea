// SPDX-License-Identifier: MIT
#if File
    import Foundation
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
            guard let text = String(validating: try slice(count), as: UTF8.self) else { throw Self.notText }
            return text
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

    /// Writes little-endian values.
    struct ByteWriter {
        /// What has been written.
        private(set) var bytes: [UInt8] = []

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
