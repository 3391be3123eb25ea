// SPDX-License-Identifier: MIT
#if SecretService
    import Synchronization

    /// What searches for one item have found, until the service says that anything has changed, and how items looked,
    /// until it says that they have.
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

        /// How an item looked.
        struct Description: Sendable {
            /// The item.
            var item: StoredItem
            /// No later than when it was looked at, in seconds since 1970.
            let second: UInt64
        }

        private final class Memory: Sendable {
            let state = Mutex(State())

            /// Takes in a signal about one item, or about everything.
            func forget(_ path: String? = nil) {
                state.withLock { state in
                    state.generation += 1
                    state.items = [:]
                    if let path { state.descriptions[path] = nil } else { state.descriptions = [:] }
                }
            }
        }

        private struct State {
            var generation: UInt64 = 0
            var items: [[UInt8]: StoredItem?] = [:]
            var descriptions: [String: Description] = [:]
        }

        /// How many searches are remembered; then it begins anew.
        private static let capacity = 1_000
        /// How many items are remembered, of about a kilobyte each; then it begins anew.
        private static let descriptionCapacity = 4_000

        private let memory = Memory()
        private let subscriptions: [BusSubscription]

        /// Listens to a service.
        init(_ connection: BusConnection, owner: String) {
            let memory = memory
            subscriptions = [
                connection.subscribe(sender: owner, interface: ServiceName.collection, signal: nil, path: nil) {
                    signal in
                    memory.forget(signal.type == "(o)" ? signal[0].text : nil)
                },
                connection.subscribe(sender: owner, interface: ServiceName.service, signal: nil, path: nil) { _ in
                    memory.forget()
                },
            ]
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

        /// How items looked when they were last looked at, of those of which that is still so.
        ///
        /// All but the time of the last change, which a value that is replaced alters without a signal.
        func descriptions(of paths: [String]) -> [String: Description] {
            memory.state.withLock { state in
                var found: [String: Description] = [:]
                for path in paths { found[path] = state.descriptions[path] }
                return found
            }
        }

        /// Remembers how items look, unless anything has changed since they were asked about.
        func remember(_ described: [StoredItem], at second: UInt64, since generation: UInt64) {
            memory.state.withLock { state in
                guard state.generation == generation else { return }
                if state.descriptions.count + described.count > Self.descriptionCapacity { state.descriptions = [:] }
                for item in described.prefix(Self.descriptionCapacity) {
                    state.descriptions[item.path] = Description(item: item, second: second)
                }
            }
        }
    }
#endif
