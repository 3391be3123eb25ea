// SPDX-License-Identifier: MIT

import KeychainAPI

extension OptionSpec {
    /// What a shell can offer for the value of an option, or for an operand.
    enum Completion: Equatable {
        /// Nothing that is known.
        case nothing
        /// One of some words.
        case words([String])
        /// The name of a file.
        case files
        /// A label of an item.
        case labels
    }

    /// What a shell can offer for the value.
    var completion: Completion {
        switch name {
        case "store", "to": .words(HelpText.stores.map { Self.beginning($0.0) })
        case SelectorOptions.itemClass: .words(SelectorOptions.classes.map(\.key))
        case AttributeOption.kebabCase(AttributeName.accessible.rawValue), "set-accessible":
            .words(AccessPolicy.Accessibility.allCases.map(AttributeText.name(of:)))
        case AttributeOption.kebabCase(AttributeName.label.rawValue): .labels
        case "clear": .words(AttributeOption.all.map(\.optionName).filter { $0 != "accessible" })
        default: Self.completion(of: placeholder ?? "")
        }
    }

    /// What a shell can offer for what stands for a value in the help.
    static func completion(of placeholder: String) -> Completion {
        switch placeholder {
        case "FILE", "PATH": .files
        case "SOURCE": .words(HelpText.keys.map { beginning($0.0) })
        case _ where placeholder.contains("|"): .words(placeholder.split(separator: "|").map(String.init))
        default: .nothing
        }
    }

    /// What is typed as it stands: `file:` of `file:PATH`.
    private static func beginning(_ form: String) -> String {
        form.firstIndex(of: ":").map { String(form[...$0]) } ?? form
    }
}
