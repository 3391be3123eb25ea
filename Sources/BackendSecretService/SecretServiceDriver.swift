// SPDX-License-Identifier: MIT
#if SecretService
    public import KeychainAPI
    import FoundationEssentials
    import KeychainSystem
    import Synchronization

    /// The desktop's keyring, through the Secret Service: GNOME Keyring, and what else implements
    /// `org.freedesktop.secrets`.
    ///
    /// Items are shared with the other programs of the desktop: `secret-tool`, Python's keyring, go-keyring, Git's
    /// helper and Seahorse read what is stored here, and what they stored is read. Attributes are not secret there:
    /// their names and values can be read on the bus and, in clear or hashed, in the keyring's file.
    public final class SecretServiceDriver: KeychainDriver {
        /// The form in which values lie in the service.
        public enum ValueForm: Sendable, Hashable {
            /// As they are where every service keeps them unaltered, else as one line of ASCII with a checksum.
            case safe
            /// As they are, so that other programs read every value.
            ///
            /// Some services alter such values: GNOME Keyring without a password loses its whole keyring to a line
            /// break.
            case raw
        }

        /// The largest value that ``maximumValueSize`` may be set to: far below what makes the bus end connections.
        public static let largestValueSize = 16 << 20

        /// `secret-service`.
        public let identifier: DriverIdentifier = "secret-service"
        /// `secret-service:` and the collection as it was given.
        public let location: String
        /// Changes are told, collections are locked, items last, are shared and have attributes in clear; the service
        /// counts whole seconds.
        public let capabilities: DriverCapabilities = [
            .changeEvents, .locking, .persistent, .sharedWithOtherPrograms, .wholeSecondModificationDates,
            .attributesInClear,
        ]
        /// The largest value that is stored, in bytes.
        public let maximumValueSize: Int

        private let collection: String
        private let busAddress: String?
        private let valueForm: ValueForm
        private let scheme: AttributeScheme
        private let environment: [String: String]
        /// Keeps the connection open between calls.
        private let link = Mutex<(address: String, link: ServiceLink)?>(nil)

        /// Makes a driver; nothing is connected or started before the first call.
        ///
        /// - Parameters:
        ///   - collection: `""` for the default collection, else an object path, a label, or an alias such as
        ///     `session`.
        ///   - scheme: The attributes by which other programs know a generic password. It is not part of the
        ///     ``location``.
        ///   - valueForm: The form in which values are stored.
        ///   - maximumValueSize: The largest value that is stored, at most ``largestValueSize``.
        ///   - busAddress: The address of the bus, nil for the session bus of the environment.
        ///   - environment: Where the session bus, the display and the folder for locks are looked up, nil for the
        ///     environment of the process.
        /// - Throws: `invalidParameter` for NUL in a name, an object path that is none, or a size out of range;
        ///   `unavailable` for a bus address that cannot be used, and if libsecret is not installed.
        public init(
            collection: String = "",
            scheme: AttributeScheme = .standard,
            valueForm: ValueForm = .safe,
            maximumValueSize: Int = 1 << 20,
            busAddress: String? = nil,
            environment: [String: String]? = nil
        ) throws(KeychainError) {
            try GLibrary.load()
            guard !collection.utf8.contains(0), !collection.hasPrefix("/") || Variant.isObjectPath(collection) else {
                throw KeychainError(
                    .invalidParameter,
                    "‘\(collection)’ is not a collection. Name one by its label, as in secret-service:Login, or "
                        + "leave it out."
                )
            }
            guard (0...Self.largestValueSize).contains(maximumValueSize) else {
                throw KeychainError(
                    .invalidParameter,
                    "The largest value can be at most \(Self.largestValueSize) bytes."
                )
            }
            if let busAddress { _ = try BusAddress.usable(busAddress) }
            self.collection = collection
            self.scheme = scheme
            self.valueForm = valueForm
            self.maximumValueSize = maximumValueSize
            self.busAddress = busAddress
            self.environment = environment ?? ProcessInfo.processInfo.environment
            location = "secret-service:\(collection)"
        }

        /// Runs a closure that looks at the collection.
        ///
        /// Other programs may write between two questions of the closure.
        ///
        /// - Throws: What the body throws, or why the collection could not be read.
        public func read<Result>(
            _ call: CallContext,
            _ body: (any RecordReader) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            let reader = try reader(call)
            guard call.operation == .changes else { return try body(reader) }
            // Not in the middle of a change that this library makes in several steps, each of which is reported.
            let bus = try reader.link.retrying(call) { (session) throws(KeychainError) in
                // A person who is asked keeps no one waiting.
                if call.allowsUnlockPrompt { _ = try reader.finder.unlocked(session) }
                return session.busIdentifier
            }
            return try lock(bus).withLock(call) { () throws(KeychainError) in try body(reader) }
        }

        /// Runs a closure while no other thread or process writes through this library.
        ///
        /// The collection is unlocked before the lock is taken, so that a person who is asked keeps no one else
        /// waiting.
        ///
        /// - Throws: What the body throws, `busy` with the process that holds the lock, or why the collection could
        ///   not be written.
        public func write<Result>(
            _ call: CallContext,
            _ body: (any RecordWriter) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            let reader = try reader(call)
            let bus = try reader.link.retrying(call) { (session) throws(KeychainError) in
                _ = try reader.finder.unlocked(session)
                return session.busIdentifier
            }
            return try lock(bus).withLock(call) { () throws(KeychainError) in
                try body(SecretServiceWriter(reader: reader, valueForm: valueForm, maximumValueSize: maximumValueSize))
            }
        }

        /// Calls a closure whenever the service reports a change, whichever program made it.
        ///
        /// It is also called when the service was started anew, or the connection to it was lost and is back.
        ///
        /// What a service does not report is not noticed: GNOME Keyring says nothing when another program replaces the
        /// secret of an item in place (`SetSecret`) and leaves the rest as it is.
        ///
        /// - Parameter onChange: Is called on the driver's own thread.
        /// - Throws: `unavailable` without a bus or a service, `timedOut` if one does not answer.
        public func observeChanges(
            _ onChange: @escaping @Sendable () -> Void
        ) throws(KeychainError) -> ChangeObservation {
            try ServiceWatcher.observe(currentLink(), onChange)
        }

        /// Locks the collection, for every program of the desktop.
        ///
        /// - Throws: `unsupported` for a collection that the service does not lock, and why it could not be reached.
        public func lock(_ call: CallContext) throws(KeychainError) {
            let reader = try reader(call)
            try reader.link.retrying(call) { (session) throws(KeychainError) in try reader.finder.lock(session) }
        }

        /// Unlocks the collection, with a prompt of the service if it needs one and the call allows it.
        ///
        /// - Throws: `interactionNotAllowed` if no prompt is allowed or none could be shown, `userCanceled` if it was
        ///   dismissed, and why the collection could not be reached.
        public func unlock(_ call: CallContext) throws(KeychainError) {
            let reader = try reader(call)
            _ = try reader.link.retrying(call) { (session) throws(KeychainError) in
                try reader.finder.unlocked(session)
            }
        }

        /// Creates the collection, with a prompt of the service if it needs one; the default collection if none was
        /// named.
        ///
        /// This is the one call that ever creates a collection (Secret Service API Draft, `CreateCollection`).
        ///
        /// - Parameter call: Deadline, cancellation and interaction policy.
        /// - Throws: `duplicateItem` if there is a collection of that name, `invalidParameter` for an object path,
        ///   `interactionNotAllowed` if no prompt is allowed or none could be shown, `userCanceled` if it was dismissed.
        public func create(_ call: CallContext) throws(KeychainError) {
            let reader = try reader(call)
            // Not twice: what was asked for when the service went away may have been created.
            try reader.finder.create(try reader.link.session(call))
        }

        func reader(_ call: CallContext) throws(KeychainError) -> SecretServiceReader {
            let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
            return SecretServiceReader(
                link: try currentLink(),
                finder: CollectionFinder(name: collection, call: call, hasDisplay: hasDisplay),
                layout: ItemLayout(scheme: scheme),
                call: call
            )
        }

        private func currentLink() throws(KeychainError) -> ServiceLink {
            let address: String
            if let busAddress { address = busAddress } else { address = try BusAddress.session(environment) }
            return link.withLock { link in
                if let link, link.address == address { return link.link }
                let new = ServiceLink.to(address)
                link = (address, new)
                return new
            }
        }

        /// The lock of all who write through this library to the services of one bus.
        private func lock(_ bus: String) throws(KeychainError) -> ProcessLock {
            let folder = try PrivateDirectory.runtime(environment: environment)
            try PrivateDirectory.ensure(folder)
            try PrivateDirectory.requirePrivate(folder)
            let name = bus.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(64)
            return ProcessLock(path: "\(folder)/secret-service-\(name).lock")
        }
    }
#endif
