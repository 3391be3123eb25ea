// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
public import KeychainAPI

/// A store that is one JSON file, for a place that is protected otherwise: an encrypted disk, or a folder in memory such
/// as `$XDG_RUNTIME_DIR`.
///
/// - Important: It encrypts nothing. Who can read the file, or the disk that it was once on, has every secret in it; and
///   values pass through ordinary memory on their way. Nothing but the file's mode, 0600, keeps other users out.
///
/// The file is replaced as a whole by each commit, so that it suits tens of items and not thousands. Writers take turns by
/// flock(2) on a second file, `PATH.lock`; readers need no lock, since they see one file or the other.
public final class JSONFileDriver: KeychainDriver {
    /// The driver's kind: `json`.
    public let identifier: DriverIdentifier = .json
    /// `json:` and the path.
    public let location: String
    /// Transactions, since a commit replaces the whole file; and what is stored outlives the process.
    public let capabilities: DriverCapabilities = [.transactions, .persistent]
    /// 1 MiB: every commit writes every value anew.
    public let maximumValueSize = 1024 * 1024

    private let path: String
    private let isCreated: Bool
    private var folder: String { String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) }

    /// Opens a store; the file is looked at by the first call.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file, in a folder that exists.
    ///   - creation: What to do about a file that does not exist.
    /// - Throws: `invalidParameter` for a path that is not absolute; with `mustBeNew` also `duplicateItem` if the file
    ///   exists, and why it could not be made.
    public init(path: String, creation: StoreOptions.Creation = .ifMissing) throws(KeychainError) {
        guard path.hasPrefix("/") else {
            throw KeychainError(.invalidParameter, "Name the file by an absolute path, as in json:/run/app/items.json.")
        }
        self.path = path
        location = "json:\(path)"
        isCreated = creation == .ifMissing
        guard creation == .mustBeNew else { return }
        try withWriterLock(CallContext(.open)) { () throws(KeychainError) in
            guard try load() == nil else {
                throw KeychainError(.duplicateItem, "The file ‘\(path)’ exists. Open it, or choose another path.")
            }
            try replace(Contents())
        }
    }

    /// Runs a closure with the store as it is now.
    public func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try call.check()
        return try body(Session(driver: self, items: try items()))
    }

    /// Runs a closure while no one else writes, in any process.
    public func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try withWriterLock(call) { () throws(KeychainError) in
            try body(Session(driver: self, items: try items()))
        }
    }

    // MARK: The views

    /// The items as they were when the call began and, for a writer, as its commits have left them.
    private final class Session: RecordWriter {
        private let driver: JSONFileDriver
        private var items: [UUID: Item]

        init(driver: JSONFileDriver, items: [UUID: Item]) {
            self.driver = driver
            self.items = items
        }

        func records(_ selection: RecordSelection) -> [ItemRecord] {
            items.values.map(\.record).filter(selection.matches)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            guard let item = items[record.reference] else { throw .itemNotFound }
            return item.value
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            var changed = items
            for mutation in mutations {
                switch mutation {
                case .insert(let record, let value): changed[record.reference] = Item(record: record, value: value)
                case .update(let old, let new, let value):
                    // Refused before anything is written, as a commit is all or nothing.
                    guard let item = changed[old.reference] else { throw .itemNotFound }
                    changed[old.reference] = Item(record: new, value: value ?? item.value)
                case .delete(let record): changed[record.reference] = nil
                }
            }
            try driver.replace(Contents(changed.values))
            items = changed
        }
    }

    fileprivate struct Item {
        let record: ItemRecord
        let value: SecureBytes
    }

    // MARK: The file's contents

    fileprivate struct Contents: Codable {
        var version = 1
        var items: [StoredItem] = []
    }

    fileprivate struct StoredItem: Codable {
        let reference: UUID
        let itemClass: String
        let accessGroup: String
        let isSynchronizable: Bool
        let attributes: [String: StoredValue]
        let created: Int64
        let modified: Int64
        let value: Data
    }

    /// One of the four forms of a value; the others are nil.
    fileprivate struct StoredValue: Codable {
        var text: String?
        var data: Data?
        var integer: Int64?
        var boolean: Bool?
    }

    private func items() throws(KeychainError) -> [UUID: Item] {
        guard let contents = try load() else {
            // A folder that is not there may be a disk that is not mounted, and not one without a file.
            guard isCreated, access(folder, F_OK) == 0 else {
                throw KeychainError(.unavailable, "There is no file ‘\(path)’. Mount its folder, or let it be created.")
            }
            return [:]
        }
        var items: [UUID: Item] = [:]
        for stored in contents.items {
            guard let item = stored.item, items.updateValue(item, forKey: stored.reference) == nil else {
                throw damaged
            }
        }
        return items
    }

    /// What is in the file, nil if there is none.
    private func load() throws(KeychainError) -> Contents? {
        // Without O_NONBLOCK a pipe in its place would keep the call for ever.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw failure("be opened") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("be examined") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw damaged }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw KeychainError(
                .insecurePermissions,
                "Others than you may touch ‘\(path)’. Make it yours alone: chmod 600, and chown if it is someone else's."
            )
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let part = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, $0.count - count) }
            guard part >= 0 || errno == EINTR else { throw failure("be read") }
            guard part != 0 else { throw damaged }
            count += max(0, part)
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) else { throw damaged }
        guard contents.version == 1 else {
            throw KeychainError(.unsupported, "‘\(path)’ was written by a later version. Use that, or a later one.")
        }
        return contents
    }

    /// Puts new contents in the place of the old ones, durably; only the holder of the lock may.
    private func replace(_ contents: Contents) throws(KeychainError) {
        guard let data = try? JSONEncoder().encode(contents) else {
            throw KeychainError(.internal, "The items have no form in JSON. Please report it.")
        }
        let new = "\(path).new"
        // What a writer left that was killed.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("be written") }
        defer { close(file) }
        do throws(KeychainError) {
            try write(data, to: file)
            guard fsync(file) == 0, rename(new, path) == 0 else { throw failure("be written") }
        } catch {
            unlink(new)
            throw error
        }
        // The new name is durable when the folder is. If the disk fails just here, it is not known which file survives.
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("be made durable") }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure("be made durable") }
    }

    private func write(_ data: Data, to file: Int32) throws(KeychainError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress!, $0.count) }
            guard count >= 0 || errno == EINTR else { throw failure("be written") }
            rest = rest.dropFirst(max(0, count))
        }
    }

    // MARK: The lock

    /// Runs a closure under a lock that the kernel frees when the process ends, however it ends.
    ///
    /// Each call has a descriptor of its own, so that threads of one process exclude each other as well.
    private func withWriterLock<Result>(
        _ call: CallContext,
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let file = open("\(path).lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("be locked") }
        defer { close(file) }
        let limit = ContinuousClock.now + .seconds(30)
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("be locked") }
            try call.check()
            guard call.deadline != nil || ContinuousClock.now < limit else {
                throw KeychainError(.busy, "Another process is writing to ‘\(path)’. Try again when it is done.")
            }
            // Not always after the same time, or the same one of many may come too late each time.
            usleep(.random(in: 500...5000))
        }
        return try body()
    }

    // MARK: Errors

    private var damaged: KeychainError {
        KeychainError(.corrupt, "‘\(path)’ is not what this driver writes. Put a copy that is whole in its place.")
    }

    /// An error with the number in errno.
    private func failure(_ action: String) -> KeychainError {
        let number = errno
        let (code, advice): (KeychainError.Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.unavailable, "Make its folder, or mount it.")
            case EACCES, EPERM: (.accessDenied, "Run as the user that the folder belongs to.")
            case EROFS: (.readOnly, "Its file system can only be read.")
            case ENOSPC, EDQUOT: (.outOfSpace, "Make room on its file system.")
            case ELOOP: (.invalidParameter, "It is a symbolic link. Name the file itself.")
            default: (.io, "Look at the system's log.")
            }
        return KeychainError(
            code,
            "‘\(path)’ could not \(action). \(advice)",
            underlying: .init(domain: "errno", code: Int(number), message: String(cString: strerror(number)))
        )
    }
}

// MARK: Items and their stored form

extension JSONFileDriver.Contents {
    init(_ items: some Sequence<JSONFileDriver.Item>) {
        self.items = items.map(JSONFileDriver.StoredItem.init).sorted { $0.created < $1.created }
    }
}

extension JSONFileDriver.StoredItem {
    init(_ item: JSONFileDriver.Item) {
        let record = item.record
        reference = record.reference
        itemClass = record.itemClass.rawValue
        accessGroup = record.accessGroup
        isSynchronizable = record.isSynchronizable
        attributes = Dictionary(
            uniqueKeysWithValues: record.attributes.map { ($0.name.rawValue, JSONFileDriver.StoredValue($0.value)) }
        )
        created = record.creationDate.microseconds
        modified = record.modificationDate.microseconds
        value = item.value.withBytes { Data($0) }
    }

    /// nil for a class or a form of a value that there is not.
    var item: JSONFileDriver.Item? {
        guard let itemClass = ItemClass(rawValue: itemClass) else { return nil }
        var set = AttributeSet()
        for (name, stored) in attributes {
            guard let value = stored.value else { return nil }
            set[AttributeName(rawValue: name)] = value
        }
        let record = ItemRecord(
            reference: reference,
            itemClass: itemClass,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable,
            attributes: set,
            creationDate: ItemDate(microseconds: created),
            modificationDate: ItemDate(microseconds: modified)
        )
        return JSONFileDriver.Item(record: record, value: SecureBytes(value))
    }
}

extension JSONFileDriver.StoredValue {
    init(_ value: AttributeValue) {
        switch value {
        case .text(let text): self.text = text
        case .data(let data): self.data = data
        case .integer(let integer): self.integer = integer
        case .boolean(let boolean): self.boolean = boolean
        }
    }

    var value: AttributeValue? {
        switch (text, data, integer, boolean) {
        case (let text?, nil, nil, nil): .text(text)
        case (nil, let data?, nil, nil): .data(data)
        case (nil, nil, let integer?, nil): .integer(integer)
        case (nil, nil, nil, let boolean?): .boolean(boolean)
        default: nil
        }
    }
}

// MARK: The registry

extension DriverIdentifier {
    /// The JSON file.
    public static let json: DriverIdentifier = "json"
}

extension DriverRegistration {
    /// The driver for `json:` URLs, used only when it is named: it encrypts nothing, which someone has to want.
    public static let json = DriverRegistration(
        identifier: .json,
        summary: "a JSON file that is not encrypted",
        priority: nil,
        probe: { url in
            guard url.path.hasPrefix("/") else { return .unavailable("Name the file, as in json:/run/app/items.json.") }
            let isThere = access(url.path, R_OK | W_OK) == 0
            return isThere ? .available("‘\(url.path)’ is there.") : .unavailable("There is no ‘\(url.path)’ to use.")
        },
        open: { url, options throws(KeychainError) in
            try JSONFileDriver(path: url.path, creation: options.creation)
        }
    )
}
