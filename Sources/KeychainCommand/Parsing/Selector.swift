// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// What a command line says about which items are meant.
struct Selector: Sendable {
    /// The class; nil for any, and for a reference, whose class has to be looked up.
    private(set) var itemClass: ItemClass?
    /// The attributes.
    private(set) var attributes: [AttributeName: AttributeValue] = [:]
    /// The reference, if the items are named by one.
    private(set) var reference: UUID?
    /// Which items are meant with respect to synchronization.
    let synchronizable: Synchronizability?

    /// Reads the selector of a command line.
    ///
    /// - Parameter parsed: A command line with a selector.
    /// - Throws: `invalidParameter` for values that are none, attributes that the class does not have, and a selector
    ///   that names less than the command needs.
    init(_ parsed: ParsedCommand) throws(KeychainError) {
        synchronizable = try parsed.choice(
            SelectorOptions.synchronizable,
            ["yes": .synchronizable, "no": .local, "any": Synchronizability.any]
        )
        itemClass = try parsed.choice(SelectorOptions.itemClass, SelectorOptions.classes)
        try readReference(parsed)
        try readAttributes(parsed)
        try readURL(parsed)
        try readOperands(parsed)
        if let itemClass { try Self.require(attributes.keys.sorted(), in: itemClass) }
        guard let selection = parsed.command.selection else { return }
        try requireEnough(selection, parsed.command.name)
        if itemClass == nil, reference == nil, selection != .any {
            itemClass = .genericPassword
            try Self.require(attributes.keys.sorted(), in: .genericPassword)
        }
    }

    /// The classes in which is looked, in the order of the result.
    var classes: [ItemClass] {
        if let itemClass { return [itemClass] }
        return ItemClass.stored.filter { itemClass in
            let schema = AttributeSchema.schema(of: itemClass)
            return attributes.keys.allSatisfy { name in schema.all.contains { $0.name == name } }
        }
    }

    /// The selector as a query of one class.
    func query<Item: SecItem>(of _: Item.Type) -> SecItemQuery<Item> {
        var query = SecItemQuery<Item>()
        for (name, value) in attributes { query[name] = value }
        query.synchronizable = synchronizable
        query.persistentReference = reference.map(PersistentReference.init(uuid:))
        return query
    }

    /// The policy that a new item has.
    var accessPolicy: AccessPolicy {
        guard case .text(let text)? = attributes[.accessible], let known = AccessPolicy.Accessibility(rawValue: text)
        else { return .default }
        return AccessPolicy(known)
    }

    /// The service and account, or what else names the item, for a prompt.
    var title: String {
        let names: [AttributeName] = [.service, .server, .applicationTag, .label, .account]
        let parts = names.compactMap { name in attributes[name].map { AttributeText.format($0, name) } }
        let text = parts.filter { !$0.isEmpty }.joined(separator: ", ")
        return text.isEmpty ? itemClass?.description ?? "the item" : text
    }

    /// Throws for an attribute that a class does not have.
    static func require(_ names: [AttributeName], in itemClass: ItemClass) throws(KeychainError) {
        let schema = AttributeSchema.schema(of: itemClass)
        for name in names where !schema.all.contains(where: { $0.name == name }) {
            let option = AttributeOption.all.first { $0.name == name }
            let owners = option?.classes.map(SelectorOptions.word(for:)).joined(separator: " or ") ?? ""
            throw KeychainError(
                .invalidParameter,
                "‘\(AttributeOption.kebabCase(name.rawValue))’ is no attribute of a \(itemClass). For another class, add "
                    + "--class \(owners)."
            )
        }
    }
}

extension Selector {
    private mutating func readReference(_ parsed: ParsedCommand) throws(KeychainError) {
        guard let text = parsed.value(SelectorOptions.reference) else { return }
        // Foundation takes a sign for a digit, and so reads another reference.
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text.uppercased() else {
            throw KeychainError(.invalidParameter, "‘--ref’ takes a reference as ‘ls’ shows it, a UUID.")
        }
        let others = parsed.command.selectorOptions.map(\.name) + parsed.command.attributeOptions.map(\.name)
        if let other = others.first(where: { $0 != SelectorOptions.reference && parsed.options[$0] != nil }) {
            throw KeychainError(.invalidParameter, "‘--ref’ names one item by itself; leave ‘--\(other)’ out.")
        }
        reference = uuid
    }

    private mutating func readAttributes(_ parsed: ParsedCommand) throws(KeychainError) {
        // Most command lines have none, and need no list of those that there are.
        let others = parsed.options.keys.contains { name in !CommandTable.globalOptions.contains { $0.name == name } }
        guard others else { return }
        for option in AttributeOption.all {
            guard let text = parsed.value(option.optionName) else { continue }
            attributes[option.name] = try AttributeText.parse(text, option)
        }
        if let tag = parsed.value(SelectorOptions.tag) {
            try set(.applicationTag, .data(Data(tag.utf8)), by: "--tag")
        }
    }

    private mutating func readURL(_ parsed: ParsedCommand) throws(KeychainError) {
        guard let text = parsed.value(SelectorOptions.url) else { return }
        guard itemClass == nil || itemClass == .internetPassword else {
            throw KeychainError(.invalidParameter, "‘--url’ names an internet password; leave ‘--class’ out.")
        }
        // Foundation escapes the ‘%’ of an escape that is none, and the item would get another path.
        guard Self.hasOnlyWholeEscapes(text), let url = URL(string: text) else {
            throw KeychainError(
                .invalidParameter,
                "‘--url’ takes a URL, as in https://example.com. A ‘%’ in it is written %25."
            )
        }
        guard url.user == nil, url.password == nil else {
            throw KeychainError(
                .invalidParameter,
                "The URL holds a user or a password. Write the account after it, and give a value on standard input."
            )
        }
        guard url.query == nil, url.fragment == nil else {
            throw KeychainError(
                .invalidParameter,
                "An item has no query (?) and no fragment (#). Leave them out of the URL, or write %3F and %23 in its path."
            )
        }
        let space = try WebProtectionSpace(url: url)
        itemClass = .internetPassword
        try set(.server, .text(space.host), by: "--url")
        if let type = space.protocol { try set(.protocol, .text(type.rawValue), by: "--url") }
        if let port = space.port { try set(.port, .integer(Int64(port)), by: "--url") }
        if let path = space.path { try set(.path, .text(path), by: "--url") }
    }

    private static func hasOnlyWholeEscapes(_ text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
            rest.count >= 2 && rest.prefix(2).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
        }
    }

    private mutating func readOperands(_ parsed: ParsedCommand) throws(KeychainError) {
        var operands = parsed.selectorOperands
        if itemClass == nil, let service = operands.popFirst() {
            itemClass = .genericPassword
            try set(.service, .text(service), by: "SERVICE")
        }
        if let account = operands.popFirst() { try set(.account, .text(account), by: "ACCOUNT") }
    }

    private mutating func set(_ name: AttributeName, _ value: AttributeValue, by source: String) throws(KeychainError) {
        guard attributes[name] == nil else {
            throw KeychainError(
                .invalidParameter,
                "‘--\(AttributeOption.kebabCase(name.rawValue))’ says the same as \(source); leave one of them out."
            )
        }
        attributes[name] = value
    }

    private func requireEnough(_ selection: CommandSpec.Selection, _ command: String) throws(KeychainError) {
        let isNamed = reference != nil || !attributes.isEmpty
        let isEnough =
            switch selection {
            case .any: true
            case .some: isNamed || itemClass != nil
            case .narrow, .new: isNamed
            }
        guard isEnough else {
            let forms = selection == .new ? "SERVICE, --url or an attribute" : "SERVICE, --url, --ref or an attribute"
            throw KeychainError(
                .invalidParameter,
                "‘\(command)’ needs to know which item is meant: give \(forms)."
            )
        }
        guard selection == .new else { return }
        guard itemClass != .identity else {
            throw KeychainError(
                .invalidParameter,
                "An identity is not stored itself: store its certificate and its private key."
            )
        }
        guard synchronizable != .any else {
            throw KeychainError(.invalidParameter, "‘--synchronizable any’ finds items; store one with yes or no.")
        }
    }
}
