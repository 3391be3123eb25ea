// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import Synchronization

    /// Tells of every change of a keychain file, by watching its folder (inotify(7)).
    ///
    /// A thread of its own waits for the system; it is there as long as someone observes. One commit is many changes of the
    /// file to the system: of those, one is told.
    final class FolderWatcher: Sendable {
        private let place: FilePlace
        private let state = Mutex(State())

        private struct State {
            var nextNumber = 0
            var observers: [Int: @Sendable () -> Void] = [:]
            var watch: FolderWatch?
            var moment: @Sendable () -> FileMoment? = { nil }
            /// The moment that was told last.
            var told: FileMoment?
        }

        init(_ place: FilePlace) {
            self.place = place
        }

        /// Gives the watcher what tells one commit from the next; nil from it means that this is not known.
        func tell(by moment: @escaping @Sendable () -> FileMoment?) {
            state.withLock { $0.moment = moment }
        }

        /// Calls a closure after each change, until the observation ends.
        ///
        /// - Throws: `io` if the system has no watches left.
        func observe(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
            let isFirst = try state.withLock { (state) throws(KeychainError) in
                guard state.watch == nil else { return false }
                let watch = try FolderWatch(place)
                try watch.start { [weak self] in self?.notify() }
                state.watch = watch
                return true
            }
            // Who observes looks at the file after this, and need not be told of what is there already.
            let moment = isFirst ? state.withLock(\.moment)() : nil
            let number = state.withLock { state in
                if isFirst { state.told = moment }
                state.nextNumber += 1
                state.observers[state.nextNumber] = onChange
                return state.nextNumber
            }
            // The observation keeps the watcher, and with it the driver's part that reports.
            return ChangeObservation { self.end(number) }
        }

        /// Reports a change to everyone who observes, unless the file is at the moment that was reported last.
        func notify() {
            let moment = state.withLock(\.moment)()
            let observers = state.withLock { state in
                if let moment, moment == state.told { return [@Sendable () -> Void]() }
                state.told = moment
                return Array(state.observers.values)
            }
            for observer in observers { observer() }
        }

        private func end(_ number: Int) {
            let watch: FolderWatch? = state.withLock { state in
                state.observers[number] = nil
                guard state.observers.isEmpty else { return nil }
                defer { state.watch = nil }
                return state.watch
            }
            watch?.stop()
        }
    }

    /// Which commit a file is at.
    struct FileMoment: Sendable, Equatable {
        let file: FileIdentity
        let tip: Tip
    }

    /// One inotify instance and the thread that reads from it.
    private final class FolderWatch: Sendable {
        private let place: FilePlace
        private let file: FileDescriptor
        private let state = Mutex(State())

        private struct State {
            /// The number of the current watch.
            var watch: Int32 = -1
            /// Whether that is on the folder itself and not on one above it.
            var isOnFolder = false
            /// The entry of the watched folder that matters: the file, or the next folder on the way to it.
            var awaited = ""
            var isStopped = false
        }

        private static let changes = UInt32(
            IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE | IN_DELETE_SELF
                | IN_MOVE_SELF
        )

        init(_ place: FilePlace) throws(KeychainError) {
            self.place = place
            let number = inotify_init1(Int32(IN_CLOEXEC))
            guard number >= 0 else {
                throw .system(errno, "The folder ‘\(place.folder)’ cannot be watched")
            }
            file = FileDescriptor(owning: number)
            _ = try state.withLock { (state) throws(KeychainError) in try watch(&state) }
        }

        /// Begins to report.
        ///
        /// - Throws: `io` if the process may have no more threads.
        func start(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) {
            let isStarted = DetachedThread.start { [self] in
                while wait() { onChange() }
            }
            guard isStarted else { throw .system(EAGAIN, "The folder ‘\(place.folder)’ cannot be watched") }
        }

        /// Ends the thread: removing the watch is itself an event, which wakes it.
        func stop() {
            state.withLock { state in
                state.isStopped = true
                _ = inotify_rm_watch(file.number, state.watch)
            }
        }

        /// Waits for a change; false when it is over.
        private func wait() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while !state.withLock({ $0.isStopped }) {
                let count = retryingInterruptions { Glibc.read(file.number, &buffer, buffer.count) }
                let isChange = state.withLock { state in
                    guard !state.isStopped, count > 0 else { return false }
                    return take(Self.events(buffer[..<count]), &state)
                }
                if isChange { return true }
            }
            return false
        }

        /// Whether the events may mean a change of the file.
        private func take(_ events: [Event], _ state: inout State) -> Bool {
            // Those of a watch that was given up are old news, among them that it was given up.
            let relevant = events.filter { event in
                event.isOverflow || (event.watch == state.watch && (event.isEnd || event.name == state.awaited))
            }
            guard !relevant.isEmpty else { return false }
            if !state.isOnFolder || relevant.contains(where: \.isEnd) {
                // A folder came, went or moved. If none can be watched any more, this is the last report.
                state.isStopped = (try? watch(&state)) == nil
            }
            return true
        }

        /// Watches the folder, or the nearest one above it that exists.
        private func watch(_ state: inout State) throws(KeychainError) {
            if state.watch >= 0 { _ = inotify_rm_watch(file.number, state.watch) }
            (state.watch, state.isOnFolder, state.awaited) = (-1, true, place.name)
            var folder = place.folder
            while state.watch < 0 {
                state.watch = inotify_add_watch(file.number, folder, Self.changes | UInt32(IN_ONLYDIR))
                let number = errno
                if state.watch >= 0 {
                    // What was missing may have been made before the watch was in place.
                    let isLate = !state.isOnFolder && access("\(folder)/\(state.awaited)", F_OK) == 0
                    guard isLate else { return }
                    return try watch(&state)
                }
                guard number == ENOENT || number == ENOTDIR, folder != "/" else {
                    throw .system(number, "The folder ‘\(folder)’ cannot be watched")
                }
                state.awaited = folder.lastPathComponent
                state.isOnFolder = false
                folder = folder.parentPath ?? "/"
            }
        }

        /// What the system tells of one entry of a watched folder.
        private struct Event {
            let watch: Int32
            let mask: UInt32
            let name: String

            var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
            var isEnd: Bool { mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 }
        }

        private static func events(_ buffer: ArraySlice<UInt8>) -> [Event] {
            var events: [Event] = []
            buffer.withUnsafeBytes { bytes in
                let headSize = MemoryLayout<inotify_event>.size
                var start = 0
                while start + headSize <= bytes.count {
                    let event = bytes.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    let name = bytes[(start + headSize)...].prefix(Int(event.len)).prefix { $0 != 0 }
                    events.append(Event(watch: event.wd, mask: event.mask, name: String(decoding: name, as: UTF8.self)))
                    start += headSize + Int(event.len)
                }
            }
            return events
        }
    }
#endif
