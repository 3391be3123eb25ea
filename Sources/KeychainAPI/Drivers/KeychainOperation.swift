// SPDX-License-Identifier: MIT

/// The verb of a call, as errors name it.
public enum KeychainOperation: String, Sendable, Hashable {
    /// Opening or creating a store.
    case open
    /// Storing an item.
    case store
    /// Changing items.
    case update
    /// Reading a value.
    case retrieve
    /// Reading attributes.
    case info
    /// Asking whether an item exists.
    case contains
    /// Removing items.
    case remove
    /// Copying items to another keychain.
    case copy
    /// Moving items to another keychain.
    case move
    /// Moving a whole keychain into another one.
    case migrate
    /// A transaction.
    case transaction
    /// Watching for changes.
    case changes
    /// Locking a store.
    case lock
    /// Unlocking a store.
    case unlock
}
