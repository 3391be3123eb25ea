// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A `pass_secret_service` on a bus of its own, with a password store and a key without passphrase of its own.
///
/// It ends exactly the processes that it started, at the latest when it is released.
public final class PrivatePass: SecretServer {
    /// The bus.
    public let bus: PrivateBus
    /// The object path of the collection, which the service makes up when it creates it.
    public let collection: String

    private let service: Mutex<ChildProcess?>
    /// Whose key it is.
    private static let key = "keychain-test"

    /// Starts a bus and the service.
    ///
    /// - Throws: A ``FixtureError`` with what to install if a program is missing.
    public static func start() throws -> PrivatePass { try PrivatePass() }

    private init() throws {
        bus = try PrivateBus()
        try Self.makeStore(bus)
        let started = try Self.startService(bus)
        service = Mutex(started)
        let answer = try bus.call(
            "/org/freedesktop/secrets",
            "org.freedesktop.Secret.Service.ReadAlias",
            ["default"]
        )
        let parts = answer.split(separator: "'")
        guard parts.count == 3, parts[1] != "/" else {
            throw FixtureError("pass_secret_service has no collection: \(answer)")
        }
        collection = String(parts[1])
    }

    deinit {
        stop()
    }

    /// Ends the service and the bus, and removes the home.
    public func stop() {
        end()
        // The agent that gpg has started; it would also notice that its home is gone.
        for action in [["--kill", "gpg-agent"], ["--remove-socketdir"]] {
            _ = try? bus.run("gpgconf", action, extra: Self.keys(bus))
        }
        bus.stop()
    }

    /// Ends the service, and starts it again.
    ///
    /// - Parameter hasKey: Whether it has the key to encrypt with; it can decrypt what is there in any case.
    public func restart(hasKey: Bool = true) throws {
        end()
        try Self.write(hasKey ? Self.key : "nobody@example.invalid", bus)
        let started = try Self.startService(bus)
        service.withLock { $0 = started }
    }

    private func end() {
        service.withLock { service in
            service?.end()
            service = nil
        }
    }

    /// Locks the collection, which is a mark that the service sets and does not heed.
    public func lock() throws {
        try change("Lock")
        guard try isLocked() else { throw FixtureError("The collection does not lock.") }
    }

    /// Unlocks the collection.
    public func unlock() throws {
        try change("Unlock")
        guard try !isLocked() else { throw FixtureError("The collection does not unlock.") }
    }

    private func change(_ method: String) throws {
        _ = try bus.call("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.\(method)", ["['\(collection)']"])
    }

    // MARK: The password store

    private static func home(_ bus: PrivateBus) -> URL { bus.folder.appendingPathComponent("home") }

    /// Where gpg keeps its keys: not where it does by default, for it would share the agent of the user then.
    private static func keys(_ bus: PrivateBus) -> [String: String] {
        ["GNUPGHOME": home(bus).appendingPathComponent("gpg").path]
    }

    private static func makeStore(_ bus: PrivateBus) throws {
        let store = home(bus).appendingPathComponent(".password-store")
        let keys = home(bus).appendingPathComponent("gpg")
        for folder in [store, keys] {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        // What saves gpg a look at things that do not change here.
        try "trust-model always\nlock-never\nno-auto-check-trustdb\n".write(
            to: keys.appendingPathComponent("gpg.conf"),
            atomically: false,
            encoding: .utf8
        )
        try write(key, bus)
        let arguments = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key", key]
        let made = try bus.run("gpg", arguments + ["future-default", "default", "never"], extra: Self.keys(bus))
        guard made.status == 0 else { throw FixtureError("gpg makes no key. \(made.errors)") }
    }

    /// Does what ‘pass init’ does.
    private static func write(_ key: String, _ bus: PrivateBus) throws {
        let file = home(bus).appendingPathComponent(".password-store/.gpg-id")
        try "\(key)\n".write(to: file, atomically: false, encoding: .utf8)
    }

    // MARK: The service

    private static func startService(_ bus: PrivateBus) throws -> ChildProcess {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let program = root.appendingPathComponent(".build/pass-secret-service/bin/pass_secret_service").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw FixtureError("\(program) is missing. Run: Scripts/install-dependencies test")
        }
        let started = try ChildProcess(program, [], bus.environment.merging(keys(bus)) { $1 })
        try bus.waitForService("pass_secret_service")
        return started
    }
}
