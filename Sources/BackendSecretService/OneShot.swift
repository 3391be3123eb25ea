// SPDX-License-Identifier: MIT
#if SecretService
    import Dispatch
    import Synchronization

    /// A result that one thread delivers once and another waits for.
    final class OneShot<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)
        private let isReady = DispatchSemaphore(value: 0)

        /// Delivers the result; only the first one counts.
        func fulfil(_ result: Value) {
            let isFirst = value.withLock { value in
                guard value == nil else { return false }
                value = result
                return true
            }
            if isFirst { isReady.signal() }
        }

        /// Waits for the result, nil if it does not come in time.
        ///
        /// - Parameter patience: How long, nil for as long as it takes.
        func wait(_ patience: Duration?) -> Value? {
            if let patience {
                guard isReady.wait(timeout: .now() + patience.dispatchInterval) == .success else { return nil }
            } else {
                isReady.wait()
            }
            isReady.signal()
            return value.withLock { $0 }
        }
    }

    extension Duration {
        /// The duration for Dispatch's clocks.
        var dispatchInterval: DispatchTimeInterval {
            let (seconds, attoseconds) = components
            guard seconds < Int64(Int32.max) else { return .seconds(Int(Int32.max)) }
            return .nanoseconds(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        }

        /// The duration in milliseconds, at least one, as GDBus takes it.
        var milliseconds: Int32 {
            let (seconds, attoseconds) = components
            guard seconds < Int64(Int32.max / 1000) else { return .max }
            return max(1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000))
        }
    }
#endif
