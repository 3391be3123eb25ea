// SPDX-License-Identifier: MIT

/// Which items a query means with respect to synchronization.
///
/// Left out, a query means items that are not marked for synchronization. Write `true` or `false`, or ask for
/// ``any``. On Linux nothing synchronizes by itself: the mark is kept, and makes two items different.
public enum Synchronizability: Sendable, Hashable, ExpressibleByBooleanLiteral {
    /// Items that stay on this machine.
    case local
    /// Items that are marked for synchronization.
    case synchronizable
    /// Both. Not for storing.
    case any

    /// `true` for ``synchronizable``, `false` for ``local``.
    ///
    /// - Parameter value: Whether synchronizable items are meant.
    public init(_ value: Bool) {
        self = value ? .synchronizable : .local
    }

    /// `true` for ``synchronizable``, `false` for ``local``.
    ///
    /// - Parameter value: Whether synchronizable items are meant.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    var flag: Bool? {
        switch self {
        case .local: false
        case .synchronizable: true
        case .any: nil
        }
    }
}
