// SPDX-License-Identifier: MIT

import Glibc
import Synchronization

extension Keychain {
    /// The transactions that are open, by the thread of their closure and the location of their store.
    ///
    /// By thread and not by task: a task that a closure started may well use the store when the transaction is over.
    private static let openTransactions = Mutex<[OpenTransaction]>([])
    /// How many there are: without any, a call need not look further.
    private static let openTransactionCount = Atomic(0)

    private struct OpenTransaction {
        let thread = pthread_self()
        let location: String

        static func == (left: OpenTransaction, right: OpenTransaction) -> Bool {
            pthread_equal(left.thread, right.thread) != 0 && left.location.isIdentical(to: right.location)
        }
    }

    func call(
        _ operation: KeychainOperation,
        isForOneMatch: Bool = false,
        isForValue: Bool = false
    ) -> CallContext {
        CallContext(
            operation,
            timeout: self.timeout,
            interaction: operation == .contains ? self.interaction.silent : self.interaction,
            isForOneMatch: isForOneMatch,
            isForValue: isForValue
        )
    }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            try requireNoOpenTransaction()
            try call.check()
            return try driver.read(call, body)
        } catch {
            throw located(error, call)
        }
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            try requireNoOpenTransaction()
            try call.check()
            return try driver.write(call, body)
        } catch {
            throw located(error, call)
        }
    }

    func located(_ error: KeychainError, _ call: CallContext) -> KeychainError {
        error.located(driver: driver.identifier, location: driver.location, operation: call.operation)
    }

    /// Runs a closure during which calls on this store, past the transaction, are refused instead of deadlocking.
    func withOpenTransaction<Result>(_ body: () -> Result) -> Result {
        let transaction = OpenTransaction(location: driver.location)
        Self.openTransactions.withLock { $0.append(transaction) }
        Self.openTransactionCount.add(1, ordering: .relaxed)
        defer {
            Self.openTransactionCount.subtract(1, ordering: .relaxed)
            Self.openTransactions.withLock { open in
                if let index = open.lastIndex(where: { $0 == transaction }) { open.remove(at: index) }
            }
        }
        return body()
    }

    private func requireNoOpenTransaction() throws(KeychainError) {
        // A transaction of this very thread has been counted; those of others do not matter.
        guard Self.openTransactionCount.load(ordering: .relaxed) > 0, type(of: driver) != TransactionDriver.self else {
            return
        }
        let transaction = OpenTransaction(location: driver.location)
        guard Self.openTransactions.withLock({ $0.contains { $0 == transaction } }) else { return }
        throw KeychainError(
            .invalidParameter,
            "A transaction on this store is open. Use the keychain that its closure received."
        )
    }
}
