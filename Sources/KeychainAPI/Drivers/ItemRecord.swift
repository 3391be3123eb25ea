// SPDX-License-Identifier: MIT

public import FoundationEssentials

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
        let schema = AttributeSchema.schema(of: itemClass)
        self.attributes = attributes.filtered { !schema.isDefaultOfKey($0) }
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.handle = handle
    }

    /// What makes the item unique in its store.
    public var primaryKey: PrimaryKey {
        let schema = AttributeSchema.schema(of: itemClass)
        return PrimaryKey(
            itemClass: itemClass,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable,
            attributes: attributes.filtered { schema.isPrimaryKey($0.name) }
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
        return withUnsafeBytes(of: reference.uuid) { own in
            withUnsafeBytes(of: other.reference.uuid) { own.lexicographicallyPrecedes($0) }
        }
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

    /// Hashes what tells keys apart: the values, and not the names that all keys of a class have.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(itemClass)
        accessGroup.hashBytes(into: &hasher)
        for attribute in attributes { hasher.combine(attribute.value) }
    }
}
