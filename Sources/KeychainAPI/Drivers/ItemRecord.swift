// SPDX-License-Identifier: MIT

public import Foundation

/// One stored item without its value: what a driver keeps and finds.
///
/// Key attributes that have their default value (`""`, no bytes, 0, false) are left out of ``attributes``, so
/// that an absent attribute and its default are the same key on every driver.
public struct ItemRecord: Sendable, Hashable {
    /// The item's persistent reference: random, never changed.
    public var reference: UUID
    /// The item's class; never ``ItemClass/identity``.
    public var itemClass: ItemClass
    /// The access group; `""` is the default group.
    public var accessGroup: String
    /// Whether the item is marked for synchronization, which is part of the primary key.
    public var isSynchronizable: Bool
    /// Every attribute that is set: those of the class and those of the access policy.
    public var attributes: AttributeSet
    /// When the item was stored.
    public var creationDate: ItemDate
    /// When the item's value or attributes were last changed.
    public var modificationDate: ItemDate
    /// The driver's own name for the place of the item, for example an object path; `""` where it needs none.
    public var handle: String

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - reference: The persistent reference.
    ///   - itemClass: The class; not ``ItemClass/identity``.
    ///   - accessGroup: The access group; `""` is the default group.
    ///   - isSynchronizable: Whether the item is marked for synchronization.
    ///   - attributes: The attributes; key attributes with their default value are dropped.
    ///   - creationDate: When the item was stored.
    ///   - modificationDate: When the item was last changed.
    ///   - handle: The driver's own name for the item's place.
    public init(
        reference: UUID,
        itemClass: ItemClass,
        accessGroup: String,
        isSynchronizable: Bool,
        attributes: AttributeSet,
        creationDate: ItemDate,
        modificationDate: ItemDate,
        handle: String = ""
    ) {
        self.reference = reference
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
        self.attributes = attributes
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.handle = handle
        for attribute in AttributeSchema.schema(of: itemClass).primaryKey
        where self.attributes[attribute.name] == attribute.form.defaultValue {
            self.attributes[attribute.name] = nil
        }
    }

    /// What makes the item unique in its store.
    public var primaryKey: PrimaryKey {
        var key = AttributeSet()
        for attribute in AttributeSchema.schema(of: itemClass).primaryKey {
            key[attribute.name] = attributes[attribute.name]
        }
        return PrimaryKey(
            itemClass: itemClass,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable,
            attributes: key
        )
    }

    /// Compares two records, text byte by byte.
    public static func == (left: ItemRecord, right: ItemRecord) -> Bool {
        left.reference == right.reference && left.itemClass == right.itemClass
            && left.accessGroup.isIdentical(to: right.accessGroup) && left.isSynchronizable == right.isSynchronizable
            && left.attributes == right.attributes && left.creationDate == right.creationDate
            && left.modificationDate == right.modificationDate && left.handle.isIdentical(to: right.handle)
    }

    /// Whether this record comes before another one in results: the older first, then by reference.
    ///
    /// - Parameter other: The record to compare with.
    public func isOrderedBefore(_ other: ItemRecord) -> Bool {
        if creationDate != other.creationDate { return creationDate < other.creationDate }
        return reference.uuidString < other.reference.uuidString
    }
}

/// What makes an item unique in a store: its class, group, synchronizability and key attributes.
public struct PrimaryKey: Sendable, Hashable {
    /// The item's class.
    public let itemClass: ItemClass
    /// The access group.
    public let accessGroup: String
    /// Whether the item is marked for synchronization.
    public let isSynchronizable: Bool
    /// The key attributes that differ from their defaults.
    public let attributes: AttributeSet

    /// Compares two keys byte by byte.
    public static func == (left: PrimaryKey, right: PrimaryKey) -> Bool {
        left.itemClass == right.itemClass && left.accessGroup.isIdentical(to: right.accessGroup)
            && left.isSynchronizable == right.isSynchronizable && left.attributes == right.attributes
    }
}
