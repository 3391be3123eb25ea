// SPDX-License-Identifier: MIT

public import FoundationEssentials
import Glibc

/// The value of an attribute, in one of the four forms that a driver has to keep.
///
/// Text is compared by its UTF-8 bytes: unlike `String`'s own `==`, two spellings of the same character
/// (composed and decomposed) are different values, as they are for every other program that shares the store.
public enum AttributeValue: Sendable {
    /// Text, compared as UTF-8 bytes; never contains NUL once it has been accepted.
    case text(String)
    /// Bytes.
    case data(Data)
    /// A whole number.
    case integer(Int64)
    /// A truth value.
    case boolean(Bool)

    /// The form of a value, without the value.
    public enum Form: Sendable, Hashable {
        /// Text.
        case text
        /// Bytes.
        case data
        /// A whole number.
        case integer
        /// A truth value.
        case boolean

        /// The value that a key attribute has when it is left out: `""`, no bytes, 0 or false.
        public var defaultValue: AttributeValue {
            switch self {
            case .text: .text("")
            case .data: .data(Data())
            case .integer: .integer(0)
            case .boolean: .boolean(false)
            }
        }
    }

    /// The form of this value.
    public var form: Form {
        switch self {
        case .text: .text
        case .data: .data
        case .integer: .integer
        case .boolean: .boolean
        }
    }

    /// Whether this is the default value of its form.
    var isDefault: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .data(let data): data.isEmpty
        case .integer(let number): number == 0
        case .boolean(let flag): !flag
        }
    }

    /// The number of bytes that the value takes: UTF-8 for text, eight for a number, one for a truth value.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .integer: 8
        case .boolean: 1
        }
    }
}

extension AttributeValue: Hashable {
    /// Compares two values of the same form; text and bytes are compared byte by byte.
    public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.isIdentical(to: right)
        case (.data(let left), .data(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        default: false
        }
    }

    /// Hashes the form and the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(form)
        switch self {
        case .text(let text):
            text.hashBytes(into: &hasher)
        case .data(let data): hasher.combine(data)
        case .integer(let number): hasher.combine(number)
        case .boolean(let flag): hasher.combine(flag)
        }
    }
}

extension String {
    /// Whether two texts have the same UTF-8 bytes, as every program that shares a store compares them.
    ///
    /// Swift's own `==` also calls two spellings of one character equal.
    func isIdentical(to other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        guard left.count == right.count else { return false }
        // Both lie in memory in one piece, unless one was bridged from elsewhere.
        let isEqual = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                left.isEmpty || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
            }
        }
        return (isEqual ?? nil) ?? left.elementsEqual(right)
    }

    /// Whether the text contains NUL.
    var containsNUL: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            !bytes.isEmpty && memchr(bytes.baseAddress!, 0, bytes.count) != nil
        } ?? utf8.contains(0)
    }

    /// Feeds the UTF-8 bytes to a hasher, and their number.
    func hashBytes(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        guard isDone == nil else { return }
        for byte in utf8 { hasher.combine(byte) }
    }
}
