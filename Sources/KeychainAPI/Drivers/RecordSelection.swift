// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// Which records a call is about: a conjunction of equalities, where what is left out is a wildcard.
///
/// A driver may use as much or as little of it as helps: what it returns is filtered again with
/// ``matches(_:)``. It must never return fewer records than match.
public struct RecordSelection: Sendable, Hashable {
    /// The class, nil for all.
    public var itemClass: ItemClass?
    /// The access group, nil for all.
    public var accessGroup: String?
    /// Whether the item is synchronizable, nil for both.
    public var isSynchronizable: Bool?
    /// The attributes that must be equal; a default value also matches an attribute that is absent from a key.
    public var attributes: AttributeSet
    /// The persistent reference, nil for all.
    public var reference: UUID?
    /// Whether `server` also matches the subdomains of the host it names.
    public var matchesSubdomains: Bool

    /// Makes a selection; without arguments it selects everything.
    ///
    /// - Parameters:
    ///   - itemClass: The class, nil for all.
    ///   - accessGroup: The access group, nil for all.
    ///   - isSynchronizable: Whether the item is synchronizable, nil for both.
    ///   - attributes: The attributes that must be equal.
    ///   - reference: The persistent reference, nil for all.
    ///   - matchesSubdomains: Whether `server` also matches subdomains.
    public init(
        itemClass: ItemClass? = nil,
        accessGroup: String? = nil,
        isSynchronizable: Bool? = nil,
        attributes: AttributeSet = AttributeSet(),
        reference: UUID? = nil,
        matchesSubdomains: Bool = false
    ) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
        self.attributes = attributes
        self.reference = reference
        self.matchesSubdomains = matchesSubdomains
    }

    /// Selects the one item with a primary key; every key attribute is present in ``attributes``.
    ///
    /// - Parameter key: The key; its absent attributes are filled in with their defaults.
    public init(_ key: PrimaryKey) {
        var attributes = key.attributes
        for attribute in AttributeSchema.schema(of: key.itemClass).primaryKey where attributes[attribute.name] == nil {
            attributes[attribute.name] = attribute.form.defaultValue
        }
        self.init(
            itemClass: key.itemClass,
            accessGroup: key.accessGroup,
            isSynchronizable: key.isSynchronizable,
            attributes: attributes
        )
    }

    /// The primary key, if every part of it is given, so that at most one item can match; else nil.
    ///
    /// A selection that ``matchesSubdomains`` has none.
    public var primaryKey: PrimaryKey? {
        guard let itemClass, let accessGroup, let isSynchronizable, !matchesSubdomains, itemClass != .identity else {
            return nil
        }
        let schema = AttributeSchema.schema(of: itemClass)
        guard schema.primaryKey.allSatisfy({ attributes[$0.name] != nil }) else { return nil }
        return PrimaryKey(
            itemClass: itemClass,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable,
            attributes: attributes.filtered { schema.isPrimaryKey($0.name) && !schema.isDefaultOfKey($0) }
        )
    }

    /// Whether every part of the primary key is given, so that at most one item can match.
    public var isFullIdentity: Bool { primaryKey != nil }

    /// Whether a record matches.
    ///
    /// - Parameter record: The record to look at.
    /// - Complexity: O(a log b) for a attributes here and b in the record.
    public func matches(_ record: ItemRecord) -> Bool {
        if let itemClass, itemClass != record.itemClass { return false }
        if let accessGroup, !accessGroup.isIdentical(to: record.accessGroup) { return false }
        if let isSynchronizable, isSynchronizable != record.isSynchronizable { return false }
        if let reference, reference != record.reference { return false }
        let schema = AttributeSchema.schema(of: record.itemClass)
        return attributes.allSatisfy { attribute in
            let stored =
                record.attributes[attribute.name]
                ?? (schema.isPrimaryKey(attribute.name) ? attribute.value.form.defaultValue : nil)
            if stored == attribute.value { return true }
            guard matchesSubdomains, attribute.name == .server, case .text(let host) = attribute.value,
                case .text(let server)? = stored, !host.isEmpty, server.utf8.count > host.utf8.count + 1
            else { return false }
            return server.utf8.suffix(host.utf8.count + 1).elementsEqual(".\(host)".utf8)
        }
    }
}
