// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import Synchronization

    /// Lets one thread at a time unlock a file, so that a person is asked once; the others can give up waiting.
    final class UnlockGate: Sendable {
        private let isTaken = Mutex(false)

        /// Runs a closure while no other thread does.
        ///
        /// - Parameters:
        ///   - call: Deadline and cancellation of the wait.
        ///   - body: Unlocks the file.
        /// - Throws: `cancelled`, `timedOut`, or what the body throws.
        func withTurn(_ call: CallContext, _ body: () throws(KeychainError) -> Void) throws(KeychainError) {
            var pause: UInt32 = 200
            while !take() {
                try call.check()
                usleep(pause)
                pause = min(pause * 2, 10_000)
            }
            defer { isTaken.withLock { $0 = false } }
            try body()
        }

        private func take() -> Bool {
            isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
        }
    }
#endif
