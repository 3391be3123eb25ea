// SPDX-License-Identifier: MIT

import Synchronization

/// A running observation of a store; it ends when it is cancelled or released.
public final class ChangeObservation: Sendable {
    private let onCancel: Mutex<(@Sendable () -> Void)?>

    /// Makes an observation.
    ///
    /// - Parameter onCancel: Ends the observation; is called exactly once, on any thread.
    public init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Mutex(onCancel)
    }

    /// Ends the observation; a second call does nothing.
    public func cancel() {
        let action = onCancel.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }

    deinit {
        cancel()
    }
}
