// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Reads the output of `secret-tool search`, item by item.
struct SecretToolReader {
    /// What a line looks like; the rest is part of a value.
    private enum Kind: Equatable {
        case header, label, secret, created, modified, schema, attribute, other
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// The number of the line at the position, from 1.
    private var line = 1

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The next item; nil at the end.
    mutating func next() throws(KeychainError) -> ImportedItem? {
        guard position < bytes.count else { return nil }
        let start = line
        _ = try take(.header, "an item’s path in brackets")
        let label = try text(try take(.label, "‘label = ’"), after: "label = ")
        if kind == .created {
            throw failure(
                .interactionNotAllowed,
                "the item of line \(start) comes without its secret: it is locked. Unlock it with: secret-tool search "
                    + "--unlock"
            )
        }
        let value = try secret()
        _ = try take(.created, "‘created = ’ and a time")
        _ = try take(.modified, "‘modified = ’ and a time")
        let schema = kind == .schema ? try text(try take(.schema, "‘schema = ’"), after: "schema = ") : nil
        let attributes = try self.attributes(start)
        let foreign = ForeignAttributes(attributes, schema: schema, label: label)
        guard !foreign.areOwn else {
            throw failure(
                .unsupported,
                at: start,
                "the item was stored by this library, and its value may be in a form of its own. Bring it over with "
                    + "Keychain.migrate"
            )
        }
        let item = try foreign.item()
        return ImportedItem(item.itemClass, item.attributes, value, origin: "line \(start)")
    }

    /// Everything up to the line with the time of creation, which has to be the only line that looks like another one.
    private mutating func secret() throws(KeychainError) -> SecureBytes {
        guard kind == .secret else { throw unexpected("‘secret = ’") }
        let start = position + "secret = ".utf8.count
        let first = line
        repeat { advance() } while position < bytes.count && kind == .other
        guard position < bytes.count, kind == .created else {
            throw position < bytes.count
                ? failure(
                    .ambiguous,
                    "this line can be part of the secret of line \(first), or not. Import the item from its collection"
                )
                : failure(.decode, at: first, "the output ends within the secret")
        }
        return SecureBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<(position - 1)]))
    }

    private mutating func attributes(_ start: Int) throws(KeychainError) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        while position < bytes.count, kind == .attribute {
            let number = line
            let text = try text(try take(.attribute, "an attribute"), after: "attribute.")
            // A name has no restrictions either.
            let parts = text.split(separator: " = ", omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw failure(.ambiguous, at: number, "‘ = ’ is there more than once, and a name may contain it")
            }
            let name = String(parts[0])
            guard !attributes.contains(where: { $0.name == name }) else {
                throw failure(.ambiguous, at: number, "an attribute is there twice, or its value has several lines")
            }
            attributes.append((name, String(parts[1])))
        }
        guard !attributes.isEmpty else {
            throw failure(
                .decode,
                at: start,
                "the item has no attributes; secret-tool prints them to its standard error. Take both, with 2>&1"
            )
        }
        guard position == bytes.count || kind == .header else {
            throw kind == .other
                ? failure(.ambiguous, "an attribute has several lines, or this line is none of secret-tool’s")
                : unexpected("an attribute or an item’s path")
        }
        return attributes
    }

    // MARK: Lines

    /// The line at the position, without its end.
    private var current: UnsafeRawBufferPointer {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let end = rest.firstIndex(of: 0x0A) ?? rest.count
        return UnsafeRawBufferPointer(rebasing: rest[..<end])
    }

    private var kind: Kind {
        guard position < bytes.count else { return .other }
        let line = current
        func begins(_ text: StaticString) -> Bool {
            text.withUTF8Buffer { line.starts(with: $0) }
        }
        func isTime(after text: StaticString) -> Bool {
            let rest = line.dropFirst(text.utf8CodeUnitCount)
            return begins(text)
                && rest.allSatisfy { (0x30...0x39).contains($0) || [0x20, 0x2D, 0x3A].contains($0) }
        }
        if line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") { return .header }
        if begins("label = ") { return .label }
        if begins("secret = ") { return .secret }
        if isTime(after: "created = ") { return .created }
        if isTime(after: "modified = ") { return .modified }
        if begins("schema = ") { return .schema }
        if begins("attribute."), line.contains(UInt8(ascii: "=")) { return .attribute }
        return .other
    }

    private mutating func advance() {
        position = min(bytes.count, position + current.count + 1)
        line += 1
    }

    private mutating func take(_ expected: Kind, _ what: String) throws(KeychainError) -> UnsafeRawBufferPointer {
        guard kind == expected else { throw unexpected(what) }
        let taken = current
        guard position + taken.count < bytes.count else {
            throw failure(.decode, "the output ends within the line")
        }
        advance()
        return taken
    }

    /// The text of the line that was taken last.
    private func text(_ line: UnsafeRawBufferPointer, after prefix: StaticString) throws(KeychainError) -> String {
        guard let text = String(validating: line.dropFirst(prefix.utf8CodeUnitCount), as: UTF8.self) else {
            throw failure(.decode, at: self.line - 1, "the line is not UTF-8")
        }
        return text
    }

    // MARK: Errors

    private func unexpected(_ what: String) -> KeychainError {
        guard position < bytes.count else { return failure(.decode, "the output ends where \(what) should follow") }
        return failure(.decode, "here should be \(what)")
    }

    private func failure(_ code: KeychainError.Code, at line: Int? = nil, _ message: String) -> KeychainError {
        KeychainError(code, "Line \(line ?? self.line) of secret-tool’s output: \(message).")
    }
}
