// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import KeychainSystem

/// The files of a password store, found without following a symbolic link.
struct PasswordStoreFolder {
    /// A file that holds an entry.
    struct Entry {
        /// The path of the file in the store.
        let path: String
        /// The same without the extension.
        var name: String { String(path.dropLast(PasswordStoreFolder.fileExtension.count)) }
    }

    private let root: FileDescriptor

    private(set) var entries: [Entry] = []
    private(set) var skipped: [String] = []

    private static let fileExtension = ".gpg"
    /// What Git and pass keep beside the entries.
    private static let foldersBeside = [".git", ".extensions"]

    /// Looks through a store.
    ///
    /// - Parameter path: The folder, which may be a link itself.
    init(_ path: String) throws(KeychainError) {
        let action = "The password store ‘\(path)’ could not be read"
        root = try FileDescriptor(path, O_RDONLY | O_DIRECTORY, action: action)
        try read(root, "", action)
        // A folder and an entry of one name stand in another order among the names of files.
        entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Opens the file of an entry, which nobody has replaced by a link since it was found.
    func open(_ entry: Entry) throws(KeychainError) -> FileDescriptor {
        let action = "The entry ‘\(entry.name)’ could not be read"
        let parts = entry.path.pathComponents
        var folder = root
        for part in parts.dropLast() { folder = try Self.open(part, in: folder, O_RDONLY | O_DIRECTORY, action) }
        let file = try Self.open(parts[parts.count - 1], in: folder, O_RDONLY | O_NONBLOCK, action)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { throw .system(EBUSY, action) }
        return file
    }

    /// How deep folders may lie in each other; each takes an open file and a part of the stack.
    private static let depthLimit = 100

    private mutating func read(
        _ folder: FileDescriptor,
        _ prefix: String,
        _ action: String,
        depth: Int = 0
    ) throws(KeychainError) {
        guard depth <= Self.depthLimit else {
            throw KeychainError(
                .dataTooLarge,
                "The folders of the password store lie more than \(Self.depthLimit) deep in each other. Move the entries up."
            )
        }
        for name in try Self.names(folder, action) {
            let path = prefix + name
            var status = stat()
            guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw .system(errno, action) }
            let isEntry = name.hasSuffix(Self.fileExtension) && name != Self.fileExtension
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                guard !Self.foldersBeside.contains(name) else { continue }
                let inner = try Self.open(name, in: folder, O_RDONLY | O_DIRECTORY, action)
                try read(inner, path + "/", action, depth: depth + 1)
            case S_IFREG:
                guard isEntry else { continue }
                entries.append(Entry(path: path))
            case S_IFLNK: skipped.append(path)
            default:
                if isEntry { skipped.append(path) }
            }
        }
    }

    private static func open(
        _ name: String,
        in folder: FileDescriptor,
        _ flags: Int32,
        _ action: String
    ) throws(KeychainError) -> FileDescriptor {
        let number = retryingInterruptions { openat(folder.number, name, flags | O_NOFOLLOW | O_CLOEXEC) }
        guard number >= 0 else { throw .system(errno, action) }
        return FileDescriptor(owning: number)
    }

    /// The names in a folder, in order.
    private static func names(_ folder: FileDescriptor, _ action: String) throws(KeychainError) -> [String] {
        let copy = fcntl(folder.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(errno, action) }
        guard let stream = fdopendir(copy) else {
            let number = errno
            close(copy)
            throw .system(number, action)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .system(errno, action) }
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else {
                throw KeychainError(.invalidParameter, "\(action): a name in it is not UTF-8. Rename that entry.")
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
