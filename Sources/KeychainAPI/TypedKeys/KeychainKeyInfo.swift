// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// What a store knows of the item of a ``KeychainKey``, its value aside.
public struct KeychainKeyInfo: Sendable, Hashable {
    private let record: ItemRecord

    init<Item>(_ info: SecItemInfo<Item>) {
        record = info.record
    }

    /// An attribute, nil if the item does not have it.
    ///
    /// - Parameter name: The name.
    public subscript(name: AttributeName) -> AttributeValue? { record.attributes[name] }

    /// What the item is called.
    public var label: String? { text(.label) }
    /// A comment.
    public var comment: String? { text(.comment) }
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

    fileprivate var summary: String { SecItemInfo<GenericPassword>.summary(of: record) }

    private func text(_ name: AttributeName) -> String? {
        if case .text(let text)? = record.attributes[name] { text } else { nil }
    }
}

extension KeychainKeyInfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The class and the attributes; never the value.
    public var description: String { summary }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror that shows what the description shows.
    public var customMirror: Mirror { Mirror(self, children: ["attributes": description]) }
}
