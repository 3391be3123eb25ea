// SPDX-License-Identifier: MIT

import KeychainAPI

/// The options that name items, besides their attributes.
enum SelectorOptions {
    static let url = "url"
    static let itemClass = "class"
    static let reference = "ref"
    static let tag = "tag"
    static let synchronizable = "synchronizable"

    /// The words for the classes.
    static let classes: KeyValuePairs<String, ItemClass> = [
        "generic-password": .genericPassword, "internet-password": .internetPassword, "key": .key,
        "certificate": .certificate, "identity": .identity,
    ]

    /// The options, in the order of the help.
    static let forms: [OptionSpec] = [
        .value(url, "URL", "an internet password: scheme, host, port and path of the URL"),
        .value(itemClass, "CLASS", classes.map(\.key).joined(separator: ", ")),
        .value(reference, "UUID", "the one item with this persistent reference"),
        .value(tag, "TEXT", "the application tag of a key, as text"),
        .value(synchronizable, "yes|no|any", "whether synchronizable items are meant; left out, local ones"),
    ]

    /// The word for a class.
    static func word(for itemClass: ItemClass) -> String {
        classes.first { $0.value == itemClass }?.key ?? itemClass.description
    }
}
