// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import Synchronization

    @testable import BackendFile

    /// A disk in memory that knows what of it would survive a power cut, and whose calls can be made to fail.
    ///
    /// Only what the driver asks of a ``FileSystem`` is on it. The folder and the lock file stay those of a ``Scratch``.
    final class SimulatedDisk: FileSystem {
        private let content: Mutex<Content>

        /// One file, whatever it is called.
        struct Inode: Sendable {
            /// What the running system sees.
            var bytes: [UInt8] = []
            /// What has been flushed.
            var durable: [UInt8] = []
            /// What was done to the file since it was last flushed, in order.
            var pending: [Change] = []
            /// Counts the changes: the time of the last one.
            var time = 0
        }

        /// What can be done to a file's contents.
        enum Change: Sendable {
            case write([UInt8], at: Int)
            case cut(at: Int)

            /// Does it to the contents.
            func apply(to bytes: inout [UInt8]) {
                switch self {
                case .cut(let length):
                    bytes.removeLast(max(0, bytes.count - length))
                    bytes += [UInt8](repeating: 0, count: length - bytes.count)
                case .write(let written, let start):
                    bytes += [UInt8](repeating: 0, count: max(0, start + written.count - bytes.count))
                    bytes.replaceSubrange(start..<start + written.count, with: written)
                }
            }
        }

        /// What can be done to the names in the folder.
        enum EntryChange: Sendable {
            case add(String, Int)
            case remove(String)
            case move(String, to: String, Int)

            /// Does it to the names; a rename is all or nothing.
            func apply(to entries: inout [String: Int]) {
                switch self {
                case .add(let name, let inode): entries[name] = inode
                case .remove(let name): entries[name] = nil
                case .move(let name, let other, let inode):
                    entries[name] = nil
                    entries[other] = inode
                }
            }
        }

        /// A call that fails.
        struct Fault: Sendable {
            /// Which of the calls that can fail, counted from when the fault was armed.
            var call: Int
            /// The error's number.
            var number: Int32
            /// How much of a write is done before it fails.
            var share = 0.0
            /// Whether every later call that changes something fails as well.
            var isLasting = false
        }

        /// What kind of call it is, for the errors that make sense.
        enum Call: Sendable, Equatable {
            case look
            case open
            case make
            case write
            case cut
            case flush
            case rename
        }

        /// All that there is on the disk; a copy is what the disk was at that moment.
        struct Content: Sendable {
            var inodes: [Int: Inode] = [:]
            /// The names as the running system sees them.
            var entries: [String: Int] = [:]
            /// The names that have been flushed.
            var durableEntries: [String: Int] = [:]
            /// What was done to the names since the folder was last flushed.
            var pendingEntries: [EntryChange] = []
            fileprivate var calls: [Call] = []
            fileprivate var fault: Fault?
            fileprivate var hasFailed = false
            fileprivate var observe: (@Sendable (Content) -> Void)?
        }

        /// Makes a disk with what another one had at some moment.
        init(_ content: Content = Content()) {
            var content = content
            (content.calls, content.fault, content.hasFailed, content.observe) = ([], nil, false, nil)
            self.content = Mutex(content)
        }

        /// A disk after a power cut: what is on it is all there is.
        convenience init(files: [String: [UInt8]]) {
            var content = Content()
            for (number, (path, bytes)) in files.sorted(by: { $0.key < $1.key }).enumerated() {
                content.inodes[number] = Inode(bytes: bytes, durable: bytes)
                content.entries[path] = number
            }
            content.durableEntries = content.entries
            self.init(content)
        }

        /// What is on it now.
        var now: Content { content.withLock { $0 } }

        /// Calls a closure with what is on the disk after each change.
        func observe(_ body: (@Sendable (Content) -> Void)?) {
            content.withLock { $0.observe = body }
        }

        /// Makes a call fail, nil for none any more; begins to count calls.
        func arm(_ fault: Fault?) {
            content.withLock { content in (content.fault, content.calls, content.hasFailed) = (fault, [], false) }
        }

        /// The calls since the fault was armed.
        var calls: [Call] { content.withLock { $0.calls } }

        /// Whether the fault has happened.
        var hasFailed: Bool { content.withLock { $0.hasFailed } }

        func open(_ path: String, _ flags: Int32, action: String) throws(KeychainError) -> any StoredFile {
            let isNew = flags & O_CREAT != 0
            let number = try content.withLock { (content) throws(KeychainError) in
                let failure = content.count(isNew ? .make : flags & O_ACCMODE == O_RDONLY ? .look : .open)
                guard failure == nil else { throw .system(failure?.number ?? EIO, action) }
                if let number = content.entries[path] {
                    guard !isNew else { throw .system(EEXIST, action) }
                    return number
                }
                guard isNew else { throw .system(ENOENT, action) }
                let number = (content.inodes.keys.max() ?? 0) + 1
                content.inodes[number] = Inode()
                content.change(.add(path, number))
                return number
            }
            return SimulatedFile(self, number)
        }

        func status(_ path: String) throws(KeychainError) -> stat? {
            try content.withLock { (content) throws(KeychainError) in
                if let failure = content.count(.look) { throw .system(failure.number, "test") }
                return content.entries[path].flatMap { content.status($0) }
            }
        }

        func link(_ path: String, to name: String) -> Int32 {
            content.withLock { content in
                if let failure = content.count(.rename) { return failure.number }
                guard let number = content.entries[path] else { return ENOENT }
                guard content.entries[name] == nil else { return EEXIST }
                content.change(.add(name, number))
                return 0
            }
        }

        func rename(_ path: String, to name: String) -> Int32 {
            content.withLock { content in
                if let failure = content.count(.rename) { return failure.number }
                guard let number = content.entries[path] else { return ENOENT }
                content.change(.move(path, to: name, number))
                return 0
            }
        }

        func unlink(_ path: String) {
            content.withLock { content in
                guard content.entries[path] != nil, content.count(.rename) == nil else { return }
                content.change(.remove(path))
            }
        }

        func names(in folder: String) -> [String] {
            content.withLock { content in
                content.entries.keys.filter { $0.hasPrefix("\(folder)/") }.map {
                    String($0.dropFirst(folder.count + 1))
                }
            }
        }

        func synchronizeFolder(_ path: String) throws(KeychainError) {
            try content.withLock { (content) throws(KeychainError) in
                if let failure = content.count(.flush) {
                    throw .system(failure.number, "The folder ‘\(path)’ could not be written to the disk")
                }
                content.durableEntries = content.entries
                content.pendingEntries = []
                content.report()
            }
        }

        fileprivate func withInode<Result: Sendable>(
            _ number: Int,
            _ call: Call,
            _ body: (inout Inode, Fault?) -> (Result, Int32)
        ) throws(KeychainError) -> Result {
            try content.withLock { (content) throws(KeychainError) in
                let failure = content.count(call)
                let (result, error) = body(&content.inodes[number, default: Inode()], failure)
                if call != .look { content.report() }
                guard error == 0 else { throw .system(error, "The keychain file could not be used") }
                return result
            }
        }

        fileprivate func status(of number: Int) throws(KeychainError) -> stat {
            try content.withLock { (content) throws(KeychainError) in
                if let failure = content.count(.look) { throw .system(failure.number, "test") }
                return content.status(number) ?? stat()
            }
        }
    }

    extension SimulatedDisk.Content {
        /// Counts a call; the fault if it is to fail.
        fileprivate mutating func count(_ call: SimulatedDisk.Call) -> SimulatedDisk.Fault? {
            calls.append(call)
            guard let fault else { return nil }
            let isLater = fault.isLasting && calls.count - 1 > fault.call && call != .look
            guard calls.count - 1 == fault.call || isLater else { return nil }
            hasFailed = true
            return fault
        }

        fileprivate mutating func change(_ change: SimulatedDisk.EntryChange) {
            change.apply(to: &entries)
            pendingEntries.append(change)
            report()
        }

        fileprivate func report() { observe?(self) }

        fileprivate func status(_ number: Int) -> stat? {
            guard let inode = inodes[number] else { return nil }
            var status = stat()
            status.st_mode = S_IFREG | 0o600
            status.st_uid = geteuid()
            status.st_gid = getegid()
            status.st_dev = 1
            status.st_ino = ino_t(number + 1)
            status.st_size = off_t(inode.bytes.count)
            status.st_mtim.tv_nsec = inode.time
            return status
        }
    }

    /// An open file of a simulated disk.
    private final class SimulatedFile: StoredFile {
        private let disk: SimulatedDisk
        private let number: Int

        init(_ disk: SimulatedDisk, _ number: Int) {
            self.disk = disk
            self.number = number
        }

        func status() throws(KeychainError) -> stat { try disk.status(of: number) }

        func read(_ count: Int, at offset: UInt64) throws(KeychainError) -> [UInt8] {
            try disk.withInode(number, .look) { (inode, fault) in
                let start = min(Int(offset), inode.bytes.count)
                return (Array(inode.bytes[start..<min(start + count, inode.bytes.count)]), fault?.number ?? 0)
            }
        }

        func write(_ bytes: [UInt8], at offset: UInt64) throws(KeychainError) {
            try disk.withInode(number, .write) { (inode, fault) in
                let done = fault.map { Array(bytes.prefix(Int(Double(bytes.count) * $0.share))) } ?? bytes
                if !done.isEmpty { inode.change(.write(done, at: Int(offset))) }
                return ((), fault?.number ?? 0)
            }
        }

        func cut(at length: UInt64) throws(KeychainError) {
            try disk.withInode(number, .cut) { (inode, fault) in
                if fault == nil { inode.change(.cut(at: Int(length))) }
                return ((), fault?.number ?? 0)
            }
        }

        func synchronizeData() throws(KeychainError) { try synchronize() }

        func synchronize() throws(KeychainError) {
            try disk.withInode(number, .flush) { (inode, fault) in
                // As Linux does: what could not be written is taken for written, and the caller is told once.
                if fault == nil { for change in inode.pending { change.apply(to: &inode.durable) } }
                inode.pending = []
                return ((), fault?.number ?? 0)
            }
        }

        func changeOwner(_ user: uid_t, _ group: gid_t) -> Int32 { 0 }

        func lock() {}

        func unlock() {}
    }

    extension SimulatedDisk.Inode {
        fileprivate mutating func change(_ change: SimulatedDisk.Change) {
            change.apply(to: &bytes)
            pending.append(change)
            time += 1
        }
    }
#endif
