// SPDX-License-Identifier: MIT

import CGTK

/// Measures for how long the main loop does not come to what is due every ten milliseconds.
@MainActor final class LoopWatch {
    private var last = ContinuousClock.now
    private var longest = Duration.zero
    private var source: guint = 0

    /// Begins to measure.
    init() {
        source = g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            10,
            { data in
                let watch = Unmanaged<LoopWatch>.fromOpaque(data!).takeUnretainedValue()
                MainActor.assumeIsolated { watch.tick() }
                return G_SOURCE_CONTINUE
            },
            Unmanaged.passRetained(self).toOpaque(),
            { Unmanaged<LoopWatch>.fromOpaque($0!).release() }
        )
    }

    private func tick() {
        let now = ContinuousClock.now
        longest = max(longest, now - last)
        last = now
    }

    /// Ends, and gives the longest time between two turns.
    func stop() -> Duration {
        tick()
        g_source_remove(source)
        return longest
    }
}
