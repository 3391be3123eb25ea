// SPDX-License-Identifier: MIT

public import KeychainAPI

/// What a test lets happen to calls of a ``MemoryDriver``, in the words of a store to which it really happens.
public enum MemoryFault: Sendable, Hashable {
    /// The store is locked and no prompt can be shown: `interactionNotAllowed`.
    case locked
    /// The store is locked until someone unlocks it: `interactionNotAllowed` until `Keychain.unlock()`, and again after
    /// `Keychain.lock()`.
    ///
    /// While it is injected, the store has the capability `locking`. To unlock takes a prompt.
    case lockedUntilUnlocked
    /// There is no store: `unavailable`.
    case unavailable
    /// The person dismisses the prompt: `userCanceled`, or `interactionNotAllowed` where no prompt is allowed.
    case dismissed
    /// The store takes its time before it answers; deadline and cancellation are honoured.
    case slow(Duration)
    /// The values of items are damaged and their attributes intact: `corrupt` when one is read.
    ///
    /// Here a count is one of values that are read, not of calls.
    case damagedValue
    /// The call fails with a code.
    case failing(KeychainError.Code)
}
