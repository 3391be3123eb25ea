// SPDX-License-Identifier: MIT

/// The changes of a store from the moment the sequence was made, whoever made them.
///
/// Changes are told by comparing what the store holds with what it held at the last look, so several changes of one
/// item between two looks are one event. A slow reader never loses the fact that something changed: where the
/// comparison shows nothing although the store was written to, it gets ``KeychainChange/invalidated``.
///
/// The sequence is for one reader. It ends when the reader's task is cancelled, and stops watching when it is
/// released.
public struct KeychainChanges<Value: SecItem>: AsyncSequence, Sendable {
    /// What the sequence gives.
    public typealias Element = KeychainChange<Value>
    /// What the sequence throws.
    public typealias Failure = KeychainError

    let records: RecordChanges

    /// Makes the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(records: RecordChanges.Iterator(records))
    }

    /// Compares the store with what it held at the last look, whenever it was written to.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var records: RecordChanges.Iterator

        /// The next change; nil once the task is cancelled.
        ///
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next() async throws(KeychainError) -> KeychainChange<Value>? {
            try await next(isolation: #isolation)
        }

        /// The next change; nil once the task is cancelled.
        ///
        /// - Parameter actor: The caller's isolation.
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(KeychainError) -> KeychainChange<Value>? {
            switch try await records.next(isolation: actor) {
            case .added(let record)?: .added(SecItemInfo(record: record))
            case .updated(let record)?: .updated(SecItemInfo(record: record))
            case .removed(let record)?: .removed(SecItemInfo(record: record))
            case .invalidated?: .invalidated
            case nil: nil
            }
        }
    }
}

extension Keychain {
    /// The changes of the items that a query matches, from now on, also those that other processes make.
    ///
    /// Own writes are included. No values are read.
    ///
    /// - Parameter query: The items; an empty query means every item of the class in the keychain's group.
    /// - Throws: `unsupported` on a store without ``DriverCapabilities/changeEvents``, and why it could not be read.
    public func changes<Item: SecStorable>(
        matching query: SecItemQuery<Item>
    ) throws(KeychainError) -> KeychainChanges<Item> {
        try changes(query, call(.changes))
    }

    /// The changes of the items that a query matches, from now on, also those that other processes make.
    ///
    /// - Parameter query: The items; an empty query means every item of the class in the keychain's group.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func changes<Item: SecStorable>(
        matching query: SecItemQuery<Item>
    ) async throws(KeychainError) -> KeychainChanges<Item> {
        let call = call(.changes)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try changes(query, call) }
    }

    private func changes<Item>(
        _ query: SecItemQuery<Item>,
        _ call: CallContext
    ) throws(KeychainError) -> KeychainChanges<Item> {
        do throws(KeychainError) { try validate(query) } catch { throw located(error, call) }
        return KeychainChanges(records: try RecordChanges(self, [selection(query)], call))
    }
}
