// SPDX-License-Identifier: MIT

import KeychainAPI

/// One command: what the parser accepts, what the help says, and what is run.
struct CommandSpec: Sendable {
    /// What a command takes besides options.
    enum Operands: Sendable, Hashable {
        /// Nothing.
        case none
        /// The name of a command, or nothing.
        case command
        /// What names items.
        case selector(Selection)
        /// A file, and then what names items.
        case fileAndSelector(Selection)
        /// Each of some words.
        case words([String])
        /// Each of some words, and whatever follows them.
        case wordsAndMore([String])
        /// Any number of a word.
        case anyNumber(String)
        /// Nothing, and behind `--` a program with its arguments.
        case program
    }

    /// How much of a selector a command needs.
    enum Selection: Sendable, Hashable {
        /// None: without one, every item of every class is meant.
        case any
        /// At least a class.
        case some
        /// At least one attribute or a reference, since what is not named must not be changed.
        case narrow
        /// The attributes of a new item: no reference.
        case new
    }

    /// The name; for a command of a group, that of the group, a space and its own.
    let name: String
    /// What it does, in a few words.
    let summary: String
    /// What it takes besides options.
    let operands: Operands
    private let makeOptions: @Sendable () -> [OptionSpec]
    /// What a reader needs to know besides, one paragraph each.
    let discussion: [String]
    /// The exit statuses that it can end with.
    let exitCodes: [ExitCode]
    /// Runs it.
    let run: @Sendable (CommandRun) async throws(KeychainError) -> ExitCode

    /// Describes a command.
    ///
    /// - Parameters: As the properties. The options are made when they are asked for: a command line is one command's, and
    ///   the table has all of them.
    init(
        name: String,
        summary: String,
        operands: Operands,
        options: @escaping @autoclosure @Sendable () -> [OptionSpec],
        discussion: [String],
        exitCodes: [ExitCode],
        run: @escaping @Sendable (CommandRun) async throws(KeychainError) -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        makeOptions = options
        self.discussion = discussion
        self.exitCodes = exitCodes
        self.run = run
    }

    /// Options of its own.
    var options: [OptionSpec] { makeOptions() }

    /// Every option that it takes: its own, those of its selector, and the global ones.
    var allOptions: [OptionSpec] { ownOptions + CommandTable.globalOptions }

    /// The options that it takes besides the global ones.
    var ownOptions: [OptionSpec] { options + selectorOptions + attributeOptions }

    /// The options that are forms of a selector.
    var selectorOptions: [OptionSpec] {
        switch operands {
        case .none, .command, .words, .wordsAndMore, .anyNumber, .program: []
        case .fileAndSelector: SelectorOptions.forms
        case .selector(.new): SelectorOptions.forms.filter { $0.name != SelectorOptions.reference }
        case .selector: SelectorOptions.forms
        }
    }

    /// Whether it takes options besides the global ones and those that its operands show.
    var hasOptions: Bool { !(options + selectorOptions).isEmpty }

    /// How much of a selector it needs, nil if it takes none.
    var selection: Selection? {
        switch operands {
        case .selector(let selection), .fileAndSelector(let selection): selection
        case .none, .command, .words, .wordsAndMore, .anyNumber, .program: nil
        }
    }

    /// The options that are attributes.
    var attributeOptions: [OptionSpec] {
        switch operands {
        case .selector, .fileAndSelector: AttributeOption.specs
        case .none, .command, .words, .wordsAndMore, .anyNumber, .program: []
        }
    }

    /// What stands for the operands in the help.
    var operandSummary: String {
        switch operands {
        case .none: ""
        case .command: " [COMMAND]"
        case .selector(.any): " [SELECTOR]"
        case .fileAndSelector: " FILE [SELECTOR]"
        case .selector: " SELECTOR"
        case .words(let words), .wordsAndMore(let words): words.map { " \($0)" }.joined()
        case .anyNumber(let word): " [\(word)...]"
        case .program: " --env 'NAME=SELECTOR'... -- COMMAND [ARGUMENTS]"
        }
    }
}
