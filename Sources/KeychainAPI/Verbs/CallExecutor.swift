// SPDX-License-Identifier: MIT

import Dispatch

/// Runs the synchronous form of a verb for its asynchronous one, off the cooperative pool.
enum CallExecutor {
    private static let queue = DispatchQueue(label: "swift-keychain.calls", attributes: .concurrent)

    /// Runs a call on a thread that may block, and cancels it when the task is cancelled.
    static func run<Result: Sendable>(
        _ call: CallContext,
        _ body: @escaping @Sendable () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        let outcome: Swift.Result<Result, KeychainError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async {
                    continuation.resume(
                        returning: Swift.Result { () throws(KeychainError) -> Result in
                            try call.check()
                            return try body()
                        }
                    )
                }
            }
        } onCancel: {
            call.cancel()
        }
        return try outcome.get()
    }
}
