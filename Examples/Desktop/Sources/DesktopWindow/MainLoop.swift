// SPDX-License-Identifier: MIT

import CGTK

/// GLib's main loop, on the main thread, which GTK has to be used from.
///
/// The main actor has the same thread but a queue of its own, which GLib does not serve: `await MainActor.run` would wait
/// for ever. So tasks come back through GLib, and what GLib calls says that it is on the main actor's thread.
package enum MainLoop {
    private final class Action: Sendable {
        let body: @MainActor @Sendable () -> Void

        init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
    }

    /// Lets the main loop run a closure as soon as it can; in the order of the calls.
    ///
    /// - Parameter body: Uses GTK; may be given from any thread.
    package static func run(_ body: @escaping @MainActor @Sendable () -> Void) {
        let action = Unmanaged.passRetained(Action(body)).toOpaque()
        _ = g_idle_add_full(
            // Before GTK draws, so that what is shown is what is known.
            G_PRIORITY_DEFAULT,
            { data in
                let action = Unmanaged<Action>.fromOpaque(data!).takeUnretainedValue()
                MainActor.assumeIsolated { action.body() }
                return G_SOURCE_REMOVE
            },
            action,
            { Unmanaged<Action>.fromOpaque($0!).release() }
        )
    }
}
