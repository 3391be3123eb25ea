// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A number or truth value that is stored as the text of its Swift literal.
///
/// One form on every architecture, that other programs and people can read: `true`, `-42`, `0.1`, `1e-05`, `inf`,
/// `nan`. Floating-point numbers take the shortest text that reads back as the same number; a NaN is only kept as one,
/// without sign and payload. In reading, other spellings that Swift's own initializer takes are read too, such as `42`
/// for a `Double`, but no blanks, and no number that the type cannot hold.
public protocol SecTextConvertible: SecDataConvertible, LosslessStringConvertible {}

extension SecTextConvertible {
    /// Reads the text form; what is no value of the type, also for surrounding blanks, is an error.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let text = try String(rawRepresentation: rawRepresentation)
        guard let value = Self(text) else { throw CocoaError(.formatting) }
        self = value
    }

    /// The text form as UTF-8.
    public var rawRepresentation: Data { Data(description.utf8) }
}

extension SecTextConvertible where Self: BinaryFloatingPoint {
    /// Reads the text form; what is no value of the type, also a number that is too large for it, is an error.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let text = try String(rawRepresentation: rawRepresentation)
        // Swift stops reading at NUL, and reads a number past the largest one as infinity.
        guard !text.utf8.contains(0), let value = Self(text) else { throw CocoaError(.formatting) }
        guard !value.isInfinite || value.description == text else { throw CocoaError(.formatting) }
        self = value
    }
}

extension Bool: SecTextConvertible {}
extension Int: SecTextConvertible {}
extension Float: SecTextConvertible {}
extension Double: SecTextConvertible {}
