// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI

/// One password from outside of any keychain, ready to be stored.
public struct ImportedItem: Sendable {
    /// The class: a generic or an internet password.
    public let itemClass: ItemClass
    /// The attributes of the class; those of the access policy come from the keychain that stores the item.
    public var attributes: AttributeSet
    /// The value.
    public var value: SecureBytes
    /// Where it comes from, for a person: a line of an output, an entry of a store, an object path.
    public let origin: String

    /// Makes an item of one of the two classes of passwords.
    init(_ itemClass: ItemClass, _ attributes: AttributeSet, _ value: SecureBytes, origin: String) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.value = value
        self.origin = origin
    }

    /// The label that a person sees, nil if it has none.
    public var label: String? {
        if case .text(let label)? = attributes[.label] { label } else { nil }
    }

    /// What makes the item unique in a keychain.
    func primaryKey(in keychain: Keychain) -> PrimaryKey {
        ItemRecord(
            reference: UUID(),
            itemClass: itemClass,
            accessGroup: keychain.accessGroup.rawValue,
            isSynchronizable: false,
            attributes: attributes,
            creationDate: ItemDate(microseconds: 0),
            modificationDate: ItemDate(microseconds: 0)
        ).primaryKey
    }
}

extension ImportedItem: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The class and where it comes from; neither attributes nor the value.
    public var description: String { "\(itemClass) from \(origin)" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
