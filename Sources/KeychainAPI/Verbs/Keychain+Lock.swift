// SPDX-License-Identifier: MIT

extension Keychain {
    /// Locks the store, for every program that uses it.
    ///
    /// - Throws: `unsupported` on a store without ``DriverCapabilities/locking``, or why it could not be locked.
    public func lock() throws(KeychainError) {
        try lock(call(.lock))
    }

    /// Locks the store, for every program that uses it.
    ///
    /// - Throws: As the synchronous form, and `cancelled`.
    public func lock() async throws(KeychainError) {
        let call = call(.lock)
        try await CallExecutor.run(call) { () throws(KeychainError) in try lock(call) }
    }

    /// Unlocks the store, with a prompt if it needs one and ``KeychainConfiguration/interaction`` allows it.
    ///
    /// - Throws: `unsupported` on a store without ``DriverCapabilities/locking``, `interactionNotAllowed` if it takes a
    ///   prompt that is not allowed or cannot be shown, `userCanceled` if that was dismissed.
    public func unlock() throws(KeychainError) {
        try unlock(call(.unlock))
    }

    /// Unlocks the store, with a prompt if it needs one and ``KeychainConfiguration/interaction`` allows it.
    ///
    /// - Throws: As the synchronous form, and `cancelled`.
    public func unlock() async throws(KeychainError) {
        let call = call(.unlock)
        try await CallExecutor.run(call) { () throws(KeychainError) in try unlock(call) }
    }

    private func lock(_ call: CallContext) throws(KeychainError) {
        try perform(call) { () throws(KeychainError) in try driver.lock(call) }
    }

    private func unlock(_ call: CallContext) throws(KeychainError) {
        try perform(call) { () throws(KeychainError) in try driver.unlock(call) }
    }

    private func perform(_ call: CallContext, _ body: () throws(KeychainError) -> Void) throws(KeychainError) {
        do throws(KeychainError) {
            try call.check()
            try body()
        } catch {
            throw located(error, call)
        }
    }
}
