// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import KeychainSystem

/// What the attributes of an item of the Secret Service mean, as the driver reads other programs' items.
///
/// Attributes that mean nothing here are not lost: those of a password are kept in its comment, as one JSON object
/// with the names in order. An item that is no password by its names becomes a generic password whose service is the
/// name of its schema, else its label, and whose account is the JSON object of all its attributes: unique, and the same
/// at every import.
struct ForeignAttributes {
    let pairs: [(name: String, value: String)]
    let schema: String?
    let label: String

    /// Attributes, with that of the schema or without it.
    init(_ pairs: [(name: String, value: String)], schema: String?, label: String) {
        self.schema = schema ?? pairs.first { $0.name == SecretServiceNames.schema }?.value
        self.pairs = pairs.filter { $0.name != SecretServiceNames.schema }
        self.label = label
    }

    /// Whether the item is one of this library's own.
    var areOwn: Bool { value("keychain.class") != nil }

    private func value(_ name: String) -> String? {
        pairs.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The class and the attributes of the item.
    func item() throws(KeychainError) -> (itemClass: ItemClass, attributes: AttributeSet) {
        let classified = try classified()
        var item = if let classified { classified } else { try unclassified() }
        if !label.isEmpty { item.attributes[.label] = .text(label) }
        return item
    }

    /// An item that is no password by its names.
    private func unclassified() throws(KeychainError) -> (itemClass: ItemClass, attributes: AttributeSet) {
        var attributes = AttributeSet()
        let generic = "org.freedesktop.Secret.Generic"
        attributes[.service] = .text(schema.flatMap { $0 == generic ? nil : $0 } ?? label)
        attributes[.account] = .text(try Self.json(pairs))
        return (.genericPassword, attributes)
    }

    private func classified() throws(KeychainError) -> (itemClass: ItemClass, attributes: AttributeSet)? {
        let names: [AttributeName: String]
        var attributes = AttributeSet()
        let itemClass: ItemClass
        var known: [String]
        if value("service") != nil, let account = ["username", "account"].first(where: { value($0) != nil }) {
            itemClass = .genericPassword
            names = [.service: "service", .account: account]
            known = ["service", account]
        } else if WebForm.isOne(hasName: { value($0) != nil }) {
            guard let form = WebForm.attributes(of: value) else { return nil }
            (itemClass, names, attributes) = (.internetPassword, [:], form)
            known = [
                WebForm.identifierName, WebForm.originName, WebForm.accountName, WebForm.synchronizationName,
            ]
        } else if SecretServiceNames.isInternetPassword(schema: schema, hasName: { value($0) != nil }) {
            itemClass = .internetPassword
            names = SecretServiceNames.internetPassword
            known = Array(names.values)
        } else {
            return nil
        }
        for attribute in AttributeSchema.schema(of: itemClass).primaryKey {
            guard let name = names[attribute.name], let text = value(name) else { continue }
            attributes[attribute.name] = AttributeText.value(text, attribute, in: itemClass)
            // What is no value of its attribute, as a port that is no number, is kept as it is.
            if attributes[attribute.name] == nil { known.removeAll { $0 == name } }
        }
        let rest = pairs.filter { !known.contains($0.name) }
        if !rest.isEmpty { attributes[.comment] = .text(try Self.json(rest)) }
        return (itemClass, attributes)
    }

    private static func json(_ pairs: [(name: String, value: String)]) throws(KeychainError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let object = Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
        guard object.count == pairs.count, let data = try? encoder.encode(object) else {
            throw KeychainError(.ambiguous, "Two attributes of an item have one name. Look at the item and rename one.")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
