// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
package import KeychainAPI

extension KeySource {
    /// The most that is read from a file or descriptor: far above any passphrase, far below what would hurt.
    private static let limit = 64 * 1024

    /// Reads the passphrase or key.
    ///
    /// A passphrase from a variable, file, descriptor or credential loses exactly one trailing newline.
    ///
    /// - Parameters:
    ///   - prompt: Who asks the person.
    ///   - location: The store that is to be unlocked, for the prompt.
    ///   - isNew: Whether the passphrase is being chosen.
    ///   - permissions: What is asked of the permissions of a passphrase or key file.
    ///   - environment: Where variables are looked up.
    ///   - call: Deadline and cancellation, for a pipe that nobody writes to.
    /// - Throws: `unavailable` if the source is not there, `interactionNotAllowed` if no one can be asked,
    ///   `invalidParameter` for a key file that is not 32 bytes or a `CREDENTIALS_DIRECTORY` that is not UTF-8,
    ///   `insecurePermissions` for a file of one's own that others may touch.
    package func material(
        prompt: (any PassphrasePrompt)?,
        location: String,
        isNew: Bool,
        permissions: StoreOptions.Permissions = .ownerOnly,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        call: CallContext = CallContext(.open)
    ) throws(KeychainError) -> KeyMaterial {
        switch self {
        case .material(let material):
            return material
        case .store(let url):
            throw KeychainError(
                .unsupported,
                "Only a keychain file can be unlocked with a key that another store (\(url)) keeps."
            )
        case .prompt:
            guard let prompt else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The store needs its passphrase and no one can be asked. Give it with --key or KEYCHAIN_KEY, "
                        + "for example env:NAME."
                )
            }
            return .passphrase(try prompt.passphrase(for: location, isNew: isNew))
        case .environment(let name):
            guard let value = environment[name] else {
                throw KeychainError(.unavailable, "The environment variable ‘\(name)’ with the passphrase is not set.")
            }
            // The process's own variable byte for byte: as a String, what is not UTF-8 in it has been replaced.
            if let bytes = getenv(name), String(cString: bytes) == value {
                return .passphrase(Self.droppingNewline(UnsafeRawBufferPointer(start: bytes, count: strlen(bytes))))
            }
            return .passphrase(Self.droppingNewline(Array(value.utf8)))
        case .file(let path):
            return .passphrase(
                try Self.droppingNewline(Self.read(path, "The passphrase file ‘\(path)’", permissions, call))
            )
        case .fileDescriptor(let number):
            // A duplicate: the caller's descriptor stays the caller's.
            let copy = dup(number)
            guard copy >= 0 else {
                throw KeychainError(
                    .unavailable,
                    "File descriptor \(number) for the passphrase is not open. Open it in the calling process, as in "
                        + "\(number)<PATH."
                )
            }
            let file = FileDescriptor(owning: copy)
            return .passphrase(try Self.droppingNewline(Self.read(file, "File descriptor \(number)", call)))
        case .credential(let name):
            guard let folder = try environment.variable("CREDENTIALS_DIRECTORY"), !name.contains("/"), name != ".."
            else {
                throw KeychainError(
                    .unavailable,
                    "There is no systemd credential ‘\(name)’. Add LoadCredential=\(name):PATH to the unit."
                )
            }
            let path = "\(folder)/\(name)"
            // systemd makes the file, and lets the unit's user in through an access control list, which shows as group.
            return .passphrase(try Self.droppingNewline(Self.read(path, "The credential ‘\(name)’", .any, call)))
        case .keyFile(let path):
            let key = try Self.read(path, "The key file ‘\(path)’", permissions, call)
            guard key.count == 32 else {
                throw KeychainError(
                    .invalidParameter,
                    "The key file ‘\(path)’ has \(key.count) bytes; a key is exactly 32 random bytes."
                )
            }
            return .key(key)
        }
    }

    private static func droppingNewline(_ bytes: some ContiguousBytes) -> SecureBytes {
        bytes.withUnsafeBytes { bytes in
            SecureBytes(UnsafeRawBufferPointer(rebasing: bytes.last == 0x0A ? bytes.dropLast() : bytes[...]))
        }
    }

    private static func read(
        _ path: String,
        _ what: String,
        _ permissions: StoreOptions.Permissions,
        _ call: CallContext
    ) throws(KeychainError) -> SecureBytes {
        let file = try FileDescriptor(path, O_RDONLY | O_NONBLOCK, action: "\(what) could not be opened")
        let status = try file.status()
        // As ssh(1): a file of another owner, root's in /etc for example, is that owner's business.
        if permissions == .ownerOnly, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() {
            try status.requireClosed(what, path: path)
        }
        return try read(file, what, call)
    }

    private static func read(
        _ file: FileDescriptor,
        _ what: String,
        _ call: CallContext
    ) throws(KeychainError) -> SecureBytes {
        let bytes = try SecureBytes.reading(atMost: limit) { (target) throws(KeychainError) in
            try file.read(into: target, call, action: "\(what) could not be read")
        }
        guard let bytes else {
            throw KeychainError(.dataTooLarge, "\(what) is larger than \(limit) bytes; it cannot be a passphrase.")
        }
        return bytes
    }
}
