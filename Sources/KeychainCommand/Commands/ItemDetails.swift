// SPDX-License-Identifier: MIT

import FoundationEssentials
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

    /// What is known of a record.
    init(_ record: ItemRecord) {
        itemClass = record.itemClass
        reference = record.reference
        group = AccessGroup(rawValue: record.accessGroup)
        isSynchronizable = record.isSynchronizable
        accessibility = AccessPolicy(of: record).accessibility
        attributes = record.attributes.filter { $0.name != .accessible && $0.name != .accessControl }
        creationDate = record.creationDate.date
        modificationDate = record.modificationDate.date
        value = nil
    }

    /// An attribute as text, `""` if the item does not have it.
    func text(_ name: AttributeName) -> String {
        attributes.first { $0.name == name }.map { AttributeText.format($0.value, name) } ?? ""
    }
}

extension SecValue {
    /// The attributes, if they are in the value.
    var details: ItemDetails? {
        if case .dictionary(let info) = self { ItemDetails(info) } else { nil }
    }
}
