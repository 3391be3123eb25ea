// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem

    /// Where a keychain file is, and the names of the files next to it that belong to it.
    struct FilePlace: Sendable {
        /// The absolute path, without symbolic links as far as it exists.
        let path: String
        /// What is asked of the permissions of the file that is there.
        let permissions: StoreOptions.Permissions

        /// The file system that it is on.
        let system: any FileSystem

        /// The folder.
        var folder: String { path.parentPath ?? "/" }

        /// The file's name.
        var name: String { path.lastPathComponent }

        /// The file on which writers exclude each other.
        var lockPath: String { sibling(".\(name).lock") }

        /// What the names of unfinished files begin with.
        var temporaryPrefix: String { ".\(name).tmp-" }

        /// The place as a store URL.
        var location: String { "file:\(path)" }

        /// Finds the place of a path.
        ///
        /// - Parameters:
        ///   - path: An absolute or relative path; `""` is the default file.
        ///   - permissions: What is asked of the permissions of the file that is there.
        ///   - system: The file system that it is on.
        ///   - environment: Where the folder of the default file is looked up.
        /// - Throws: `invalidParameter` for a path that cannot name a file or leads to one that is not UTF-8,
        ///   `unavailable` without a home folder.
        init(
            _ path: String,
            permissions: StoreOptions.Permissions = .ownerOnly,
            system: any FileSystem = SystemFiles(),
            environment: [String: String]
        ) throws(KeychainError) {
            self.permissions = permissions
            self.system = system
            var absolute =
                path.isEmpty ? try PrivateDirectory.data(environment: environment) + "/default.keychain" : path
            guard !absolute.utf8.contains(0), absolute.utf8.last != UInt8(ascii: "/") else {
                throw KeychainError(
                    .invalidParameter,
                    "‘\(path)’ cannot be the path of a keychain file; it names a folder."
                )
            }
            if !absolute.isAbsolutePath {
                guard let bytes = getcwd(nil, 0) else { throw .system(errno, "The working folder could not be found") }
                defer { free(bytes) }
                guard let folder = String(validatingCString: bytes) else { throw Self.notUTF8("The working folder") }
                absolute = folder + "/" + absolute
            }
            self.path = try Self.resolved(absolute)
            guard !name.isEmpty else {
                throw KeychainError(
                    .invalidParameter,
                    "‘\(path)’ cannot be the path of a keychain file; it names a folder."
                )
            }
        }

        /// The place of another file on the same file system.
        func moved(to path: String) throws(KeychainError) -> FilePlace {
            try FilePlace(path, permissions: permissions, system: system, environment: [:])
        }

        /// A path in the same folder.
        func sibling(_ name: String) -> String {
            folder == "/" ? "/\(name)" : "\(folder)/\(name)"
        }

        /// A path for an unfinished file that no one else uses.
        func temporaryPath() -> String {
            sibling(temporaryPrefix + Sodium.random(8).hexadecimal)
        }

        /// Removes what writers left that were killed; the caller holds the lock, so none is alive.
        ///
        /// A file that cannot be removed stays, for the next writer to try.
        func removeLeftovers() {
            for name in system.names(in: folder) where name.hasPrefix(temporaryPrefix) { system.unlink(sibling(name)) }
        }

        /// What the path leads to, nil if there is nothing.
        func status() throws(KeychainError) -> stat? { try system.status(path) }

        private static func resolved(_ path: String) throws(KeychainError) -> String {
            var pending = path.pathComponents[...]
            var done: [String] = []
            var linksLeft = 40
            while let component = pending.popFirst() {
                if component == "." { continue }
                if component == ".." {
                    _ = done.popLast()
                    continue
                }
                let candidate = text(done + [component])
                guard let target = try linkTarget(candidate) else {
                    done.append(component)
                    continue
                }
                linksLeft -= 1
                guard linksLeft > 0 else { throw .system(ELOOP, "The path ‘\(path)’ cannot be followed") }
                if target.isAbsolutePath { done = [] }
                pending = (target.pathComponents + pending)[...]
            }
            return text(done)
        }

        private static func text(_ components: [String]) -> String {
            components.isEmpty ? "/" : components.reduce(into: "") { $0 += "/" + $1 }
        }

        private static func linkTarget(_ path: String) throws(KeychainError) -> String? {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            guard let target = String(validating: buffer[..<count], as: UTF8.self) else {
                throw notUTF8("The target of the symbolic link ‘\(path)’")
            }
            return target
        }

        /// Refuses a path that text cannot hold: with its bytes replaced it would be the path of another file.
        private static func notUTF8(_ what: String) -> KeychainError {
            KeychainError(
                .invalidParameter,
                "\(what) has a path that is not UTF-8. Give the keychain file a path that is UTF-8 text."
            )
        }
    }

    /// Which file it is, whatever it is called.
    struct FileIdentity: Sendable, Equatable {
        private let device: UInt64
        private let number: UInt64

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            number = UInt64(status.st_ino)
        }
    }
#endif
