// SPDX-License-Identifier: MIT

extension Keychain {
    /// The transactions that are open on this thread, by the location of their store as UTF-8.
    @TaskLocal private static var openTransactions: Set<[UInt8]> = []

    func call(_ operation: KeychainOperation) -> CallContext {
        let asks = ![.contains, .info].contains(operation)
        return CallContext(operation, timeout: timeout, interaction: asks ? interaction : .never)
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
        Self.$openTransactions.withValue(Self.openTransactions.union([Array(driver.location.utf8)]), operation: body)
    }

    private func requireNoOpenTransaction() throws(KeychainError) {
        guard !(driver is TransactionDriver), Self.openTransactions.contains(Array(driver.location.utf8))
        else { return }
        throw KeychainError(
            .invalidParameter,
            "A transaction on this store is open. Use the keychain that its closure received."
        )
    }
}
