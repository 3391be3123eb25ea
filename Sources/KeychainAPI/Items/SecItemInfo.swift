// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// What a store knows about an item; its value only where it was asked for.
///
/// Key attributes that are absent or have their default value read as nil.
@dynamicMemberLookup
public struct SecItemInfo<Value: SecItem>: Sendable, Hashable {
    let record: ItemRecord

    /// The value, if it was asked for together with the attributes.
    public let data: Data?

    init(record: ItemRecord, data: Data? = nil) {
        self.record = record
        self.data = data
    }

    /// An attribute of the class, nil if the item does not have it.
    public subscript<Attribute>(
        dynamicMember path: KeyPath<SecAttributes<Value>, SecAttribute<Attribute>>
    ) -> Attribute? {
        let attribute = SecAttributes<Value>()[keyPath: path]
        return record.attributes[attribute.name].flatMap(attribute.decode)
    }

    /// An attribute by its name, for programs that learn names at run time.
    ///
    /// - Parameter name: The name.
    public subscript(name: AttributeName) -> AttributeValue? { record.attributes[name] }

    /// Every attribute that the item has, in the order of the names; the access policy aside.
    public var attributes: [AttributeSet.Element] {
        record.attributes.filter { $0.name != .accessible && $0.name != .accessControl }
    }

    /// When the item was stored.
    public var creationDate: Date { record.creationDate.date }
    /// When the item's value or attributes were last changed.
    public var modificationDate: Date { record.modificationDate.date }
    /// The item's access group.
    public var accessGroup: AccessGroup { AccessGroup(rawValue: record.accessGroup) }
    /// Whether the item is marked for synchronization.
    public var isSynchronizable: Bool { record.isSynchronizable }
    /// The item's access policy.
    public var accessPolicy: AccessPolicy { AccessPolicy(of: record) }
    /// What names this very item for good, across every update.
    public var persistentReference: PersistentReference<Value> { PersistentReference(uuid: record.reference) }
}

extension SecItemInfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The class and the attributes; never the value.
    public var description: String { Self.summary(of: record) }

    static func summary(of record: ItemRecord) -> String {
        let text = record.attributes.map { "\($0.name): \($0.value.summary)" }.joined(separator: ", ")
        return "\(record.itemClass) \(record.reference.uuidString) [\(text)]"
    }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror that shows what the description shows.
    public var customMirror: Mirror { Mirror(self, children: ["attributes": description]) }
}

extension AttributeValue {
    /// The value in words: text in quotes and escaped, so that it stays in its line, bytes as their number.
    var summary: String {
        switch self {
        case .text(let text): text.debugDescription
        case .data(let data): "\(data.count) bytes"
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
