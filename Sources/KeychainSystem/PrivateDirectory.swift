// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI

/// Folders that only their owner may enter, and the standard places for them (XDG Base Directory Specification 0.8).
package enum PrivateDirectory {
    /// The folder for data that must be kept, by default `~/.local/share/swift-keychain`.
    package static func data(environment: [String: String]) throws(KeychainError) -> String {
        try folder("XDG_DATA_HOME", ".local/share", environment)
    }

    /// The folder for what is remembered between runs, by default `~/.local/state/swift-keychain`.
    package static func state(environment: [String: String]) throws(KeychainError) -> String {
        try folder("XDG_STATE_HOME", ".local/state", environment)
    }

    /// The folder for locks: below `XDG_RUNTIME_DIR`, else a folder of the user's own in `/tmp`.
    package static func runtime(environment: [String: String]) throws(KeychainError) -> String {
        if let runtime = try environment.variable("XDG_RUNTIME_DIR"), runtime.isAbsolutePath {
            return runtime + "/swift-keychain"
        }
        return "/tmp/swift-keychain-\(geteuid())"
    }

    /// Makes a folder, and the parents that are missing, with mode 0700; one that is there is taken as it is.
    ///
    /// Where others can write to the parent, ask ``requirePrivate(_:)`` as well.
    ///
    /// - Throws: `unavailable` if something else has the name, and why the folder could not be made.
    package static func ensure(_ path: String) throws(KeychainError) {
        if mkdir(path, 0o700) != 0 {
            let number = errno
            if number == ENOENT, let parent = path.parentPath {
                try ensure(parent)
                guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                    throw .system(errno, "The folder ‘\(path)’ could not be made")
                }
            } else if number != EEXIST {
                throw .system(number, "The folder ‘\(path)’ could not be made")
            }
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw .system(ENOTDIR, "The folder ‘\(path)’ could not be made")
            }
        }
    }

    /// Refuses a folder unless it is our own, no link, and only we can write to it.
    ///
    /// - Throws: `insecurePermissions`, and why the folder could not be examined.
    package static func requirePrivate(_ path: String) throws(KeychainError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .system(errno, "The folder ‘\(path)’ could not be examined") }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw KeychainError(
                .insecurePermissions,
                "The folder ‘\(path)’ belongs to someone else or can be written to by others. Remove it, or chmod 700 it."
            )
        }
    }

    private static func folder(
        _ variable: String,
        _ fallback: String,
        _ environment: [String: String]
    ) throws(KeychainError) -> String {
        // The specification: a relative path in these variables is invalid and to be ignored.
        if let path = try environment.variable(variable), path.isAbsolutePath { return path + "/swift-keychain" }
        if let home = try environment.variable("HOME"), home.isAbsolutePath {
            return "\(home)/\(fallback)/swift-keychain"
        }
        guard let entry = getpwuid(geteuid()), let bytes = entry.pointee.pw_dir,
            let home = String(validatingCString: bytes)
        else {
            throw KeychainError(
                .unavailable,
                "This user has no home folder, or one whose path is not UTF-8. Set HOME or \(variable)."
            )
        }
        return "\(home)/\(fallback)/swift-keychain"
    }
}
