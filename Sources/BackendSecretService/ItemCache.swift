// SPDX-License-Identifier: MIT
#if SecretService
    import Synchronization

    /// What searches for one item have found, until the service says that anything has changed.
    ///
    /// A signal is sent before the answer to any call that came after the change, on the same connection, and both are
    /// delivered by one thread in that order. So what is remembered is true at the moment of an answer, if nothing was
    /// forgotten until it came. GNOME Keyring only: other services leave out signals.
    ///
    /// The value is never in it, and the time of the last change is not to be relied on: no signal tells of a value that
    /// was replaced.
    final class ItemCache: Sendable {
        /// What was found for a search.
        struct Entry: Sendable {
            /// The only item, nil if there was none.
            let item: StoredItem?
            /// How often anything had changed before.
            let generation: UInt64
        }

        private final class Memory: Sendable {
            let state = Mutex(State())

            func forgetAll() {
                state.withLock { state in
                    state.generation += 1
                    state.items = [:]
                }
            }
        }

        private struct State {
            var generation: UInt64 = 0
            var items: [[UInt8]: StoredItem?] = [:]
        }

        /// How many searches are remembered; then it begins anew.
        private static let capacity = 1_000

        private let memory = Memory()
        private let subscriptions: [BusSubscription]

        /// Listens to a service.
        init(_ connection: BusConnection, owner: String) {
            let memory = memory
            subscriptions = connection.subscribe(toService: owner) { memory.forgetAll() }
        }

        deinit {
            for subscription in subscriptions { subscription.cancel() }
        }

        /// How often anything has changed.
        var generation: UInt64 { memory.state.withLock { $0.generation } }

        /// What a search has found, nil if that is not known any more.
        subscript(key: [UInt8]) -> Entry? {
            memory.state.withLock { state in
                state.items[key].map { Entry(item: $0, generation: state.generation) }
            }
        }

        /// Remembers what a search has found, unless anything has changed since it was begun.
        func remember(_ item: StoredItem?, for key: [UInt8], since generation: UInt64) {
            memory.state.withLock { state in
                guard state.generation == generation else { return }
                if state.items.count >= Self.capacity { state.items = [:] }
                state.items[key] = .some(item)
            }
        }
    }
#endif
