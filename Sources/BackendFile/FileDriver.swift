// SPDX-License-Identifier: MIT
#if File
    public import FoundationEssentials
    import Glibc
    public import KeychainAPI
    import KeychainSodium
    import KeychainSystem
    import Synchronization

    /// Keeps items in one encrypted file, which several threads and processes may use at once.
    ///
    /// The file is opened and unlocked by the first call that needs it, and stays open: deriving the key from a passphrase
    /// takes its tenth of a second once. Reading takes no lock and writes nothing. A commit appends one record and is
    /// durable when it returns; a process that is killed, or a power cut, at any moment loses no commit that had returned.
    /// Opened, the driver keeps the descriptions of all items in memory, and no value.
    ///
    /// The format is described in `docs/FileFormat.md`.
    public final class FileDriver: KeychainDriver {
        /// `file`.
        public let identifier: DriverIdentifier = .file
        /// Transactions, change events, and items that outlive the process.
        public let capabilities: DriverCapabilities = [.transactions, .changeEvents, .persistent]
        /// 64 MiB.
        public let maximumValueSize = FileLayout.valueLimit

        let place: FilePlace
        let finder: KeyFinder
        private let options: StoreOptions
        private let seen: SeenState?
        private let lock: ProcessLock
        private let gate = CallLock()
        let session: Mutex<Session>
        /// What unlocked the file last, nil if this driver has made it or not opened it yet.
        let used = Mutex<KeyFinder.Found?>(nil)
        private let watcher: FolderWatcher

        /// Names a keychain file; nothing is opened, created or asked for yet.
        ///
        /// - Parameters:
        ///   - path: An absolute path, or one relative to the working folder; `""` is `swift-keychain/default.keychain`
        ///     in the user's data folder (`XDG_DATA_HOME`). `~` stands for nothing.
        ///   - options: How the file is unlocked, and what to do if there is none.
        ///   - environment: Where `XDG_DATA_HOME`, `KEYCHAIN_KEY` and `CREDENTIALS_DIRECTORY` are looked up.
        /// - Throws: `invalidParameter` for a path that cannot name a file or leads to one that is not UTF-8,
        ///   `unavailable` without a home folder.
        public convenience init(
            path: String,
            options: StoreOptions = StoreOptions(),
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws(KeychainError) {
            try self.init(path: path, options: options, environment: environment, cost: .interactive)
        }

        init(
            path: String,
            options: StoreOptions,
            environment: [String: String],
            cost: DerivationCost,
            system: any FileSystem = SystemFiles()
        ) throws(KeychainError) {
            try Sodium.prepare()
            place = try FilePlace(
                path,
                permissions: options.permissions,
                system: system,
                environment: environment
            )
            self.options = options
            finder = KeyFinder(place: place, options: options, environment: environment, cost: cost)
            seen = options.detectsRollback ? SeenState(place, environment: environment) : nil
            session = Mutex(Session(seen: seen))
            lock = ProcessLock(path: place.lockPath, guarding: place.path)
            watcher = FolderWatcher(place)
            watcher.tell { [weak self] in
                guard let self else { return nil }
                return self.session.withLock { $0.moment(at: self.place) }
            }
        }

        /// Where the file is, symbolic links followed as far as they exist.
        public var location: String { place.location }

        /// Runs a closure with what the file contains now; takes no lock, and changes nothing on the disk.
        ///
        /// - Parameters:
        ///   - call: Deadline, cancellation and interaction policy.
        ///   - body: Is run at most once, on the calling thread.
        /// - Throws: What the body throws, or why the file could not be read: `unavailable` if there is none,
        ///   `authenticationFailed`, `interactionNotAllowed`, `corrupt`, `insecurePermissions`.
        public func read<Result>(
            _ call: CallContext,
            _ body: (any RecordReader) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            defer { Sodium.clearStack() }
            guard let view = try view(call) else { return try body(EmptyReader()) }
            return try body(FileReader(view: view, call: call))
        }

        /// Runs a closure while no other thread or process writes to the file.
        ///
        /// - Parameters:
        ///   - call: Deadline, cancellation and interaction policy.
        ///   - body: Is run at most once, on the calling thread.
        /// - Throws: What the body throws, `busy` if another writer kept the lock, or why the file could not be written.
        public func write<Result>(
            _ call: CallContext,
            _ body: (any RecordWriter) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            defer { Sodium.clearStack() }
            return try exclusively(call) { () throws(KeychainError) in try body(FileWriter(driver: self, call: call)) }
        }

        /// Calls a closure whenever the file may have changed, whoever changed it.
        ///
        /// A file system of another machine (NFS) tells of the changes of this one only.
        ///
        /// - Parameter onChange: Is called on a thread of its own.
        /// - Throws: `io` if the system's limit of watches is reached (`fs.inotify.max_user_instances`).
        public func observeChanges(
            _ onChange: @escaping @Sendable () -> Void
        ) throws(KeychainError) -> ChangeObservation {
            try watcher.observe(onChange)
        }

        /// Creates the file now, empty.
        ///
        /// - Parameter call: Deadline, cancellation and interaction policy.
        /// - Throws: `duplicateItem` if there is a file, `unavailable` if there is something else, and why it could not be
        ///   created.
        public func create(_ call: CallContext) throws(KeychainError) {
            try call.check()
            if let status = try place.status() {
                try status.requireFile(place.path)
                throw FilePlace.exists(place.path)
            }
            // Before the lock is taken, so that no one waits for a person to type, and a missing key leaves no trace.
            let source = try finder.settledSource(call)
            try PrivateDirectory.ensure(place.folder)
            try lock.withLock(call) { () throws(KeychainError) in
                place.removeLeftovers()
                guard try place.status() == nil else { throw FilePlace.exists(place.path) }
                // The new file is locked as well, and would stay so as long as it is open.
                defer { session.withLock { $0.endWriting() } }
                try adopt(try newStore(source, call))
            }
        }
    }

    // Opening.
    extension FileDriver {
        /// The file as it is now, nil if there is none and that is as good as an empty one.
        func view(_ call: CallContext) throws(KeychainError) -> FileView? {
            while true {
                try call.check()
                let state = try session.withLock { (session) throws(KeychainError) in try session.state(at: place) }
                switch state {
                case .open(let view): return view
                case .locked: try openLocked(call)
                case .missing:
                    guard options.creation == .ifMissing else { throw noFile }
                    return nil
                }
            }
        }

        func exclusively<Result>(
            _ call: CallContext,
            _ body: () throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            // Before the lock is taken, so that no one waits for a person to type, and a wrong passphrase leaves no trace.
            let isNew = try view(call) == nil
            if isNew { try PrivateDirectory.ensure(place.folder) }
            return try lock.withLock(call) { () throws(KeychainError) in
                place.removeLeftovers()
                while !(try session.withLock { (session) throws(KeychainError) in
                    try session.beginWriting(at: place)
                }) {
                    try openLocked(call)
                }
                defer { session.withLock { $0.endWriting() } }
                return try body()
            }
        }

        private func openLocked(_ call: CallContext) throws(KeychainError) {
            try gate.withLock(call) { () throws(KeychainError) in
                guard session.withLock({ $0.store == nil }) else { return }
                let last = seen?.last
                let sealed = try SealedFile(place)
                let (found, keys) = try findKeys(of: sealed, call)
                let store = try StoreFile(sealed, keys: keys, seen: seen, last)
                session.withLock { $0.unlocked(store) }
                used.withLock { $0 = found }
            }
        }

        private func findKeys(
            of sealed: SealedFile,
            _ call: CallContext
        ) throws(KeychainError) -> (KeyFinder.Found, StoreKeys) {
            // What the file asks for is judged before anyone is asked for a passphrase.
            _ = try sealed.header.keySlots()
            let found = try finder.masterKey(of: sealed.header, call)
            let keys = StoreKeys(master: found.master)
            guard sealed.isAuthentic(keys) else {
                throw .damaged("its head was changed by someone who does not know its key")
            }
            return (found, keys)
        }

        /// Reads the file anew, whatever its state, also a former one; what is known of it stays as it is.
        ///
        /// - Returns: The file, what was last seen of it, and why it is refused as a former state; nil if it is not.
        func examinable(
            _ call: CallContext
        ) throws(KeychainError) -> (
            sealed: SealedFile, store: StoreFile, last: SeenState.Record?, rollback: KeychainError?
        ) {
            try call.check()
            guard let status = try place.status() else {
                _ = try view(call)
                throw noFile
            }
            try status.requireKeychainFile(place)
            let last = seen?.last
            let sealed = try SealedFile(place)
            var keys = session.withLock { $0.store?.file.keys }
            if keys.map(sealed.isAuthentic) != true {
                try gate.withLock(call) { () throws(KeychainError) in keys = try findKeys(of: sealed, call).1 }
            }
            guard let keys else { throw noFile }
            let store = try StoreFile(sealed, keys: keys)
            return (sealed, store, last, seen?.refusal(of: store.file, olderThan: last))
        }

        var noFile: KeychainError {
            KeychainError(
                .unavailable,
                "There is no keychain file at ‘\(place.path)’. Create it with ‘keychainctl init’, or with its first item: name "
                    + "it in --store of ‘keychainctl set’. In Swift, open it with StoreOptions(creation: .ifMissing)."
            )
        }
    }

    // Committing; the caller holds the lock.
    extension FileDriver {
        /// The records that match, for the writer.
        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try session.withLock { (session) throws(KeychainError) in
                try session.store?.index.records(selection) ?? []
            }
        }

        /// The value of a record, for the writer.
        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            let found = session.withLock { session in
                session.store.flatMap { store in
                    store.index[record.reference].map { (store.file, $0.value) }
                }
            }
            guard let (file, value) = found else { throw .itemNotFound }
            return try file.value(of: record.reference, at: value)
        }

        /// Makes mutations durable: all of them, or none if it throws.
        func commit(_ mutations: [RecordMutation], _ call: CallContext) throws(KeychainError) {
            let (operations, values) = Self.operations(mutations)
            guard !operations.isEmpty else { return }
            try call.check()
            if session.withLock({ $0.store == nil }) { try adopt(try newStore(nil, call)) }
            // Without the index: a second reference to it would make changing it copy it.
            guard var file = session.withLock({ $0.store?.file }) else { throw noFile }
            try file.prepareToAppend()
            let (frame, bytes) = try Frame.seal(
                operations,
                values: values,
                after: file.tip,
                before: file.touched,
                header: file.header,
                keys: file.keys
            )
            try session.withLock { (session) throws(KeychainError) in try session.store?.index.check(frame) }
            try call.check()
            try file.append(bytes, frame)
            session.withLock { $0.committed(file, frame) }
            remember(file)
            // What the system has told until now may have been looked at before the session knew of the commit.
            watcher.notify()
            compactIfWorthwhile()
        }

        private func newStore(_ source: KeySource?, _ call: CallContext) throws(KeychainError) -> StoreFile {
            try StoreFile.create(at: place) { (master, storeID) throws(KeychainError) in
                try finder.slot(source, for: master, storeID: storeID, call)
            }
        }

        /// Goes on with a file that this writer made or put in the other one's place, and makes its name durable.
        ///
        /// - Throws: Why it is not durable. The file is there all the same, and the next commit tries again.
        func adopt(_ written: StoreFile) throws(KeychainError) {
            session.withLock { $0.replace(with: written) }
            var file = written.file
            try file.synchronizeFolder()
            session.withLock { $0.committed(file, nil) }
        }

        /// Remembers how far the file goes now.
        func remember(_ file: OpenFile) { seen?.remember(file) }

        private func compactIfWorthwhile() {
            guard let store = session.withLock({ $0.store.flatMap { $0.isWorthCompacting ? $0 : nil } }) else { return }
            do {
                // A call of its own: the commit is durable, and what is left of its time does not matter any more.
                try adopt(try store.compacted(CallContext(.store)))
            } catch {
                // The commit has been done. The rewrite is tried again when there is more to gain; what keeps it from
                // being done, a check tells.
                session.withLock { $0.postponeCompaction() }
            }
        }

        private static func operations(_ mutations: [RecordMutation]) -> ([RecordOperation], [SecureBytes]) {
            var operations: [RecordOperation] = []
            var values: [SecureBytes] = []
            for mutation in mutations {
                switch mutation {
                case .insert(let record, let value):
                    operations.append(RecordOperation(.insert, record))
                    values.append(value)
                case .update(let old, let new, let value):
                    var record = new
                    record.reference = old.reference
                    operations.append(RecordOperation(value == nil ? .change : .replace, record))
                    if let value { values.append(value) }
                case .delete(let record):
                    operations.append(RecordOperation(.delete, record))
                }
            }
            return (operations, values)
        }
    }

    /// What a reading closure works with.
    private struct FileReader: RecordReader {
        let view: FileView
        let call: CallContext

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            let found = try view.index.records(selection)
            guard let salvage = view.salvage else { return found }
            return try salvage.vouched(found, for: selection, isForOneMatch: call.isForOneMatch)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try view.value(of: record)
        }
    }

    /// What a reading closure works with where there is no file, and that is as good as an empty one.
    private struct EmptyReader: RecordReader {
        func records(_ selection: RecordSelection) -> [ItemRecord] { [] }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { throw .itemNotFound }
    }

    /// What a writing closure works with.
    private struct FileWriter: RecordWriter {
        let driver: FileDriver
        let call: CallContext

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try driver.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try driver.value(of: record)
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            try driver.commit(mutations, call)
        }
    }
#endif
