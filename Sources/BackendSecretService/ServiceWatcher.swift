// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI
    import Synchronization

    /// Tells of everything that the Secret Service reports, and goes on when the service or the bus was away.
    ///
    /// It listens on the connection of the current session, as long as someone observes. While there is no service, a
    /// thread waits for it; the service is not started for that.
    final class ServiceWatcher: Sendable {
        private struct State {
            var nextNumber = 0
            var observers: [Int: @Sendable () -> Void] = [:]
            var attachment: Attachment?
            /// Whether a report is on its way.
            var isReporting = false
            /// Whether a thread waits for the service to come back.
            var isWaiting = false
            /// Wakes that thread.
            var alarm: OneShot<Bool>?
        }

        /// How long signals are collected: a change is several of them, and locking is one for each item.
        private static let collection = Duration.milliseconds(50)
        /// How long observing may take to begin.
        private static let patience = Duration.seconds(20)

        private let gate = CallLock()
        private let state = Mutex(State())

        /// Calls a closure after each report, until the observation ends.
        ///
        /// - Throws: `unavailable` without a bus or a service, `timedOut` if one does not answer.
        static func observe(
            _ link: ServiceLink,
            _ onChange: @escaping @Sendable () -> Void
        ) throws(KeychainError) -> ChangeObservation {
            let watcher = link.watcher
            let number = watcher.state.withLock { state in
                state.nextNumber += 1
                state.observers[state.nextNumber] = onChange
                return state.nextNumber
            }
            do throws(KeychainError) {
                try watcher.attach(link, startsService: true)
            } catch {
                watcher.end(number)
                throw error
            }
            // It keeps the link, and with it the watcher.
            return ChangeObservation { link.watcher.end(number) }
        }

        private func end(_ number: Int) {
            let (observer, attachment) = state.withLock { state in
                // Carried out of the lock: what the closure holds may run code of its own when it is released.
                let observer = state.observers.removeValue(forKey: number)
                guard state.observers.isEmpty else { return (observer, nil as Attachment?) }
                state.alarm?.fulfil(true)
                defer { state.attachment = nil }
                return (observer, state.attachment)
            }
            attachment?.cancel()
            _ = observer
        }

        // MARK: Listening

        /// Listens on the current session, if it does not yet.
        private func attach(_ link: ServiceLink, startsService: Bool) throws(KeychainError) {
            let call = CallContext(.changes, timeout: Self.patience, interaction: .never)
            try gate.withLock(call) { () throws(KeychainError) in
                let session = try link.session(call, startsService: startsService)
                guard state.withLock({ $0.attachment?.session !== session }) else { return }
                let attachment = Attachment(session) { [weak self] in
                    self?.report()
                } onOwnerChange: { [weak self] in
                    self?.state.withLock { $0.alarm }?.fulfil(true)
                } onLoss: { [weak self, weak link] in
                    if let self, let link { self.lost(link) }
                }
                let old = state.withLock { state in
                    // Who observed may have ended meanwhile.
                    guard !state.observers.isEmpty else { return attachment as Attachment? }
                    defer { state.attachment = attachment }
                    return state.attachment
                }
                old?.cancel()
            }
        }

        /// Tells everyone when the signals have been collected; runs on the bus thread.
        private func report() {
            let isFirst = state.withLock { state in
                defer { state.isReporting = true }
                return !state.isReporting
            }
            guard isFirst, let thread = try? BusThread.current() else { return }
            thread.post(after: Self.collection) { [weak self] in
                self?.state.withLock { $0.isReporting = false }
                self?.notify()
            }
        }

        private func notify() {
            for observer in state.withLock({ Array($0.observers.values) }) { observer() }
        }

        // MARK: Waiting

        private func lost(_ link: ServiceLink) {
            let mustWait = state.withLock { state in
                guard !state.isWaiting, !state.observers.isEmpty else { return false }
                state.isWaiting = true
                return true
            }
            guard mustWait else { return }
            let isStarted = DetachedThread.start { [weak self, weak link] in
                while let self, let link, let pause = self.tryAgain(link) { _ = pause.alarm.wait(pause.patience) }
            }
            guard !isStarted else { return }
            // The process may have no more threads: who observes looks now, and sees what is wrong.
            state.withLock { $0.isWaiting = false }
            notify()
        }

        /// Listens on a new session if there is one; else what to wait for, and how long.
        private func tryAgain(_ link: ServiceLink) -> (alarm: OneShot<Bool>, patience: Duration)? {
            let alarm = OneShot<Bool>()
            let isObserved = state.withLock { state in
                state.alarm = alarm
                state.isWaiting = !state.observers.isEmpty
                return state.isWaiting
            }
            guard isObserved else { return nil }
            try? attach(link, startsService: false)
            let attachment = state.withLock { state in
                // It may have been lost again meanwhile, of which this thread has to take care.
                if state.attachment?.session.isUsable ?? true { state.isWaiting = false }
                return state.isWaiting ? state.attachment : nil
            }
            guard let attachment else {
                // What happened meanwhile is not known.
                notify()
                return nil
            }
            // The bus tells when a service appears; that there is a bus again no one tells.
            return (alarm, attachment.session.connection.isClosed ? .seconds(1) : .seconds(30))
        }

        /// What listens on one session.
        private final class Attachment: Sendable {
            let session: ServiceSession
            private let subscriptions: [BusSubscription]
            private let lossHandler: Int?

            init(
                _ session: ServiceSession,
                onSignal: @escaping @Sendable () -> Void,
                onOwnerChange: @escaping @Sendable () -> Void,
                onLoss: @escaping @Sendable () -> Void
            ) {
                self.session = session
                subscriptions =
                    session.connection.subscribe(toService: session.owner, onSignal) + [
                        session.connection.subscribe(
                            sender: "org.freedesktop.DBus",
                            interface: "org.freedesktop.DBus",
                            signal: "NameOwnerChanged",
                            path: "/org/freedesktop/DBus",
                            firstArgument: ServiceName.bus
                        ) { _ in onOwnerChange() }
                    ]
                lossHandler = session.addLossHandler(onLoss)
            }

            func cancel() {
                for subscription in subscriptions { subscription.cancel() }
                session.removeLossHandler(lossHandler)
            }
        }
    }
#endif
