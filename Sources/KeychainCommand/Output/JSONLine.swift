// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// One JSON object a line (RFC 8259), with its keys in order.
enum JSONLine {
    /// An item: its attributes under their names in the library, bytes under the name with `Base64`, and its value if
    /// it was read.
    static func item(_ item: ItemDetails) throws(KeychainError) -> String { try line(object(item)) }

    /// The same as an object.
    static func object(_ item: ItemDetails) -> [String: JSONValue] {
        var object: [String: JSONValue] = [
            "class": .text(SelectorOptions.word(for: item.itemClass)),
            "ref": .text(item.reference.uuidString),
            "group": .text(item.group.rawValue),
            "synchronizable": .flag(item.isSynchronizable),
            "accessible": .text(AttributeText.name(of: item.accessibility)),
            "creationDate": .text(Timestamp.text(item.creationDate)),
            "modificationDate": .text(Timestamp.text(item.modificationDate)),
        ]
        for attribute in item.attributes {
            let name = attribute.name.rawValue
            switch attribute.value {
            case .data(let data): object[name + "Base64"] = .text(data.base64EncodedString())
            case .boolean(let flag): object[name] = .flag(flag)
            case .integer(let number) where attribute.name != .creator && attribute.name != .type:
                object[name] = .number(number)
            default: object[name] = .text(AttributeText.format(attribute.value, attribute.name))
            }
        }
        if let value = item.value {
            if let text = String(validating: value, as: UTF8.self) {
                object["value"] = .text(text)
            } else {
                object["valueBase64"] = .text(value.base64EncodedString())
            }
        }
        return object
    }

    /// An object as a line.
    ///
    /// - Throws: `internal` if the encoder refuses it.
    static func line(_ object: [String: JSONValue]) throws(KeychainError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(object) else {
            throw KeychainError(.internal, "The result cannot be written as JSON. Leave --json out.")
        }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}
