// SPDX-License-Identifier: MIT

package import KeychainAPI

/// Where a call of a driver has come to.
package enum CallStage: Sendable {
    /// A reading begins.
    case read
    /// A writing begins.
    case write
    /// Records are looked for.
    case search(RecordSelection)
    /// The value of a record is read.
    case value(ItemRecord)
    /// Mutations are committed.
    case commit([RecordMutation])
}

/// Watches the calls of a ``SpyDriver``, and fails those that a test wants to fail.
package protocol CallWatcher: Sendable {
    /// What the store seems to be able to do besides what it can.
    var addedCapabilities: DriverCapabilities { get }

    /// Is called whenever a call comes to a stage, before the driver is asked.
    ///
    /// - Throws: What the call shall fail with.
    func pass(_ stage: CallStage, _ call: CallContext) throws(KeychainError)

    /// Is called before the store is locked.
    ///
    /// - Returns: Whether that was all, so that the driver is not asked.
    /// - Throws: What the call shall fail with.
    func lock(_ call: CallContext) throws(KeychainError) -> Bool

    /// Is called before the store is unlocked.
    ///
    /// - Returns: Whether that was all, so that the driver is not asked.
    /// - Throws: What the call shall fail with.
    func unlock(_ call: CallContext) throws(KeychainError) -> Bool
}

extension CallWatcher {
    /// Nothing.
    package var addedCapabilities: DriverCapabilities { [] }

    /// Leaves it to the driver.
    package func lock(_ call: CallContext) throws(KeychainError) -> Bool { false }

    /// Leaves it to the driver.
    package func unlock(_ call: CallContext) throws(KeychainError) -> Bool { false }
}
