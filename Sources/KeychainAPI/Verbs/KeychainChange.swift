// SPDX-License-Identifier: MIT

/// One change of a store, as `changes(matching:)` reports it.
public enum KeychainChange<Value: SecItem>: Sendable, Hashable {
    /// An item began to match: it was stored, or changed so that it matches.
    case added(SecItemInfo<Value>)
    /// An item that matches was changed.
    case updated(SecItemInfo<Value>)
    /// An item ceased to match: it was removed, or changed so that it does not match. With its last attributes.
    case removed(SecItemInfo<Value>)
    /// Something changed that cannot be told item by item; look again at what you depend on.
    case invalidated
}
