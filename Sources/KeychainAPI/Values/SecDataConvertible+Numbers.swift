// SPDX-License-Identifier: MIT

public import Foundation

/// A number or truth value that is stored as the text of its Swift literal.
///
/// One form on every architecture, that other programs and people can read: `true`, `-42`, `0.1`, `1e-05`, `inf`,
/// `nan`. Floating-point numbers take the shortest text that reads back as the same number. The payload of a NaN is
/// not kept.
public protocol SecTextConvertible: SecDataConvertible, LosslessStringConvertible {}

extension SecTextConvertible {
    /// Reads the text form; anything else, also surrounding blanks, is an error.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let text = try String(rawRepresentation: rawRepresentation)
        guard let value = Self(text) else { throw CocoaError(.coderReadCorrupt) }
        self = value
    }

    /// The text form as UTF-8.
    public var rawRepresentation: Data { Data(description.utf8) }
}

extension Bool: SecTextConvertible {}
extension Int: SecTextConvertible {}
extension Float: SecTextConvertible {}
extension Double: SecTextConvertible {}
