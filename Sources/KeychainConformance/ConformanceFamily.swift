// SPDX-License-Identifier: MIT

/// A group of checks about one part of the contract.
///
/// An open identifier, so that a later version can add families.
public struct ConformanceFamily: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower case.
    public let rawValue: String

    /// Makes a family.
    ///
    /// - Parameter rawValue: The name, in lower case.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The name itself.
    public var description: String { rawValue }

    /// What makes two items one.
    public static let uniqueness = ConformanceFamily(rawValue: "uniqueness")
    /// Which items a query finds, and in which order.
    public static let matching = ConformanceFamily(rawValue: "matching")
    /// What an item keeps: attributes, dates, reference.
    public static let attributes = ConformanceFamily(rawValue: "attributes")
    /// Storing.
    public static let store = ConformanceFamily(rawValue: "store")
    /// Updating.
    public static let update = ConformanceFamily(rawValue: "update")
    /// Reading values and attributes.
    public static let retrieve = ConformanceFamily(rawValue: "retrieve")
    /// Asking whether an item exists.
    public static let contains = ConformanceFamily(rawValue: "contains")
    /// Removing.
    public static let remove = ConformanceFamily(rawValue: "remove")
    /// Copying and moving.
    public static let copy = ConformanceFamily(rawValue: "copy")
    /// Migrating a whole keychain.
    public static let migration = ConformanceFamily(rawValue: "migration")
    /// Transactions.
    public static let transaction = ConformanceFamily(rawValue: "transaction")
    /// Watching for changes.
    public static let changes = ConformanceFamily(rawValue: "changes")
    /// The bytes of values, and their conversions.
    public static let values = ConformanceFamily(rawValue: "values")
    /// Access policies and confirmations.
    public static let access = ConformanceFamily(rawValue: "access")
    /// Errors.
    public static let errors = ConformanceFamily(rawValue: "errors")
    /// Threads, tasks, deadlines and cancellation.
    public static let concurrency = ConformanceFamily(rawValue: "concurrency")
    /// Nothing shows a value that was not asked for.
    public static let secrecy = ConformanceFamily(rawValue: "secrecy")
    /// What is there when the store is opened again.
    public static let persistence = ConformanceFamily(rawValue: "persistence")
    /// Sizes.
    public static let limits = ConformanceFamily(rawValue: "limits")
    /// A locked store.
    public static let locking = ConformanceFamily(rawValue: "locking")
    /// Several processes at one store.
    public static let processes = ConformanceFamily(rawValue: "processes")
    /// Identities: keys joined with certificates.
    public static let identities = ConformanceFamily(rawValue: "identities")
    /// Persistent references.
    public static let references = ConformanceFamily(rawValue: "references")
    /// Long random sequences of verbs against a reference model.
    public static let model = ConformanceFamily(rawValue: "model")
}
