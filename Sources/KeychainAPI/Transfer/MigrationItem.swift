// SPDX-License-Identifier: MIT

/// One item of a migration, as a transform sees it and may change it.
public struct MigrationItem: Sendable {
    /// The class.
    public let itemClass: ItemClass
    /// The access group in the target.
    public var accessGroup: AccessGroup
    /// Whether the item is marked for synchronization.
    public var isSynchronizable: Bool
    /// The attributes of the class, without those of the access policy.
    public var attributes: AttributeSet
    /// When the item may be read.
    public var accessPolicy: AccessPolicy
    /// The value.
    public var value: SecureBytes

    /// Makes an item that comes from outside of any keychain.
    package init(
        _ itemClass: ItemClass,
        _ attributes: AttributeSet,
        _ value: SecureBytes,
        in target: Keychain
    ) {
        self.itemClass = itemClass
        accessGroup = target.accessGroup
        isSynchronizable = target.synchronizable == .synchronizable
        self.attributes = attributes
        accessPolicy = target.accessPolicy
        self.value = value
    }

    /// Makes an item of a record, in a group of the target.
    package init(_ record: ItemRecord, _ accessGroup: AccessGroup, _ value: SecureBytes) {
        itemClass = record.itemClass
        self.accessGroup = accessGroup
        isSynchronizable = record.isSynchronizable
        attributes = record.attributes.filtered { $0.name != .accessible && $0.name != .accessControl }
        accessPolicy = AccessPolicy(of: record)
        self.value = value
    }
}
