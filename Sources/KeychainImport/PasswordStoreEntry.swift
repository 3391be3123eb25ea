// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import KeychainSystem

/// One entry of a password store, decrypted.
struct PasswordStoreEntry {
    /// The path in the store.
    let name: String
    /// All of the file.
    let text: SecureBytes

    private var origin: String { "the entry ‘\(name)’" }

    /// The service of items that hold all of an entry.
    static let wholeService = "password-store"

    /// The items that the entry becomes.
    func items(_ form: PasswordStore.ValueForm) -> [ImportedItem] {
        guard form == .firstLine, text.withBytes(Self.isUTF8) else { return [byPath(account: nil, text)] }
        let (first, isAll) = firstLine()
        guard !isAll else { return [byPath(account: nil, first)] }
        let fields = fields()
        guard let space = fields.space else { return [byPath(account: fields.account, first), whole()] }
        return [site(space, fields.account, first), whole()]
    }

    /// A generic password: with an account of its own, the path is the service, else service and account.
    private func byPath(account: String?, _ value: SecureBytes) -> ImportedItem {
        var attributes = AttributeSet()
        let parts = name.pathComponents
        if account == nil, parts.count > 1 {
            attributes[.service] = .text(parts.dropLast().joined(separator: "/"))
            attributes[.account] = .text(parts[parts.count - 1])
        } else {
            attributes[.service] = .text(name)
            attributes[.account] = account.map { .text($0) }
        }
        return labelled(.genericPassword, attributes, value, name)
    }

    /// An internet password; without an account of its own, the last part of the path is the account.
    private func site(_ space: WebProtectionSpace, _ account: String?, _ value: SecureBytes) -> ImportedItem {
        var attributes = AttributeSet()
        attributes[.server] = .text(space.host)
        attributes[.protocol] = space.protocol.map { .text($0.rawValue) }
        attributes[.port] = space.port.map { .integer(Int64($0)) }
        attributes[.path] = space.path.map { .text($0) }
        attributes[.account] = (account ?? name.pathComponents.last).map { .text($0) }
        return labelled(.internetPassword, attributes, value, name)
    }

    private func whole() -> ImportedItem {
        var attributes = AttributeSet()
        attributes[.service] = .text(Self.wholeService)
        attributes[.account] = .text(name)
        return labelled(.genericPassword, attributes, text, "\(name) (whole entry)")
    }

    private func labelled(
        _ itemClass: ItemClass,
        _ attributes: AttributeSet,
        _ value: SecureBytes,
        _ label: String
    ) -> ImportedItem {
        var attributes = attributes
        attributes[.label] = .text(label)
        return ImportedItem(itemClass, attributes, value, origin: origin)
    }

    // MARK: Lines

    private func firstLine() -> (value: SecureBytes, isAll: Bool) {
        text.withBytes { bytes in
            guard let end = bytes.firstIndex(of: 0x0A) else { return (text, true) }
            return (SecureBytes(UnsafeRawBufferPointer(rebasing: bytes[..<end])), end == bytes.count - 1)
        }
    }

    /// What the lines after the first say of account and place; only such a line ever becomes ordinary text.
    private func fields() -> (account: String?, space: WebProtectionSpace?) {
        var account: String?
        var space: WebProtectionSpace?
        text.withBytes { bytes in
            for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropFirst() {
                for name in ["user:", "login:", "username:"] where account == nil {
                    account = Self.value(of: name, line)
                }
                if space == nil, let url = Self.value(of: "url:", line).flatMap({ URL(string: $0) }) {
                    space = try? WebProtectionSpace(url: url)
                }
            }
        }
        return (account, space)
    }

    private static func value(of name: String, _ line: Slice<UnsafeRawBufferPointer>) -> String? {
        // Names are ASCII: the bit that tells capital letters is all that may differ.
        guard line.count > name.utf8.count, zip(line, name.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 }) else {
            return nil
        }
        guard let text = String(validating: line.dropFirst(name.utf8.count), as: UTF8.self)?.trimmed, !text.isEmpty,
            !text.utf8.contains(0)
        else { return nil }
        return text
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}
