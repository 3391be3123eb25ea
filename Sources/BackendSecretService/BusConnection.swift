// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import KeychainAPI
    import Synchronization

    /// A private connection to a bus.
    ///
    /// Not the shared one of the process: its end would be the end of the process (GDBus' exit-on-close), and other
    /// code in the process may close it. Calls are sent from ``BusThread``, and answered there; callers wait on
    /// threads of their own.
    ///
    /// Unchecked because of the pointer: a GDBusConnection is safe to use from any thread.
    final class BusConnection: @unchecked Sendable {
        let pointer: OpaquePointer
        let thread: BusThread

        /// How many calls may be unanswered at once: a bus that is not told otherwise allows 128 for a connection.
        private static let capacity = 64

        private struct Traffic {
            var unanswered = 0
            var waiting: [@Sendable () -> Void] = []
        }

        private let traffic = Mutex(Traffic())

        private init(_ pointer: OpaquePointer, _ thread: BusThread) {
            self.pointer = pointer
            self.thread = thread
        }

        deinit {
            glib.g_dbus_connection_close(pointer, nil, nil, nil)
            glib.g_object_unref(UnsafeMutableRawPointer(pointer))
        }

        /// Whether the bus has ended it.
        var isClosed: Bool { glib.g_dbus_connection_is_closed(pointer) != 0 }

        // MARK: Opening

        /// Connects to a bus.
        ///
        /// - Parameters:
        ///   - address: The address of the bus; must not be one that starts a bus.
        ///   - call: Deadline and cancellation.
        ///   - limit: How long connecting may take if the call has no deadline of its own.
        /// - Throws: `unavailable` if no bus answers there, `timedOut`, `cancelled`.
        static func open(_ address: String, _ call: CallContext, limit: Duration) throws(KeychainError) -> BusConnection
        {
            try call.check()
            let thread = try BusThread.current()
            let cancellable = Cancellable()
            let opening = Opening(thread)
            thread.post {
                glib.g_dbus_connection_new_for_address(
                    address,
                    GDBusConnectionFlags(
                        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
                    ),
                    nil,
                    cancellable.pointer,
                    { _, result, opening in
                        let opening = Unmanaged<Opening>.fromOpaque(opening!).takeRetainedValue()
                        var error: UnsafeMutablePointer<GError>?
                        if let pointer = glib.g_dbus_connection_new_for_address_finish(result, &error) {
                            opening.result.fulfil(.success(BusConnection(pointer, opening.thread)))
                        } else {
                            opening.result.fulfil(.failure(.bus(error, "The session bus could not be reached")))
                        }
                    },
                    Unmanaged.passRetained(opening).toOpaque()
                )
            }
            let patience = call.remaining ?? limit
            // Its greeting takes no cancellation in GDBus: a bus that is stuck is given up on, and what comes late is
            // closed.
            let result = try call.withCancellationHandler {
                cancellable.cancel()
                opening.result.fulfil(
                    .failure(KeychainError(.cancelled, "The call was cancelled before it reached the bus."))
                )
            } _: { () throws(KeychainError) in
                opening.result.wait(patience)
            }
            try call.check()
            switch result {
            case .success(let connection)?: return connection
            case .failure(let error)?:
                guard error.code == .io else { throw error }
                throw KeychainError(
                    .unavailable,
                    "No session bus answers at ‘\(address)’. Log in to a desktop session, or run under "
                        + "dbus-run-session.",
                    underlying: error.underlying
                )
            case nil:
                cancellable.cancel()
                throw KeychainError(
                    .timedOut,
                    "The session bus at ‘\(address)’ did not answer in time. Look whether it hangs."
                )
            }
        }

        private final class Opening: Sendable {
            let result = OneShot<Result<BusConnection, KeychainError>>()
            let thread: BusThread

            init(_ thread: BusThread) {
                self.thread = thread
            }
        }

        // MARK: Calling

        /// Sends one call and waits for the answer.
        ///
        /// - Throws: See ``perform(_:_:limit:window:)``.
        func perform(_ request: BusCall, _ call: CallContext, limit: Duration) throws(KeychainError) -> Variant {
            try perform([request], call, limit: limit)[0].get()
        }

        /// Sends calls and waits for all answers.
        ///
        /// - Parameters:
        ///   - requests: The calls, which are sent in their order.
        ///   - call: Deadline and cancellation.
        ///   - limit: How long each may take if the call has no deadline of its own, which may be sooner or later.
        ///   - window: How many may be unanswered at once.
        /// - Returns: An answer or an error for each call, in their order.
        /// - Throws: `cancelled` or `timedOut` if the call itself has ended.
        func perform(
            _ requests: [BusCall],
            _ call: CallContext,
            limit: Duration,
            window: Int = 64
        ) throws(KeychainError) -> [Result<Variant, KeychainError>] {
            try call.check()
            guard !requests.isEmpty else { return [] }
            let batch = Batch(self, requests, call, limit)
            thread.post { for _ in 0..<min(window, requests.count) { batch.sendNext() } }
            let results = try call.withCancellationHandler {
                batch.cancellable.cancel()
                batch.results.fulfil([])
            } _: { () throws(KeychainError) in
                // A call that was sent ends by itself, but it may still be waiting for its turn.
                batch.results.wait(call.remaining)
            }
            if call.isCancelled { try call.check() }
            if let results { return results }
            batch.cancellable.cancel()
            throw .unanswered(requests[0].action)
        }

        /// Sends a call when it is its turn; runs on the bus thread.
        private func schedule(_ send: @escaping @Sendable () -> Void) {
            let isFree = traffic.withLock { traffic in
                guard traffic.unanswered < Self.capacity else {
                    traffic.waiting.append(send)
                    return false
                }
                traffic.unanswered += 1
                return true
            }
            if isFree { send() }
        }

        /// Gives the turn of a call that was answered to the one that has waited longest.
        private func passOn() {
            let next: (@Sendable () -> Void)? = traffic.withLock { traffic in
                if !traffic.waiting.isEmpty { return traffic.waiting.removeFirst() }
                traffic.unanswered -= 1
                return nil
            }
            next?()
        }

        /// Calls under way.
        ///
        /// Everything but the initializer runs on the bus thread.
        private final class Batch: Sendable {
            private struct State {
                var next = 0
                var unanswered: Int
                var results: [Result<Variant, KeychainError>?]
            }

            let results = OneShot<[Result<Variant, KeychainError>]>()
            let cancellable = Cancellable()
            private let connection: BusConnection
            private let requests: [BusCall]
            private let call: CallContext
            private let limit: Duration
            private let state: Mutex<State>

            init(_ connection: BusConnection, _ requests: [BusCall], _ call: CallContext, _ limit: Duration) {
                self.connection = connection
                self.requests = requests
                self.call = call
                self.limit = limit
                state = Mutex(
                    State(unanswered: requests.count, results: Array(repeating: nil, count: requests.count))
                )
            }

            func sendNext() {
                let index = state.withLock { state in
                    defer { state.next += 1 }
                    return state.next
                }
                guard index < requests.count else { return }
                connection.schedule { self.send(index) }
            }

            private func send(_ index: Int) {
                let request = requests[index]
                let type = glib.g_variant_type_new(request.reply)
                defer { glib.g_variant_type_free(type) }
                glib.g_dbus_connection_call(
                    connection.pointer,
                    request.destination,
                    request.path,
                    request.interface,
                    request.method,
                    request.arguments.pointer,
                    type,
                    // Only StartServiceByName starts anything.
                    G_DBUS_CALL_FLAGS_NO_AUTO_START,
                    (call.remaining ?? limit).milliseconds,
                    cancellable.pointer,
                    { source, result, slot in
                        let slot = Unmanaged<Slot>.fromOpaque(slot!).takeRetainedValue()
                        var error: UnsafeMutablePointer<GError>?
                        if let answer = glib.g_dbus_connection_call_finish(OpaquePointer(source), result, &error) {
                            slot.batch.finish(slot.index, .success(Variant(answer)))
                        } else {
                            slot.batch.finish(slot.index, .failure(.bus(error, slot.batch.requests[slot.index].action)))
                        }
                    },
                    Unmanaged.passRetained(Slot(self, index)).toOpaque()
                )
            }

            private func finish(_ index: Int, _ result: Result<Variant, KeychainError>) {
                connection.passOn()
                let all: [Result<Variant, KeychainError>]? = state.withLock { state in
                    state.results[index] = result
                    state.unanswered -= 1
                    return state.unanswered == 0 ? state.results.compactMap(\.self) : nil
                }
                if let all { results.fulfil(all) } else { sendNext() }
            }
        }

        private final class Slot: Sendable {
            let batch: Batch
            let index: Int

            init(_ batch: Batch, _ index: Int) {
                self.batch = batch
                self.index = index
            }
        }

        // MARK: Signals

        /// Calls a closure on the bus thread for each signal, until the subscription is cancelled.
        ///
        /// - Parameters:
        ///   - sender: Who sends it.
        ///   - interface: The interface that it belongs to.
        ///   - signal: Its name, nil for every one of the interface.
        ///   - path: The object that it is about, nil for every one.
        ///   - firstArgument: Its first argument, nil for any.
        ///   - onSignal: Is given the arguments.
        func subscribe(
            sender: String,
            interface: String,
            signal: String?,
            path: String?,
            firstArgument: String? = nil,
            _ onSignal: @escaping @Sendable (Variant) -> Void
        ) -> BusSubscription {
            let subscription = BusSubscription(self)
            let handler = Handler(onSignal)
            thread.post { [self] in
                subscription.begin(
                    glib.g_dbus_connection_signal_subscribe(
                        pointer,
                        sender,
                        interface,
                        signal,
                        path,
                        firstArgument,
                        G_DBUS_SIGNAL_FLAGS_NONE,
                        { _, _, _, _, _, arguments, handler in
                            guard let arguments else { return }
                            Unmanaged<Handler>.fromOpaque(handler!).takeUnretainedValue().run(
                                Variant(glib.g_variant_ref(arguments))
                            )
                        },
                        Unmanaged.passRetained(handler).toOpaque(),
                        { handler in Unmanaged<Handler>.fromOpaque(handler!).release() }
                    )
                )
            }
            return subscription
        }

        /// Calls a closure on the bus thread for everything that a Secret Service reports of its collections and items.
        func subscribe(toService owner: String, _ onSignal: @escaping @Sendable () -> Void) -> [BusSubscription] {
            [ServiceName.collection, ServiceName.service].map { interface in
                subscribe(sender: owner, interface: interface, signal: nil, path: nil) { _ in onSignal() }
            }
        }

        /// Calls a closure on the bus thread when the connection ends.
        func onClose(_ action: @escaping @Sendable () -> Void) {
            thread.post { [self] in
                let closed:
                    @convention(c) (OpaquePointer?, gboolean, UnsafeMutablePointer<GError>?, gpointer?) -> Void = {
                        _,
                        _,
                        _,
                        handler in
                        Unmanaged<CloseHandler>.fromOpaque(handler!).takeUnretainedValue().run()
                    }
                _ = glib.g_signal_connect_data(
                    UnsafeMutableRawPointer(pointer),
                    "closed",
                    unsafeBitCast(closed, to: GCallback.self),
                    Unmanaged.passRetained(CloseHandler(action)).toOpaque(),
                    { handler, _ in Unmanaged<CloseHandler>.fromOpaque(handler!).release() },
                    GConnectFlags(0)
                )
            }
        }

        private final class CloseHandler: Sendable {
            let run: @Sendable () -> Void

            init(_ run: @escaping @Sendable () -> Void) {
                self.run = run
            }
        }

        private final class Handler: Sendable {
            let run: @Sendable (Variant) -> Void

            init(_ run: @escaping @Sendable (Variant) -> Void) {
                self.run = run
            }
        }
    }

    /// A subscription to a signal, which keeps its connection.
    final class BusSubscription: Sendable {
        private let connection: BusConnection
        private let identifier = Mutex<UInt32>(0)

        init(_ connection: BusConnection) {
            self.connection = connection
        }

        func begin(_ identifier: UInt32) {
            self.identifier.withLock { $0 = identifier }
        }

        /// Ends it; posted behind the beginning, which it therefore never overtakes.
        func cancel() {
            connection.thread.post { [self] in
                let identifier = identifier.withLock { identifier in
                    defer { identifier = 0 }
                    return identifier
                }
                if identifier != 0 { glib.g_dbus_connection_signal_unsubscribe(connection.pointer, identifier) }
            }
        }
    }
#endif
