// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization

/// A GNOME Keyring on a bus of its own, with a home of its own; any number of them can run at once.
///
/// Nothing in it touches the user's keyring or bus. It ends exactly the processes that it started, at the latest when
/// it is released. Nothing on its bus is started on demand, so that no second daemon answers in its place.
public final class PrivateKeyring: SecretServer {
    /// The bus.
    public let bus: PrivateBus
    /// The password of the default collection, nil if there is none.
    public let password: String?

    private let daemon = Mutex<ChildProcess?>(nil)

    /// The address of the bus.
    public var busAddress: String { bus.address }

    // MARK: Starting and stopping

    /// Starts a bus and a daemon.
    ///
    /// - Parameters:
    ///   - password: The password of the default collection; `""` for one in clear text, nil for no default collection.
    ///   - startsDaemon: Whether the daemon is started as well.
    ///   - refused: An interface that the bus lets nobody call, as in a sandbox; nil for none.
    /// - Throws: A ``FixtureError`` with what to install if a program is missing.
    public static func start(
        password: String? = "correct horse",
        startsDaemon: Bool = true,
        refusing refused: String? = nil
    ) throws -> PrivateKeyring {
        let keyring = try PrivateKeyring(password: password, refusing: refused)
        if startsDaemon { try keyring.startDaemon() }
        return keyring
    }

    private init(password: String?, refusing refused: String?) throws {
        self.password = password
        bus = try PrivateBus(refusing: refused)
    }

    deinit {
        stop()
    }

    /// Ends the daemon and the bus, and removes the home.
    public func stop() {
        killDaemon()
        bus.stop()
    }

    /// Ends the bus; the daemon goes with it.
    public func stopBus() {
        bus.stopBus()
    }

    /// Ends the bus and the daemon, and starts both again.
    public func restartBus() throws {
        killDaemon()
        stopBus()
        try bus.start()
        try startDaemon()
    }

    /// Starts the daemon, with the default collection unlocked.
    ///
    /// - Parameter isUnlocked: Whether it is given the password.
    public func startDaemon(isUnlocked: Bool = true) throws {
        let input: Data
        switch password {
        case nil: input = Data()
        case ""?: input = Data([0])
        case let password?: input = Data(password.utf8)
        }
        // Without a password it starts no collection of its own, and leaves locked what is there.
        let arguments = ["--foreground", "--components=secrets"] + (isUnlocked && password != nil ? ["--unlock"] : [])
        let file = try Descriptors.makeFile(isUnlocked ? input : Data())
        defer { close(file) }
        let started = try ChildProcess("gnome-keyring-daemon", arguments, environment, input: file)
        daemon.withLock { $0 = started }
        try bus.waitForService("gnome-keyring-daemon")
        guard password != nil, isUnlocked else { return }
        // A keyring with an empty password starts locked, and opens for who asks.
        if password == "" { _ = try call("Service.Unlock", ["['\(Self.defaultCollection)']"]) }
        guard try !isLocked() else { throw FixtureError("gnome-keyring-daemon started with its collection locked.") }
    }

    /// Ends the daemon as a crash would.
    public func killDaemon() {
        daemon.withLock { daemon in
            daemon?.end()
            daemon = nil
        }
    }

    /// Ends the daemon, and starts it again.
    ///
    /// - Parameter isUnlocked: Whether the default collection is unlocked, or locked as after a login without a
    ///   password.
    public func restartDaemon(isUnlocked: Bool = true) throws {
        killDaemon()
        try startDaemon(isUnlocked: isUnlocked)
    }

    /// Stops the daemon without ending it: it does not answer.
    public func suspendDaemon() {
        signalDaemon(SIGSTOP)
    }

    /// Lets a stopped daemon go on.
    public func resumeDaemon() {
        signalDaemon(SIGCONT)
    }

    private func signalDaemon(_ signal: Int32) {
        daemon.withLock { $0?.signal(signal) }
    }

    // MARK: Collections

    /// The object path of the default collection.
    public static let defaultCollection = "/org/freedesktop/secrets/collection/login"

    /// The same.
    public var collection: String { Self.defaultCollection }

    /// Locks the default collection.
    public func lock() throws {
        _ = try call("Service.Lock", ["['\(Self.defaultCollection)']"])
        guard try isLocked() else { throw FixtureError("The collection does not lock.") }
    }

    /// Unlocks the default collection with its password, without a prompt.
    public func unlock() throws {
        _ = try python(
            """
            service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
            output, session = service.OpenSession('plain', dbus.String('', variant_level=1))
            secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(sys.argv[1].encode()), 'text/plain'),
                signature='oayays')
            dbus.Interface(bus.get_object(NAME, PATH), 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface') \\
                .UnlockWithMasterPassword(dbus.ObjectPath(sys.argv[2]), secret)
            """,
            [password ?? "", Self.defaultCollection]
        )
        guard try !isLocked() else { throw FixtureError("The collection does not unlock.") }
    }

    /// Leaves the keyring without a default collection, with the items where they are.
    public func removeDefaultCollection() throws {
        _ = try call("Service.SetAlias", ["default", "/"])
    }

    private func call(_ method: String, _ arguments: [String]) throws -> String {
        try bus.call("/org/freedesktop/secrets", "org.freedesktop.Secret.\(method)", arguments)
    }
}
