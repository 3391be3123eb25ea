// SPDX-License-Identifier: MIT

/// The value of a key as it is now, and then whenever it changes, whoever changes it: nil while there is none.
///
/// ```swift
/// for try await token in try await keychain.values(of: .accessToken) {
///     await connection.authenticate(token)
/// }
/// ```
///
/// Several changes between two looks are one element, and a change of attributes alone gives the same value again. The
/// sequence is for one reader, and ends when the reader's task is cancelled.
public struct KeychainValues<Value: Sendable>: AsyncSequence, Sendable {
    /// What the sequence gives.
    public typealias Element = Value?
    /// What the sequence throws.
    public typealias Failure = KeychainError

    let keychain: Keychain
    let key: KeychainKey<Value>
    let records: RecordChanges

    /// Makes the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(keychain: keychain, key: key, records: RecordChanges.Iterator(records))
    }

    /// Reads the value once, and then after each change.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let keychain: Keychain
        fileprivate let key: KeychainKey<Value>
        fileprivate var records: RecordChanges.Iterator
        private var isFirst = true

        fileprivate init(keychain: Keychain, key: KeychainKey<Value>, records: RecordChanges.Iterator) {
            self.keychain = keychain
            self.key = key
            self.records = records
        }

        /// The next value; nil of the outer optional once the task is cancelled.
        ///
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next() async throws(KeychainError) -> Value?? {
            try await next(isolation: #isolation)
        }

        /// The next value; nil of the outer optional once the task is cancelled.
        ///
        /// - Parameter actor: The caller's isolation.
        /// - Throws: Why the store could not be looked at; the next call tries again.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(KeychainError) -> Value?? {
            if !isFirst {
                guard try await records.next(isolation: actor) != nil else { return nil }
                // What cannot be read now is read at the next call, also if nothing has changed by then.
                isFirst = true
            }
            let value = try await keychain.get(key)
            isFirst = false
            return .some(value)
        }
    }
}

extension Keychain {
    /// The value of a key as it is now, and then whenever it changes, whoever changes it.
    ///
    /// - Parameter key: The key.
    /// - Throws: `unsupported` on a store without ``DriverCapabilities/changeEvents``, and why it could not be read.
    public func values<Value>(
        of key: KeychainKey<Value>
    ) async throws(KeychainError) -> KeychainValues<Value> {
        let selection: RecordSelection =
            switch key.place {
            case .generic(let query): try watched(exact(query))
            case .internet(let query): try watched(exact(query))
            }
        return KeychainValues(keychain: self, key: key, records: try await recordChanges([selection]))
    }
}
