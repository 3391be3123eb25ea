// SPDX-License-Identifier: MIT

/// A place that keeps items: what a new kind of store has to implement.
///
/// A driver finds records, reads values and commits mutations. Everything that has to be the same on every
/// store — uniqueness, matching, defaults, ordering, conversions, conflict policies, the text of errors — is done
/// above it, in ``Keychain``.
///
/// ## Requirements
/// - ``write(_:_:)`` excludes every other writer of the same store, in every thread and process, from before the
///   first record is read until after the last commit. ``read(_:_:)`` sees the state before or after a commit, never
///   one in between.
/// - A commit is durable when ``RecordWriter/commit(_:)`` returns, and a commit that throws has changed nothing.
/// - Whatever may wait (a lock, a server, a prompt) asks ``CallContext/check()`` and honours
///   ``CallContext/remaining``.
/// - A driver throws `itemNotFound` only for a record that it was given and that has vanished; never because it
///   could not look.
public protocol KeychainDriver: Sendable {
    /// The kind of driver, which is also the scheme of its store URLs.
    var identifier: DriverIdentifier { get }

    /// Where the store is, as a store URL; two drivers with equal locations reach the same items. Holds no secret.
    var location: String { get }

    /// What the driver can do beyond the common contract.
    var capabilities: DriverCapabilities { get }

    /// The largest value that the store takes, in bytes. A larger one is refused before the driver is asked.
    var maximumValueSize: Int { get }

    /// Where the dates and references of new items come from.
    var stamps: StampSource { get }

    /// Runs a closure with a consistent view of the store.
    ///
    /// - Parameters:
    ///   - call: Deadline, cancellation and interaction policy.
    ///   - body: Is run at most once, on the calling thread.
    /// - Throws: What the body throws, or why the store could not be read.
    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result

    /// Runs a closure while no one else writes to the store.
    ///
    /// - Parameters:
    ///   - call: Deadline, cancellation and interaction policy.
    ///   - body: Is run at most once, on the calling thread.
    /// - Throws: What the body throws, `busy` or `timedOut` if another writer kept the lock, or why the store could
    ///   not be written.
    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result

    /// Calls a closure whenever the store may have changed, whoever changed it.
    ///
    /// - Parameter onChange: Is called on any thread, at least once after each commit of anyone; may be called
    ///   without a change. It returns at once and does not use the store: a writer may be waiting for it.
    /// - Returns: An observation that lasts until it is cancelled or released.
    /// - Throws: `unsupported` without ``DriverCapabilities/changeEvents``, or why the store cannot be watched.
    func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation

    /// Locks the store, for everyone who uses it; one that is locked stays so.
    ///
    /// - Parameter call: Deadline, cancellation and interaction policy.
    /// - Throws: `unsupported` without ``DriverCapabilities/locking``, or why it could not be locked.
    func lock(_ call: CallContext) throws(KeychainError)

    /// Unlocks the store; one that is unlocked stays so.
    ///
    /// - Parameter call: Deadline, cancellation and interaction policy.
    /// - Throws: `unsupported` without ``DriverCapabilities/locking``, `interactionNotAllowed` if it takes a prompt that
    ///   is not allowed or cannot be shown, `userCanceled` if that was dismissed.
    func unlock(_ call: CallContext) throws(KeychainError)
}

extension KeychainDriver {
    /// The system's clock and random references.
    public var stamps: StampSource { .system }

    /// Throws `unsupported`: the default for a driver without ``DriverCapabilities/changeEvents``.
    public func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        throw KeychainError(
            .unsupported,
            "This store does not report changes. Look at Keychain.capabilities before you ask for them."
        )
    }

    /// Throws `unsupported`: the default for a driver without ``DriverCapabilities/locking``.
    public func lock(_ call: CallContext) throws(KeychainError) {
        throw Self.notLockable
    }

    /// Throws `unsupported`: the default for a driver without ``DriverCapabilities/locking``.
    public func unlock(_ call: CallContext) throws(KeychainError) {
        throw Self.notLockable
    }

    /// What a driver without ``DriverCapabilities/locking`` says to who wants to lock or unlock it.
    package static var notLockable: KeychainError {
        KeychainError(
            .unsupported,
            "This store is not locked or unlocked as a whole: who has its key can use it, for as long as the program "
                + "runs. Close the program instead."
        )
    }
}

/// A consistent view of a store, valid inside the closure that received it.
public protocol RecordReader {
    /// The records of a selection, in any order; may contain records that do not match.
    ///
    /// A store that other programs write to (``DriverCapabilities/sharedWithOtherPrograms``) narrows by class, group,
    /// synchronizability and key attributes only: the rest is looked at after several items for one key have
    /// become one.
    ///
    /// - Parameter selection: What is looked for.
    /// - Throws: Why the store could not answer; an empty answer means that nothing is there.
    func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord]

    /// The value of a record.
    ///
    /// - Parameter record: A record that this reader returned.
    /// - Throws: `itemNotFound` if it has vanished, `corrupt` if its value is damaged.
    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes

    /// The values of several records, in their order; nil for one that has vanished.
    ///
    /// - Parameter records: Records that this reader returned.
    /// - Throws: `corrupt` if a value is damaged, or why the store could not answer.
    func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?]
}

extension RecordReader {
    /// Reads the values one by one.
    public func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
        var values: [SecureBytes?] = []
        for record in records {
            do {
                values.append(try value(of: record))
            } catch KeychainError.itemNotFound {
                values.append(nil)
            }
        }
        return values
    }
}

/// The view of a store's only writer, valid inside the closure that received it.
public protocol RecordWriter: RecordReader {
    /// Changes the store: all of the mutations, or none.
    ///
    /// The mutations do not contradict each other, keep every primary key unique, and name only records that this
    /// writer returned, or new ones. A later call of ``RecordReader/records(_:)`` sees them.
    ///
    /// - Parameter mutations: At least one.
    /// - Throws: Why nothing was changed.
    func commit(_ mutations: [RecordMutation]) throws(KeychainError)
}

/// One change of a store.
public enum RecordMutation: Sendable {
    /// Adds an item with its value.
    case insert(ItemRecord, SecureBytes)
    /// Replaces an item's attributes, dates and, unless it is nil, its value; the reference stays.
    case update(old: ItemRecord, new: ItemRecord, value: SecureBytes?)
    /// Removes an item.
    case delete(ItemRecord)
}
