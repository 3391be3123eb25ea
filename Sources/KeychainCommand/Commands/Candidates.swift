// SPDX-License-Identifier: MIT

import KeychainAPI

/// What could be the last word of a command line that is being typed.
struct Candidates {
    /// What a shell offers: words, or files.
    enum Offer: Equatable {
        case files
        /// Words, each with what it means.
        case words([(word: String, meaning: String)])
        /// What stands in the store, behind a prefix of the word: labels, services, or accounts of a service.
        case labels(prefix: String)
        case services
        case accounts(service: String)

        static func == (left: Offer, right: Offer) -> Bool {
            switch (left, right) {
            case (.files, .files), (.services, .services): true
            case (.words(let left), .words(let right)): left.map(\.word) == right.map(\.word)
            case (.labels(let left), .labels(let right)): left == right
            case (.accounts(let left), .accounts(let right)): left == right
            default: false
            }
        }
    }

    private var command: CommandSpec?
    private var group: String?
    private var operands: [String] = []
    private var optionsHaveEnded = false
    /// What was given for the store, to look into the one that the line is about.
    private(set) var options: [String: [String]] = [:]

    /// What could stand in the place of the last word.
    ///
    /// - Parameter words: The words behind the program's name; the last one is incomplete, and may be empty.
    /// - Returns: What to offer, and the options that were given before.
    static func offer(for words: [String]) -> (offer: Offer, options: [String: [String]]) {
        var candidates = Candidates()
        var pending: OptionSpec?
        for word in words.dropLast() {
            if let option = pending {
                candidates.options[option.name] = [word]
                pending = nil
            } else {
                pending = candidates.take(word)
            }
        }
        let last = words.last ?? ""
        let offer = pending.map { candidates.offer($0.completion, prefix: "") } ?? candidates.offer(for: last)
        return (offer, candidates.options)
    }

    /// Takes a complete word in; the option whose value comes next, if it is one.
    private mutating func take(_ word: String) -> OptionSpec? {
        guard !optionsHaveEnded, word != "-", word.hasPrefix("-") else {
            takeOperand(word)
            return nil
        }
        if word == "--" {
            optionsHaveEnded = true
            return nil
        }
        let halves = word.halves(at: "=")
        let option =
            word.hasPrefix("--")
            ? CommandTable.option(named: String((halves?.before ?? word).dropFirst(2)))
            : word.count == 2 ? CommandTable.option(short: word.last ?? "-") : nil
        guard let option, option.placeholder != nil else { return nil }
        guard word.hasPrefix("--"), let value = halves?.after else { return option }
        options[option.name] = [value]
        return nil
    }

    private mutating func takeOperand(_ word: String) {
        guard command == nil else { return operands.append(word) }
        if group == nil, !CommandTable.commands(inGroup: word).isEmpty {
            group = word
        } else {
            command = CommandTable.command(named: group.map { "\($0) \(word)" } ?? word)
        }
    }

    private func offer(for last: String) -> Offer {
        if last.hasPrefix("--"), let name = last.halves(at: "=")?.before, !optionsHaveEnded {
            let option = CommandTable.option(named: String(name.dropFirst(2)))
            return option.map { offer($0.completion, prefix: name + "=") } ?? .words([])
        }
        if last.hasPrefix("-"), !optionsHaveEnded {
            let options = command?.allOptions ?? CommandTable.globalOptions
            return .words(options.map { ("--\($0.name)", $0.summary) })
        }
        guard let command else {
            let commands = group.map { CommandTable.commands(inGroup: $0) } ?? CommandTable.commands
            var words: [(word: String, meaning: String)] = []
            for command in commands {
                let names = command.name.split(separator: " ")
                let word = String(names[group == nil ? 0 : 1])
                guard words.last?.word != word else { continue }
                words.append((word, names.count > 1 && group == nil ? "what unlocks a file store" : command.summary))
            }
            return .words(words)
        }
        return operand(of: command)
    }

    private func operand(of command: CommandSpec) -> Offer {
        switch command.operands {
        case .none, .program: return .words([])
        case .command: return .words(CommandTable.commands.map { ($0.name, $0.summary) })
        case .words(let words), .wordsAndMore(let words):
            return operands.count < words.count
                ? offer(OptionSpec.completion(of: words[operands.count]), prefix: "") : .words([])
        case .anyNumber(let word): return offer(OptionSpec.completion(of: word), prefix: "")
        case .selector: return item(operands[...])
        case .fileAndSelector: return operands.isEmpty ? .files : item(operands.dropFirst())
        }
    }

    private func item(_ operands: ArraySlice<String>) -> Offer {
        let isNamedOtherwise = [SelectorOptions.url, SelectorOptions.reference, SelectorOptions.itemClass].contains {
            options[$0] != nil
        }
        if isNamedOtherwise { return .words([]) }
        switch operands.count {
        case 0: return .services
        case 1: return .accounts(service: operands[operands.startIndex])
        default: return .words([])
        }
    }

    private func offer(_ completion: OptionSpec.Completion, prefix: String) -> Offer {
        switch completion {
        case .nothing: .words([])
        case .words(let words): .words(words.map { (prefix + $0, "") })
        case .files: .files
        case .labels: .labels(prefix: prefix)
        }
    }
}
