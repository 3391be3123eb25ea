// SPDX-License-Identifier: MIT

/// One option, as the parser and the help know it.
struct OptionSpec: Sendable, Hashable {
    /// The name, without its dashes.
    let name: String
    /// The one-letter name.
    let short: Character?
    /// What stands for the value in the help; nil for an option without one.
    let placeholder: String?
    /// The variable that is used where the option is not given.
    let variable: String?
    /// Whether the option may be given more than once.
    let isRepeatable: Bool
    /// What it does, in one line.
    let summary: String

    /// Whether it sets an attribute in `update`: one of many of a kind, which the help shows once.
    var isAttributeChange: Bool { AttributeOption.all.contains { $0.updateName == name } }

    /// An option with a value.
    static func value(
        _ name: String,
        short: Character? = nil,
        _ placeholder: String,
        variable: String? = nil,
        isRepeatable: Bool = false,
        _ summary: String
    ) -> OptionSpec {
        OptionSpec(
            name: name,
            short: short,
            placeholder: placeholder,
            variable: variable,
            isRepeatable: isRepeatable,
            summary: summary
        )
    }

    /// An option without a value.
    static func flag(
        _ name: String,
        short: Character? = nil,
        variable: String? = nil,
        _ summary: String
    ) -> OptionSpec {
        OptionSpec(
            name: name,
            short: short,
            placeholder: nil,
            variable: variable,
            isRepeatable: false,
            summary: summary
        )
    }
}
