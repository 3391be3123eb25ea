// SPDX-License-Identifier: MIT

import Glibc

/// A thread of its own, for what blocks for as long as it likes.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs a closure on a new thread, which ends with it.
    ///
    /// - Returns: False if the process may have no more threads; the closure does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(body))
        let result = pthread_create(
            &thread,
            nil,
            { argument in
                Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard result == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
