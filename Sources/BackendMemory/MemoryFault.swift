// SPDX-License-Identifier: MIT

public import KeychainAPI

/// What a test lets happen to calls of a ``MemoryDriver``.
public enum MemoryFault: Sendable, Hashable {
    /// The store is locked and no prompt can be shown: `interactionNotAllowed`.
    case locked
    /// There is no store: `unavailable`.
    case unavailable
    /// The person dismisses the prompt: `userCanceled`, or `interactionNotAllowed` where no prompt is allowed.
    case dismissed
    /// The store takes its time before it answers; deadline and cancellation are honoured.
    case slow(Duration)
    /// The call fails with a code.
    case failing(KeychainError.Code)
}
