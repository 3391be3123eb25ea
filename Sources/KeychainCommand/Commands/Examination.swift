// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem
import SwiftKeychain

/// Looks at what a keychain needs of a machine; writes nothing, asks nothing, starts nothing.
struct Examination: Sendable {
    /// The environment.
    let environment: [String: String]
    /// What the drivers say.
    let survey: [DriverRegistry.Report]
    /// The store that would be used.
    let choice: Result<DriverRegistry.Choice, KeychainError>
    /// The key source as text, if one was given.
    let keySource: String?
    /// What is asked of the permissions of a store's and a key's file.
    let permissions: StoreOptions.Permissions
    /// Deadline and cancellation of what takes long, the look at a large file.
    var call = CallContext(.info, interaction: .never)

    /// What was found, the most general first.
    var findings: [Finding] {
        survey.map(driver) + [defaultStore, rememberedStore, bus] + service + defaultFile + namedStore + variables + key
            + [lockedMemory]
    }

    private func driver(_ report: DriverRegistry.Report) -> Finding {
        let subject = "\(report.identifier):"
        switch report.availability {
        case .available(let reason): return Finding(.ok, subject, reason)
        case .unavailable(let reason): return Finding(.note, subject, reason)
        case .unreachable(let reason): return Finding(.problem, subject, reason)
        }
    }

    private var defaultStore: Finding {
        switch choice {
        case .success(let choice): Finding(.ok, "default store", "\(choice.url) (\(choice.reason))")
        case .failure(let error): Finding(.problem, "default store", error.message)
        }
    }

    private var rememberedStore: Finding {
        let subject = "remembered store"
        let remembered = RememberedStore(environment: environment)
        do throws(KeychainError) {
            let path = try remembered.path
            guard let url = try remembered.recall() else {
                return Finding(.ok, subject, "No store has been written to yet; ‘\(path)’ will name it.")
            }
            return Finding(.ok, subject, "\(url), named in ‘\(path)’.")
        } catch {
            return Finding(.problem, subject, error.message)
        }
    }

    private var bus: Finding {
        let subject = "session bus"
        let remedy = "Log in to a desktop, or start a bus with: dbus-run-session -- COMMAND"
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            let paths = Self.socketPaths(address)
            if paths.isEmpty {
                return Finding(.note, subject, "DBUS_SESSION_BUS_ADDRESS names a bus without a socket file.")
            }
            if let path = paths.first(where: Self.isSocket) { return Finding(.ok, subject, "Its socket is ‘\(path)’.") }
            return Finding(
                .problem,
                subject,
                "DBUS_SESSION_BUS_ADDRESS names ‘\(paths[0])’, and there is no socket.",
                remedy: remedy
            )
        }
        if let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty, Self.isSocket(folder + "/bus") {
            return Finding(.ok, subject, "Its socket is ‘\(folder)/bus’.")
        }
        return Finding(
            .note,
            subject,
            "There is none: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket named bus.",
            remedy: remedy
        )
    }

    /// The socket files of a D-Bus address list (D-Bus specification, Server Addresses).
    static func socketPaths(_ addresses: String) -> [String] {
        addresses.split(separator: ";").compactMap { address in
            guard address.hasPrefix("unix:") else { return nil }
            let path = address.dropFirst(5).split(separator: ",").first { $0.hasPrefix("path=") }
            return path.map { path in
                URL(string: "file://\(path.dropFirst(5))")?.path(percentEncoded: false) ?? String(path.dropFirst(5))
            }
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private var variables: [Finding] {
        let names = CommandTable.globalOptions.compactMap(\.variable)
        return names.compactMap { name in
            guard let text = environment[name], !text.isEmpty else { return nil }
            do throws(KeychainError) {
                _ = try environment.variable(name)
            } catch {
                return Finding(.problem, name, error.message)
            }
            // A key source may be a passphrase that was put there by mistake: never shown.
            return Finding(.note, name, name == "KEYCHAIN_KEY" ? "It is set." : "It is set to ‘\(text)’.")
        }
    }

    private var lockedMemory: Finding {
        let subject = "locked memory"
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else {
            return Finding(.note, subject, "Its limit could not be read.")
        }
        if limit.rlim_cur == rlim_t.max { return Finding(.ok, subject, "There is no limit (RLIMIT_MEMLOCK).") }
        let kibibytes = limit.rlim_cur / 1024
        // A region of small secrets, and a value of a few hundred KiB.
        if kibibytes >= 512 { return Finding(.ok, subject, "Up to \(kibibytes) KiB of secrets stay out of swap.") }
        return Finding(
            .note,
            subject,
            "Only \(kibibytes) KiB of secrets stay out of swap; larger ones may be swapped.",
            remedy: "Raise the limit with ulimit -l, or encrypt the swap space."
        )
    }
}

// Files.
extension Examination {
    private var namedStore: [Finding] {
        #if File
            namedFile
        #else
            []
        #endif
    }

    private var defaultFile: [Finding] {
        guard survey.contains(where: { $0.identifier == "file" }) else { return [] }
        let folder: String
        do throws(KeychainError) {
            folder = try PrivateDirectory.data(environment: environment)
        } catch {
            return [Finding(.problem, "default file", error.message)]
        }
        return [Self.folder(folder), secretFile(folder + "/default.keychain", "default file")].compactMap { $0 }
    }

    private static func folder(_ path: String) -> Finding? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o077 == 0, status.st_uid == geteuid() {
            return Finding(.ok, "default folder", "‘\(path)’ is yours alone.")
        }
        if status.st_uid != geteuid() {
            return Finding(
                .problem,
                "default folder",
                "‘\(path)’ belongs to user \(status.st_uid).",
                remedy: "Change its owner: chown \(geteuid()) '\(path)'"
            )
        }
        return Finding(
            .problem,
            "default folder",
            "‘\(path)’ has the mode \(String(status.st_mode & 0o7777, radix: 8)); others can see into it.",
            remedy: "Close it: chmod 700 '\(path)'"
        )
    }

    /// A file that nobody else may read; a missing one is as good as none.
    func secretFile(_ path: String, _ subject: String, missing: Finding.Status = .ok) -> Finding {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let number = errno
            let text =
                number == ENOENT ? "‘\(path)’ does not exist." : "‘\(path)’: \(String(cString: strerror(number)))."
            return Finding(number == ENOENT ? missing : .problem, subject, text)
        }
        guard permissions == .ownerOnly else { return Finding(.note, subject, "‘\(path)’ may have any permissions.") }
        guard status.st_mode & 0o077 == 0 else {
            return Finding(
                .problem,
                subject,
                "‘\(path)’ has the mode \(String(status.st_mode & 0o7777, radix: 8)); others can reach it.",
                remedy: "Close it: chmod 600 '\(path)'"
            )
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            return Finding(
                .problem,
                subject,
                "‘\(path)’ belongs to user \(status.st_uid).",
                remedy: "Use one of your own."
            )
        }
        return Finding(
            .ok,
            subject,
            "‘\(path)’ is yours alone (mode \(String(status.st_mode & 0o7777, radix: 8))), \(status.st_size) bytes."
        )
    }

    var key: [Finding] {
        guard let keySource else { return [] }
        let subject = "key source"
        let source: KeySource
        do throws(KeychainError) { source = try KeySource(parsing: keySource) } catch {
            return [Finding(.problem, subject, error.message)]
        }
        switch source {
        case .prompt, .fileDescriptor, .store, .material:
            return []
        case .environment(let name):
            if environment[name] != nil { return [Finding(.ok, subject, "The variable ‘\(name)’ is set.")] }
            return [Finding(.problem, subject, "The variable ‘\(name)’ is not set.", remedy: "Export it.")]
        case .file(let path):
            return [secretFile(path, subject, missing: .problem)]
        case .keyFile(let path):
            let finding = secretFile(path, subject, missing: .problem)
            var status = stat()
            guard finding.status == .ok, stat(path, &status) == 0, status.st_size != 32 else { return [finding] }
            return [
                Finding(
                    .problem,
                    subject,
                    "‘\(path)’ has \(status.st_size) bytes; a key is exactly 32 random bytes.",
                    remedy: "Make a new one only if no store uses this one: head -c 32 /dev/urandom > '\(path)'"
                )
            ]
        case .credential(let name):
            guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
                return [
                    Finding(
                        .problem,
                        subject,
                        "There is no systemd credential: CREDENTIALS_DIRECTORY is not set.",
                        remedy: "Add LoadCredential=\(name):PATH to the unit."
                    )
                ]
            }
            return [secretFile("\(folder)/\(name)", subject, missing: .problem)]
        }
    }
}
