// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

/// What a command knows of an item, whatever its class.
struct ItemDetails: Sendable {
    let itemClass: ItemClass
    let reference: UUID
    let group: AccessGroup
    let isSynchronizable: Bool
    let accessibility: AccessPolicy.Accessibility
    let attributes: [AttributeSet.Element]
    let creationDate: Date
    let modificationDate: Date
    /// The value, if it was asked for.
    let value: Data?

    init<Item: SecItem>(_ info: SecItemInfo<Item>) {
        itemClass = Item.itemClass
        reference = info.persistentReference.uuid
        group = info.accessGroup
        isSynchronizable = info.isSynchronizable
        accessibility = info.accessPolicy.accessibility
        attributes = info.attributes
        creationDate = info.creationDate
        modificationDate = info.modificationDate
        value = info.data
    }

    /// An attribute as text, `""` if the item does not have it.
    func text(_ name: AttributeName) -> String {
        attributes.first { $0.name == name }.map { AttributeText.format($0.value, name) } ?? ""
    }
}

extension Keychain {
    /// Finds the class of a selector that has none: the one in which its reference is found.
    ///
    /// - Throws: `itemNotFound` if the reference is in no class.
    func itemType(of selector: Selector) async throws(KeychainError) -> any SecItem.Type {
        if let itemClass = selector.itemClass { return itemClass.itemType }
        for itemClass in selector.classes {
            if try await !details(of: selector, as: itemClass.itemType, limit: 1).isEmpty { return itemClass.itemType }
        }
        throw .itemNotFound
    }

    /// The attributes of what a selector matches, the oldest first; no value is decrypted.
    ///
    /// Not by `info`, which never asks for anything: a person who lists a locked store wants to be asked.
    ///
    /// - Parameters:
    ///   - selector: The items.
    ///   - type: Their class.
    ///   - limit: How many are wanted at most.
    func details<Item: SecItem>(
        of selector: Selector,
        as type: Item.Type,
        limit: Int? = nil
    ) async throws(KeychainError) -> [ItemDetails] {
        let query = selector.query(of: type)
        if limit == 1 {
            let value = try await retrieve([.info, .persistentReference], query: query)
            return [value].compactMap { $0?.details }
        }
        return try await retrieveAll([.info, .persistentReference], query: query).compactMap(\.details)
    }
}

extension SecValue {
    /// The attributes, if they are in the value.
    var details: ItemDetails? {
        if case .dictionary(let info) = self { ItemDetails(info) } else { nil }
    }
}
