// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

/// One JSON object a line (RFC 8259), with its keys in order.
enum JSONLine {
    /// An item: its attributes under their names in the library, bytes under the name with `Base64`, and its value if
    /// it was read.
    static func item(_ item: ItemDetails) throws(KeychainError) -> String { try line(object(item)) }

    /// The same as an object.
    static func object(_ item: ItemDetails) -> [String: Any] {
        var object: [String: Any] = [
            "class": SelectorOptions.word(for: item.itemClass),
            "ref": item.reference.uuidString,
            "group": item.group.rawValue,
            "synchronizable": item.isSynchronizable,
            "accessible": AttributeText.name(of: item.accessibility),
            "creationDate": Timestamp.text(item.creationDate),
            "modificationDate": Timestamp.text(item.modificationDate),
        ]
        for attribute in item.attributes {
            switch attribute.value {
            case .data(let data): object[attribute.name.rawValue + "Base64"] = data.base64EncodedString()
            case .boolean(let flag): object[attribute.name.rawValue] = flag
            case .integer(let number) where attribute.name != .creator && attribute.name != .type:
                object[attribute.name.rawValue] = number
            default: object[attribute.name.rawValue] = AttributeText.format(attribute.value, attribute.name)
            }
        }
        if let value = item.value {
            if let text = String(validating: value, as: UTF8.self) {
                object["value"] = text
            } else {
                object["valueBase64"] = value.base64EncodedString()
            }
        }
        return object
    }

    /// An object as a line.
    ///
    /// - Throws: `internal` for what JSON cannot hold.
    static func line(_ object: [String: Any]) throws(KeychainError) -> String {
        guard JSONSerialization.isValidJSONObject(object),
            let data = try? JSONSerialization.data(
                withJSONObject: object,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
        else {
            throw KeychainError(.internal, "The result cannot be written as JSON. Leave --json out.")
        }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}
