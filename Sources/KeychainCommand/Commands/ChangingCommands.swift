// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import SwiftKeychain

extension CommandRun {
    /// `update`: changes attributes of every match.
    func update() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        let changes = try AttributeChanges(parsed)
        if let itemClass = selector.itemClass { try changes.require(in: itemClass) }
        let store = try open(try settings(), creation: .never)
        let type = try await store.itemType(of: selector)
        guard let type = type.itemClass.storableType else {
            throw KeychainError(
                .invalidParameter,
                "An identity is a certificate and a key; update these with --class certificate and --class key."
            )
        }
        try await update(selector, as: type, changes, store)
        return .done
    }

    private func update<Item: SecStorable>(
        _ selector: Selector,
        as type: Item.Type,
        _ changes: AttributeChanges,
        _ store: OpenStore
    ) async throws(KeychainError) {
        try changes.require(in: Item.itemClass)
        do throws(KeychainError) {
            try await store.keychain.update(selector.query(of: type), changes.update(of: type))
        } catch let error where error.code == .duplicateItem {
            throw error.explained("There is another item with these attributes already. Nothing was changed.")
        }
    }

    /// `rm`: removes the match, or every match with `--all`.
    func remove() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        let store = try open(try settings(), creation: .never)
        let type = try await store.itemType(of: selector)
        return try await remove(selector, as: type, store) ? .done : .notFound
    }

    private func remove<Item: SecItem>(
        _ selector: Selector,
        as type: Item.Type,
        _ store: OpenStore
    ) async throws(KeychainError) -> Bool {
        let query = selector.query(of: type)
        if parsed.has("all") { return try await store.keychain.remove(query) }
        guard store.driver.capabilities.contains(.transactions) else {
            // Where looking and removing are two calls, the removal names the very item that was seen.
            let found = try await store.keychain.retrieveAll(.persistentReference, query: query)
            guard case .persistentReference(let reference)? = try Self.single(found) else { return false }
            var named = query
            named.persistentReference = reference
            return try await store.keychain.remove(named)
        }
        do {
            return try await store.keychain.transaction { keychain in
                guard try Self.single(keychain.retrieveAll(.persistentReference, query: query)) != nil else {
                    return false
                }
                return try keychain.remove(query)
            }
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.internal, "The removal failed for an unknown reason. Nothing was removed.")
        }
    }

    private static func single<Value>(_ found: [Value]) throws(KeychainError) -> Value? {
        guard found.count <= 1 else {
            throw KeychainError(
                .ambiguous,
                "\(found.count) items match, and none was removed. Name one by its account or --ref, or add --all."
            )
        }
        return found.first
    }

    /// `init`: creates a store.
    func initialize() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let options = options(settings, creation: .mustBeNew)
        let driver: any KeychainDriver
        if let url = settings.store {
            driver = try registry.open(url, options: options)
        } else {
            driver = try DefaultDriver.create(registry: registry, environment: environment, options: options)
        }
        note("created \(driver.location)")
        try printJSON(["store": .text(driver.location)])
        return .done
    }
}

/// What `update` changes, as the command line says it.
struct AttributeChanges: Sendable {
    private var attributes: [(name: AttributeName, value: AttributeValue?)] = []
    private var accessibility: AccessPolicy.Accessibility?
    private let isSynchronizable: Bool?

    /// Reads the changes of a command line.
    ///
    /// - Throws: `invalidParameter` if there are none, or for names and values that are none.
    init(_ parsed: ParsedCommand) throws(KeychainError) {
        isSynchronizable = try parsed.value("set-synchronizable").map { (text) throws(KeychainError) in
            try AttributeText.yesOrNo(text, "--set-synchronizable")
        }
        for option in AttributeOption.all {
            guard let text = parsed.value(option.updateName) else { continue }
            let value = try AttributeText.parse(text, option)
            if option.name == .accessible, case .text(let text) = value {
                // By itself: a whole policy would drop the confirmations that an item demands.
                accessibility = AccessPolicy.Accessibility(rawValue: text)
                if let accessibility { try AccessPolicy(accessibility).validate() }
            } else {
                attributes.append((option.name, value))
            }
        }
        for name in parsed.values("clear") {
            guard let option = AttributeOption.named(name), option.name != .accessible else {
                throw KeychainError(
                    .invalidParameter,
                    "‘--clear’ takes the name of an attribute."
                        + Suggestion.sentence(for: name, among: AttributeOption.all.map(\.optionName))
                )
            }
            guard !attributes.contains(where: { $0.name == option.name }) else {
                throw KeychainError(.invalidParameter, "‘\(name)’ is changed twice; set it or clear it, once.")
            }
            attributes.append((option.name, nil))
        }
        guard !attributes.isEmpty || accessibility != nil || isSynchronizable != nil else {
            throw KeychainError(
                .invalidParameter,
                "‘update’ needs a change, as in --set-label TEXT or --clear comment."
            )
        }
    }

    /// Throws unless a class has every attribute that is changed.
    func require(in itemClass: ItemClass) throws(KeychainError) {
        guard itemClass != .identity else { return }
        try Selector.require(attributes.map(\.name), in: itemClass)
    }

    /// The changes as an update of one class.
    func update<Item: SecStorable>(of _: Item.Type) -> SecItemUpdate<Item> {
        var update = SecItemUpdate<Item>()
        update.isSynchronizable = isSynchronizable
        update.accessibility = accessibility
        for (name, value) in attributes { update.set(name, to: value) }
        return update
    }
}
