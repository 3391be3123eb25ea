// SPDX-License-Identifier: MIT

import KeychainAPI

/// A command line, taken apart: which command, and what was given to it.
///
/// Nothing is looked up or opened yet.
struct ParsedCommand: Sendable {
    /// The command.
    let command: CommandSpec
    /// What was given besides options.
    let operands: [String]
    /// The program that follows `--`, and its arguments; empty for a command that takes none.
    let program: [String]
    /// The values of the options that were given, in their order; an empty list for an option without a value.
    let options: [String: [String]]
    /// What the environment says where the command line says nothing.
    let fallbacks: [String: String]

    /// What was given that names items.
    var selectorOperands: ArraySlice<String> {
        if case .fileAndSelector = command.operands { operands.dropFirst() } else { operands[...] }
    }

    /// Whether an option without a value was given.
    func has(_ flag: String) -> Bool { options[flag] != nil || fallbacks[flag] != nil }

    /// The value of an option, or of its variable.
    func value(_ name: String) -> String? { options[name]?.first ?? fallbacks[name] }

    /// The values of an option that may be repeated.
    func values(_ name: String) -> [String] { options[name] ?? [] }

    /// The value as one of a list of words.
    ///
    /// - Throws: `invalidParameter` for another word.
    func choice<Value>(_ name: String, _ choices: KeyValuePairs<String, Value>) throws(KeychainError) -> Value? {
        guard let text = value(name) else { return nil }
        guard let choice = choices.first(where: { $0.key == text }) else {
            let words = choices.map(\.key).joined(separator: ", ")
            throw KeychainError(.invalidParameter, "‘--\(name)’ takes one of \(words).")
        }
        return choice.value
    }
}
