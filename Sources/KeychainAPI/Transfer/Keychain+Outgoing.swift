// SPDX-License-Identifier: MIT

/// Items on their way out of a keychain.
package struct OutgoingItems: Sendable {
    /// The items with their values, in the order of results.
    package let items: [(record: ItemRecord, value: SecureBytes)]
    /// How many stay because their policy keeps them on this device.
    package let keptOnDevice: Int
}

extension Keychain {
    /// A call that reads what goes out of any keychain.
    package func exporting() -> CallContext { call(.migrate) }

    /// Reads what may leave this device, with its values, as it was at one moment.
    ///
    /// - Parameters:
    ///   - selections: What is wanted: whatever any of them selects.
    ///   - call: A call of this keychain; see ``exporting()``.
    ///   - progress: Is told how far it is.
    /// - Throws: `itemNotFound` if there is nothing; `unsupported` if all of it must stay on this device; and why the store
    ///   could not be read.
    /// - Complexity: All values are in memory at once.
    package func outgoing(
        _ selections: [RecordSelection],
        _ call: CallContext,
        progress: (MigrationProgress) -> Void
    ) throws(KeychainError) -> OutgoingItems {
        // One reading, so that a change between two of them makes no state that never was.
        let selection = selections.count == 1 ? selections[0] : RecordSelection()
        let isSelected = { (record: ItemRecord) in selections.contains { $0.matches(record) } }
        let records = try fetch(selection, values: false, call, where: isSelected).map(\.record)
        guard !records.isEmpty else { throw located(.itemNotFound, call) }
        let leaving = records.count { !$0.staysOnDevice }
        guard leaving > 0 else { throw located(Self.staysHere, call) }
        let fetched = try fetch(
            selection,
            values: true,
            call,
            where: { isSelected($0) && !$0.staysOnDevice },
            step: 64,
            progress: { progress(MigrationProgress(phase: .reading, completed: $0, total: $1)) }
        )
        guard !fetched.isEmpty else { throw located(.itemNotFound, call) }
        let items = fetched.compactMap { item in item.value.map { (record: item.record, value: $0) } }
        return OutgoingItems(items: items, keptOnDevice: records.count - leaving)
    }
}
