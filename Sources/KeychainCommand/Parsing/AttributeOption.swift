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
    var optionName: String { Self.kebabCase(name.rawValue) }

    /// The name of the option that sets it in `update`.
    var updateName: String { "set-" + optionName }

    /// The option that filters by the attribute, or sets it in `set`.
    var spec: OptionSpec { .value(optionName, AttributeText.placeholder(name, form), summary) }

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
        var order: [AttributeSchema.Attribute] = []
        var classes: [AttributeName: [ItemClass]] = [:]
        for itemClass in ItemClass.stored {
            for attribute in AttributeSchema.schema(of: itemClass).all where attribute.name != .accessControl {
                if classes[attribute.name] == nil { order.append(attribute) }
                classes[attribute.name, default: []].append(itemClass)
            }
        }
        return order.map { AttributeOption(name: $0.name, form: $0.form, classes: classes[$0.name] ?? []) }
    }()

    /// The attribute with a name on the command line.
    static func named(_ optionName: String) -> AttributeOption? {
        all.first { $0.optionName == optionName }
    }

    static func kebabCase(_ name: String) -> String {
        var result = ""
        var previousIsUpper = true
        for character in name {
            if character.isUppercase, !previousIsUpper { result.append("-") }
            previousIsUpper = character.isUppercase
            result.append(contentsOf: character.lowercased())
        }
        return result
    }
}
