// SPDX-License-Identifier: MIT

import KeychainAPI

/// An attribute as the command line names it; the table follows from the schemas of the classes.
struct AttributeOption: Sendable, Hashable {
    /// The attribute's name in the library, for example `isInvisible`.
    let name: AttributeName
    /// The form of its values.
    let form: AttributeValue.Form
    /// The classes that have it.
    let classes: [ItemClass]
    /// The name on the command line, for example `is-invisible`.
    let optionName: String

    private init(_ name: AttributeName, _ form: AttributeValue.Form, _ classes: [ItemClass]) {
        self.name = name
        self.form = form
        self.classes = classes
        optionName = Self.kebabCase(name.rawValue)
    }

    /// The name of the option that sets it in `update`.
    var updateName: String { "set-" + optionName }

    private var spec: OptionSpec { .value(optionName, AttributeText.placeholder(name, form), summary) }

    /// The option that sets the attribute in `update`.
    var updateSpec: OptionSpec { .value(updateName, AttributeText.placeholder(name, form), summary) }

    private var summary: String {
        let owners = classes == ItemClass.stored ? "every class" : classes.map(\.description).joined(separator: ", ")
        return name == .accessible
            ? "\(owners); when-unlocked or after-first-unlock, or either with -this-device-only" : owners
    }

    /// Every attribute that has an option, in the order of the schemas.
    ///
    /// The confirmations of an access policy have none: the command could not ask for them.
    static let all: [AttributeOption] = {
        var found: [(attribute: AttributeSchema.Attribute, classes: [ItemClass])] = []
        for itemClass in ItemClass.stored {
            for attribute in AttributeSchema.schema(of: itemClass).all where attribute.name != .accessControl {
                if let index = found.firstIndex(where: { $0.attribute.name == attribute.name }) {
                    found[index].classes.append(itemClass)
                } else {
                    found.append((attribute, [itemClass]))
                }
            }
        }
        return found.map { AttributeOption($0.attribute.name, $0.attribute.form, $0.classes) }
    }()

    /// The options that filter by attributes, or set them in `set`; one list for all commands that take them, since
    /// every command line is compared with it.
    static let specs = all.map(\.spec)

    /// The attribute with a name on the command line.
    static func named(_ optionName: String) -> AttributeOption? {
        all.first { $0.optionName == optionName }
    }

    /// A name of the command line in Swift's spelling: `valid-until` as `validUntil`.
    static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "-")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// A Swift name in the command line's spelling: `isInvisible` as `is-invisible`.
    static func kebabCase(_ name: String) -> String {
        var result: [UInt8] = []
        var previousIsUpper = true
        for byte in name.utf8 {
            let isUpper = (0x41...0x5A).contains(byte)
            if isUpper, !previousIsUpper { result.append(0x2D) }
            previousIsUpper = isUpper
            result.append(isUpper ? byte | 0x20 : byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
