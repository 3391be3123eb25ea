// SPDX-License-Identifier: MIT

extension Keychain {
    /// Runs several verbs as one: all of them, or none.
    ///
    /// ```swift
    /// try keychain.transaction { keychain in
    ///     try keychain.store(newToken, query: .credential(for: "next"))
    ///     try keychain.remove(.credential(for: "current"))
    /// }
    /// ```
    ///
    /// The closure's keychain sees what the closure has written; everyone else sees nothing of it until the closure
    /// has returned. If the closure throws, nothing was changed. No one else can write meanwhile, so be quick.
    ///
    /// - Parameter body: Uses the keychain that it receives, on the thread that it runs on, until it returns.
    /// - Throws: `unsupported`, before the closure runs, on a store without ``DriverCapabilities/transactions``;
    ///   whatever the closure throws; and why the store could not be written.
    public func transaction<Result>(_ body: (Keychain) throws -> Result) throws -> Result {
        try transaction(call(.transaction), body).get()
    }

    /// Runs several verbs as one: all of them, or none.
    ///
    /// - Parameter body: Uses the synchronous verbs of the keychain that it receives, until it returns.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (Keychain) throws -> Result
    ) async throws -> Result {
        let call = call(.transaction)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try transaction(call, body) }.get()
    }

    /// Ends the driver's write without a commit; never leaves this file.
    private static let abandoned = KeychainError(.cancelled, "The transaction's closure threw an error.")

    private func transaction<Result>(
        _ call: CallContext,
        _ body: (Keychain) throws -> Result
    ) throws(KeychainError) -> Swift.Result<Result, any Error> {
        guard capabilities.contains(.transactions) else {
            throw located(
                KeychainError(
                    .unsupported,
                    "This store cannot run transactions. Call the verbs one by one; each of them is atomic."
                ),
                call
            )
        }
        var outcome: Swift.Result<Result, any Error>?
        do throws(KeychainError) {
            return try write(call) { (writer) throws(KeychainError) in
                let result = run(body, over: writer)
                outcome = result.outcome
                guard case .success = result.outcome else { throw Self.abandoned }
                try call.check()
                if !result.mutations.isEmpty { try writer.commit(result.mutations) }
                return result.outcome
            }
        } catch {
            // The closure's own error, unchanged; a failed commit's error after a closure that succeeded.
            if case .failure(let thrown)? = outcome { return .failure(thrown) }
            throw error
        }
    }

    private func run<Result>(
        _ body: (Keychain) throws -> Result,
        over writer: any RecordWriter
    ) -> (outcome: Swift.Result<Result, any Error>, mutations: [RecordMutation]) {
        let overlay = TransactionDriver(over: driver, writer)
        defer { overlay.end() }
        let keychain = Keychain(driver: overlay, configuration: configuration)
        return (withOpenTransaction { Swift.Result { try body(keychain) } }, overlay.mutations)
    }
}
