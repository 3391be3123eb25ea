// SPDX-License-Identifier: MIT

/// A driver whose store holds items of other programs that are of none of the library's classes.
package protocol UnclassifiedItemSource: KeychainDriver {
    /// Everything that lies in the store and is no item here, and how many items lie there in all.
    ///
    /// - Parameter call: Deadline, cancellation and interaction policy.
    /// - Throws: Why the store could not be read; an item that vanishes meanwhile is left out.
    func unclassifiedItems(_ call: CallContext) throws(KeychainError) -> UnclassifiedItems
}

/// What lies in a store besides the items of the library's classes.
package struct UnclassifiedItems: Sendable {
    /// One such item.
    package struct Item: Sendable {
        /// The attributes, in the order of the store.
        package let attributes: [(name: String, value: String)]
        /// The label that other programs show.
        package let label: String
        /// The value, byte for byte.
        package let value: SecureBytes
        /// Where it lies, as the store names it.
        package let place: String

        package init(
            attributes: [(name: String, value: String)],
            label: String,
            value: SecureBytes,
            place: String
        ) {
            self.attributes = attributes
            self.label = label
            self.value = value
            self.place = place
        }
    }

    /// The items.
    package let items: [Item]
    /// How many items lie in the store, of whatever kind.
    package let total: Int

    package init(items: [Item], total: Int) {
        self.items = items
        self.total = total
    }
}
