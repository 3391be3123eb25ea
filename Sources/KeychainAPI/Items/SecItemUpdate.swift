// SPDX-License-Identifier: MIT

/// What an update changes: attributes to set or clear, the value, the policy.
///
/// ```swift
/// var changes = SecItemUpdate<GenericPassword>()
/// changes.label = "Staging"      // set
/// changes.comment = nil          // clear
/// changes.setValue("8e9c0a7f")   // replace the value
/// try keychain.update(.credential(for: "OpenAI"), changes)
/// ```
@dynamicMemberLookup
public struct SecItemUpdate<Value: SecStorable>: Sendable {
    var attributes: [AttributeName: AttributeValue?] = [:]
    var value: SecureBytes?

    /// The new policy, nil to keep each item's own.
    public var accessPolicy: AccessPolicy?

    /// When the items may be read from now on, whatever else their policies demand; nil to leave it.
    package var accessibility: AccessPolicy.Accessibility?

    /// Whether the items are marked for synchronization from now on, nil to leave it.
    public var isSynchronizable: Bool?

    /// Makes an update that changes nothing.
    public init() {}

    /// A changed attribute: assigning a value sets it, assigning nil clears it, not assigning leaves it.
    public subscript<Attribute>(
        dynamicMember path: KeyPath<SecAttributes<Value>, SecAttribute<Attribute>>
    ) -> Attribute? {
        get {
            let attribute = SecAttributes<Value>()[keyPath: path]
            return (attributes[attribute.name] ?? nil).flatMap(attribute.decode)
        }
        set {
            let attribute = SecAttributes<Value>()[keyPath: path]
            attributes[attribute.name] = .some(newValue.map(attribute.encode))
        }
    }

    /// Sets or clears an attribute by its name, for programs that learn names at run time.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The new value, nil to clear it.
    public mutating func set(_ name: AttributeName, to value: AttributeValue?) {
        attributes[name] = .some(value)
    }

    /// Replaces the value.
    ///
    /// - Parameter value: The new value.
    public mutating func setValue(_ value: some SecDataConvertible) {
        self.value = value.secureRepresentation
    }

    var isEmpty: Bool {
        attributes.isEmpty && value == nil && accessPolicy == nil && accessibility == nil && isSynchronizable == nil
    }
}
