// SPDX-License-Identifier: MIT

import Dispatch
package import KeychainAPI
import Synchronization

/// The faults that a test has injected, and the counting of calls that they go by.
package final class FaultScript: Sendable {
    private struct Entry {
        let fault: MemoryFault
        let operation: KeychainOperation?
        var skips: Int
        var times: Int?

        /// Whether the fault happens to a call that comes to it now.
        mutating func isDue() -> Bool {
            if skips > 0 {
                skips -= 1
                return false
            }
            guard times != 0 else { return false }
            times = times.map { $0 - 1 }
            return true
        }
    }

    private let state = Mutex<(calls: Int, entries: [Entry])>((0, []))

    /// Makes a script without a fault.
    package init() {}

    /// How many calls have been met.
    package var callCount: Int { state.withLock { $0.calls } }

    /// Whether a store plays one that can be locked and unlocked, since a test has injected that.
    package var playsLocking: Bool {
        state.withLock { $0.entries.contains { $0.fault == .lockedUntilUnlocked } }
    }

    /// Adds a fault.
    ///
    /// - Parameters:
    ///   - fault: What happens.
    ///   - operation: The verb that it happens to, nil for all.
    ///   - afterCalls: How many calls succeed before.
    ///   - times: How many calls it happens to, nil for all from then on.
    package func inject(_ fault: MemoryFault, into operation: KeychainOperation?, afterCalls: Int, times: Int?) {
        let entry = Entry(fault: fault, operation: operation, skips: afterCalls, times: times)
        state.withLock { $0.entries.append(entry) }
    }

    /// Removes every fault.
    package func clear() {
        state.withLock { $0.entries = [] }
    }

    /// Counts a call and lets happen to it what was injected.
    ///
    /// - Throws: What the call shall fail with.
    package func meet(_ call: CallContext) throws(KeychainError) {
        state.withLock { $0.calls += 1 }
        // What waits for an unlocking does not stand in its way.
        let isLocking = call.operation == .lock || call.operation == .unlock
        try happen(call) { $0 != .damagedValue && !(isLocking && $0 == .lockedUntilUnlocked) }
    }

    /// Lets happen to the reading of a value what was injected.
    ///
    /// - Throws: What the call shall fail with.
    package func meetValue(_ call: CallContext) throws(KeychainError) {
        try happen(call) { $0 == .damagedValue }
    }

    /// Locks a store that plays one that can be locked.
    ///
    /// - Returns: Whether it plays one.
    /// - Throws: What the call shall fail with.
    package func lock(_ call: CallContext) throws(KeychainError) -> Bool {
        try meet(call)
        return setLocked(true)
    }

    /// Unlocks a store that plays one that can be locked.
    ///
    /// - Returns: Whether it plays one.
    /// - Throws: `interactionNotAllowed` if the call may show no prompt, and what else it shall fail with.
    package func unlock(_ call: CallContext) throws(KeychainError) -> Bool {
        try meet(call)
        guard playsLocking else { return false }
        guard call.allowsUnlockPrompt else { throw Self.error(.interactionNotAllowed) }
        return setLocked(false)
    }

    private func setLocked(_ isLocked: Bool) -> Bool {
        state.withLock { state in
            let entries = state.entries.indices.filter { state.entries[$0].fault == .lockedUntilUnlocked }
            for index in entries {
                state.entries[index].skips = 0
                state.entries[index].times = isLocked ? nil : 0
            }
            return !entries.isEmpty
        }
    }

    private func happen(_ call: CallContext, _ isWanted: (MemoryFault) -> Bool) throws(KeychainError) {
        let due = state.withLock { state in
            var due: [MemoryFault] = []
            for index in state.entries.indices {
                let entry = state.entries[index]
                let isMeant = entry.operation == nil || entry.operation == call.operation
                if isMeant, isWanted(entry.fault), state.entries[index].isDue() { due.append(entry.fault) }
            }
            return due
        }
        for fault in due { try happen(fault, call) }
    }

    private func happen(_ fault: MemoryFault, _ call: CallContext) throws(KeychainError) {
        switch fault {
        case .locked, .lockedUntilUnlocked: throw Self.error(.interactionNotAllowed)
        case .unavailable: throw Self.error(.unavailable)
        case .dismissed: throw Self.error(call.allowsUnlockPrompt ? .userCanceled : .interactionNotAllowed)
        case .slow(let duration): try wait(duration, call)
        case .damagedValue: throw Self.error(.corrupt)
        case .failing(let code): throw Self.error(code)
        }
    }

    private func wait(_ duration: Duration, _ call: CallContext) throws(KeychainError) {
        let wake = DispatchSemaphore(value: 0)
        let end = ContinuousClock.now + duration
        try call.withCancellationHandler({ wake.signal() }) { () throws(KeychainError) in
            while ContinuousClock.now < end {
                try call.check()
                let pause = min(end - ContinuousClock.now, call.remaining ?? duration)
                _ = wake.wait(timeout: .now() + max(0.001, pause / .seconds(1)))
            }
        }
    }
}
