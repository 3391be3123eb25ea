// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI
    import Synchronization

    /// A connection to one run of the Secret Service, with the encrypted session in it.
    ///
    /// Everything in it belongs together and is thrown away together: when the bus, the owner of the service's name
    /// or the session changes, ``ServiceLink`` makes a new one.
    final class ServiceSession: Sendable {
        /// How long an answer may take that needs nothing from a person, if the call has no deadline of its own.
        static let answerLimit = Duration.seconds(10)
        /// How long a write may take, likewise: a keyring of 10,000 items takes nine seconds to be written.
        static let writeLimit = Duration.seconds(30)

        let connection: BusConnection
        /// The unique name of the service: a call to it can never reach another provider.
        let owner: String
        /// What identifies the bus, whatever the address by which it was reached.
        let busIdentifier: String
        /// Whether the service is GNOME Keyring, whose answers count as they are.
        ///
        /// Other services may answer for a locked collection as if it were unlocked (KWallet gives empty values, and
        /// drops what is written), or as if it were empty (KeePassXC), and may merge attributes where they should
        /// replace them. What they say is believed only after a second look.
        let isGNOMEKeyring: Bool

        private let watch: BusSubscription
        private let loss: Loss
        private let secretLock = CallLock()
        private let secret = Mutex<SecretSession?>(nil)
        /// What was found before; nil for a service that does not tell of every change.
        let cache: ItemCache?
        /// Whether the service keeps no dates, as far as it was asked; see ``CollectionFinder/keepsNoDates(_:)``.
        let dateless = Mutex<Bool?>(nil)
        /// The collections that names stood for when they were last looked up.
        let collections = Mutex<[String: String]>([:])

        /// Who wants to know when the service is gone.
        private final class Loss: Sendable {
            struct State {
                var isLost = false
                var next = 0
                var handlers: [Int: @Sendable () -> Void] = [:]
            }

            let state = Mutex(State())

            func happen() {
                let handlers = state.withLock { state in
                    state.isLost = true
                    defer { state.handlers = [:] }
                    return state.handlers.values.map { $0 }
                }
                for handler in handlers { handler() }
            }
        }

        private init(_ connection: BusConnection, owner: String, busIdentifier: String, isGNOMEKeyring: Bool) {
            self.connection = connection
            self.owner = owner
            self.busIdentifier = busIdentifier
            self.isGNOMEKeyring = isGNOMEKeyring
            cache = isGNOMEKeyring ? ItemCache(connection, owner: owner) : nil
            let loss = Loss()
            self.loss = loss
            watch = connection.subscribe(
                sender: "org.freedesktop.DBus",
                interface: "org.freedesktop.DBus",
                signal: "NameOwnerChanged",
                path: "/org/freedesktop/DBus",
                firstArgument: ServiceName.bus
            ) { arguments in
                if arguments.type == "(sss)", arguments[2].text != owner { loss.happen() }
            }
            connection.onClose { loss.happen() }
        }

        deinit {
            watch.cancel()
        }

        /// Whether it can still be used, as far as is known.
        var isUsable: Bool { !connection.isClosed && !loss.state.withLock { $0.isLost } }

        // MARK: Opening

        /// Connects, and starts the service if it is not running.
        ///
        /// - Parameters:
        ///   - address: The address of the bus.
        ///   - call: Deadline and cancellation.
        ///   - startsService: Whether a service that is not running is started.
        /// - Throws: `unavailable` without a bus or a service, `timedOut` if one does not answer.
        static func open(
            _ address: String,
            _ call: CallContext,
            startsService: Bool
        ) throws(KeychainError) -> ServiceSession {
            let connection = try BusConnection.open(address, call, limit: answerLimit)
            if let session = try find(connection, call, isNeeded: !startsService) { return session }
            try start(connection, call)
            if let session = try find(connection, call, isNeeded: false) { return session }
            throw KeychainError(.unavailable, "The Secret Service ended as soon as it had started. See its log.")
        }

        /// The service that runs, nil if none does.
        ///
        /// - Throws: Also if none runs, when it is needed.
        private static func find(
            _ connection: BusConnection,
            _ call: CallContext,
            isNeeded: Bool
        ) throws(KeychainError) -> ServiceSession? {
            let names = [ServiceName.bus, "org.gnome.keyring"]
            let owners = names.map { BusCall.owner(of: $0, action: "The Secret Service could not be found") }
            let found = try connection.perform(owners + [identifierRequest], call, limit: answerLimit)
            let identifier = try found[2].get()[0].text
            switch found[0] {
            case .success(let answer):
                let owner = answer[0].text
                let isGNOMEKeyring = (try? found[1].get())?[0].text == owner
                return ServiceSession(
                    connection,
                    owner: owner,
                    busIdentifier: identifier,
                    isGNOMEKeyring: isGNOMEKeyring
                )
            case .failure(let error):
                guard error.trouble == .lost, !isNeeded else { throw error }
                return nil
            }
        }

        private static let identifierRequest = BusCall.bus(
            "GetId",
            [],
            reply: "(s)",
            action: "The session bus could not be identified"
        )

        /// The one deliberate start of the service.
        private static func start(_ connection: BusConnection, _ call: CallContext) throws(KeychainError) {
            let request = BusCall.bus(
                "StartServiceByName",
                [.string(ServiceName.bus), .unsigned32(0)],
                reply: "(u)",
                action: "The Secret Service could not be started"
            )
            do {
                _ = try connection.perform(request, call, limit: answerLimit)
            } catch {
                guard error.trouble == .lost, !connection.isClosed else { throw error }
                throw KeychainError(
                    .unavailable,
                    "No Secret Service runs on the session bus, and none can be started. Install and start one, for "
                        + "example "
                        + "the package gnome-keyring, or use another store, for example file:.",
                    underlying: error.underlying
                )
            }
        }

        // MARK: Calling

        /// The encrypted session, opened when it is first needed.
        func secretSession(_ call: CallContext) throws(KeychainError) -> SecretSession {
            if let session = secret.withLock({ $0 }) { return session }
            return try secretLock.withLock(call) { () throws(KeychainError) in
                if let session = secret.withLock({ $0 }) { return session }
                let session = try SecretSession.open(self, call)
                secret.withLock { $0 = session }
                return session
            }
        }

        /// A call of a method of the service.
        func request(
            _ path: String,
            _ interface: String,
            _ method: String,
            _ arguments: [Variant],
            reply: String,
            _ action: String
        ) -> BusCall {
            BusCall(
                destination: owner,
                path: path,
                interface: interface,
                method: method,
                arguments: .tuple(arguments),
                reply: reply,
                action: action
            )
        }

        /// A call that reads one property.
        func property(_ path: String, _ interface: String, _ name: String, _ action: String) -> BusCall {
            request(path, ServiceName.properties, "Get", [.string(interface), .string(name)], reply: "(v)", action)
        }

        /// Sends one call and waits for the answer.
        func perform(
            _ request: BusCall,
            _ call: CallContext,
            limit: Duration = answerLimit
        ) throws(KeychainError) -> Variant {
            try connection.perform(request, call, limit: limit)
        }

        /// Runs a closure with a handler in place that is called when the service goes away.
        func withLossHandler<Result>(
            _ handler: @escaping @Sendable () -> Void,
            _ body: () throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            let key = addLossHandler(handler)
            defer { removeLossHandler(key) }
            return try body()
        }

        /// Calls a closure when the service goes away, once; at once if it has gone already.
        ///
        /// - Returns: What ``removeLossHandler(_:)`` takes.
        func addLossHandler(_ handler: @escaping @Sendable () -> Void) -> Int? {
            let key: Int? = loss.state.withLock { state in
                guard !state.isLost else { return nil }
                state.next += 1
                state.handlers[state.next] = handler
                return state.next
            }
            if key == nil { handler() }
            return key
        }

        /// Calls a closure no more.
        func removeLossHandler(_ key: Int?) {
            guard let key else { return }
            // Carried out of the lock: what the closure holds may run code of its own when it is released.
            _ = loss.state.withLock { $0.handlers.removeValue(forKey: key) }
        }
    }

    /// The way to the Secret Service on one bus, shared by every store in the process that uses it.
    final class ServiceLink: Sendable {
        /// Tells of changes.
        let watcher = ServiceWatcher()

        private let address: String
        private let gate = CallLock()
        private let current = Mutex<ServiceSession?>(nil)

        private struct Weak {
            weak var link: ServiceLink?
        }

        private static let links = Mutex<[String: Weak]>([:])

        /// The link to a bus, made if no one in the process has it.
        static func to(_ address: String) -> ServiceLink {
            links.withLock { links in
                if let link = links[address]?.link { return link }
                let link = ServiceLink(address)
                links = links.filter { $0.value.link != nil }
                links[address] = Weak(link: link)
                return link
            }
        }

        private init(_ address: String) {
            self.address = address
        }

        /// The session, opened if there is none or the last one has ended.
        ///
        /// - Parameters:
        ///   - call: Deadline and cancellation.
        ///   - startsService: Whether a service that is not running is started.
        func session(_ call: CallContext, startsService: Bool = true) throws(KeychainError) -> ServiceSession {
            try call.check()
            // A forked process must not so much as look at what it has inherited.
            _ = try BusThread.current()
            if let session = usable { return session }
            return try gate.withLock(call) { () throws(KeychainError) in
                if let session = usable { return session }
                let session = try ServiceSession.open(address, call, startsService: startsService)
                current.withLock { $0 = session }
                return session
            }
        }

        /// Forgets a session, so that the next call opens another one.
        func drop(_ session: ServiceSession) {
            current.withLock { current in
                if current === session { current = nil }
            }
        }

        private var usable: ServiceSession? {
            current.withLock { $0 }.flatMap { $0.isUsable ? $0 : nil }
        }

        /// Runs a closure, and again on a new session if the service went away, forgot the session, or sent a value
        /// that does not decrypt.
        ///
        /// Of KWallet's sessions one in a hundred has two different keys (KDE bug 514194): three new ones are enough.
        /// Only for what can be done twice.
        func retrying<Result>(
            _ call: CallContext,
            _ body: (ServiceSession) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            var attempt = 1
            while true {
                let session = try session(call)
                do {
                    return try body(session)
                } catch {
                    guard error.trouble == .lost || error.trouble == .noSession else { throw error }
                    drop(session)
                    if attempt == 4 || error.trouble == .lost && attempt == 2 { throw error }
                    attempt += 1
                }
            }
        }
    }
#endif
