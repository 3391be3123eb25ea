// SPDX-License-Identifier: MIT

public import Foundation
import Glibc
import Synchronization

/// A GNOME Keyring on a bus of its own, with a home of its own; any number of them can run at once.
///
/// Nothing in it touches the user's keyring or bus. It ends exactly the processes that it started, at the latest when
/// it is released. Nothing on its bus is started on demand, so that no second daemon answers in its place.
public final class PrivateKeyring: Sendable {
    /// The address of the bus.
    public let busAddress: String
    /// The environment for programs that are to use this keyring, complete: without the one of the test's process.
    public let environment: [String: String]
    /// The password of the default collection, nil if there is none.
    public let password: String?

    private let folder: URL
    private let state: Mutex<State>

    private struct State {
        var bus: ChildProcess?
        var daemon: ChildProcess?
    }

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
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "keyring-\(UUID().uuidString.prefix(13))"
        )
        Leftovers.note(folder)
        var environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"]
        let names = [
            "HOME": "home", "XDG_RUNTIME_DIR": "run", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config",
            "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache",
        ]
        for (variable, name) in names {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            environment[variable] = url.path
        }
        let configuration = folder.appendingPathComponent("bus.conf")
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(folder.path)/bus</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
            \(refused.map { "<deny send_interface=\"\($0)\"/>" } ?? "")
          </policy>
          <limit name="max_incoming_bytes">1000000000</limit>
          <limit name="max_outgoing_bytes">1000000000</limit>
          <limit name="max_message_size">1000000000</limit>
          <limit name="max_replies_per_connection">50000</limit>
        </busconfig>
        """.write(to: configuration, atomically: false, encoding: .utf8)
        // Without the identifier that each run of a bus has: one that is started again has the same address.
        busAddress = "unix:path=\(folder.path)/bus"
        environment["DBUS_SESSION_BUS_ADDRESS"] = busAddress
        self.environment = environment
        state = Mutex(State())
        try startBus()
    }

    private func startBus() throws {
        let pipe = try Descriptors.makePipe()
        defer { close(pipe.reading) }
        let configuration = folder.appendingPathComponent("bus.conf").path
        let arguments = ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"]
        let bus: ChildProcess
        do {
            defer { close(pipe.writing) }
            bus = try ChildProcess("dbus-daemon", arguments, environment, output: pipe.writing)
        }
        // It prints its address as soon as it answers there.
        guard Descriptors.readLine(pipe.reading) != nil else { throw FixtureError("dbus-daemon ended at once.") }
        state.withLock { $0.bus = bus }
    }

    deinit {
        stop()
    }

    /// Ends the daemon and the bus, and removes the home.
    public func stop() {
        state.withLock { state in
            for process in [state.daemon, state.bus] { process?.end() }
            state = State()
        }
        try? FileManager.default.removeItem(at: folder)
        Leftovers.forget(folder)
    }

    /// Ends the bus; the daemon goes with it.
    public func stopBus() {
        state.withLock { state in
            state.bus?.end()
            state.bus = nil
        }
    }

    /// Ends the bus and the daemon, and starts both again.
    public func restartBus() throws {
        killDaemon()
        stopBus()
        try startBus()
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
        let daemon = try ChildProcess("gnome-keyring-daemon", arguments, environment, input: file)
        state.withLock { $0.daemon = daemon }
        let waiting = try run("gdbus", ["wait", "--session", "--timeout", "20", "org.freedesktop.secrets"])
        guard waiting.status == 0 else {
            throw FixtureError("gnome-keyring-daemon does not come up. \(waiting.errors)")
        }
        guard password != nil, isUnlocked else { return }
        // A keyring with an empty password starts locked, and opens for who asks.
        if password == "" { _ = try call("Service.Unlock", ["['\(Self.defaultCollection)']"]) }
        guard try !isLocked() else { throw FixtureError("gnome-keyring-daemon started with its collection locked.") }
    }

    /// Ends the daemon as a crash would.
    public func killDaemon() {
        state.withLock { state in
            state.daemon?.end()
            state.daemon = nil
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
        state.withLock { state in
            state.daemon?.signal(signal)
        }
    }

    // MARK: Collections

    /// The object path of the default collection.
    public static let defaultCollection = "/org/freedesktop/secrets/collection/login"

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

    /// Whether the default collection is locked.
    public func isLocked() throws -> Bool {
        let answer = try run(
            "gdbus",
            [
                "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", Self.defaultCollection,
                "--method",
                "org.freedesktop.DBus.Properties.Get", "org.freedesktop.Secret.Collection", "Locked",
            ]
        )
        guard answer.status == 0 else { throw FixtureError("The collection cannot be looked at. \(answer.errors)") }
        return answer.text.contains("true")
    }

    /// Leaves the keyring without a default collection, with the items where they are.
    public func removeDefaultCollection() throws {
        _ = try call("Service.SetAlias", ["default", "/"])
    }

    private func call(_ method: String, _ arguments: [String]) throws -> String {
        let answer = try run(
            "gdbus",
            [
                "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", "/org/freedesktop/secrets",
                "--method",
                "org.freedesktop.Secret.\(method)",
            ] + arguments
        )
        guard answer.status == 0 else { throw FixtureError("\(method) failed. \(answer.errors)") }
        return answer.text
    }

    // MARK: Other programs

    /// Runs a program that uses this keyring.
    ///
    /// - Parameters:
    ///   - program: Its name, or its path.
    ///   - arguments: Its arguments.
    ///   - input: Its standard input.
    ///   - extra: Variables on top of ``environment``.
    /// - Throws: A ``FixtureError`` with what to install if it is missing.
    public func run(
        _ program: String,
        _ arguments: [String],
        input: Data = Data(),
        extra: [String: String] = [:]
    ) throws -> ProgramOutput {
        try ProgramOutput(running: program, arguments, environment.merging(extra) { $1 }, input: input)
    }

    /// Runs Python with `dbus`, `sys`, `json`, a connection as `bus`, and the service's `NAME` and `PATH`.
    ///
    /// - Parameters:
    ///   - script: What it does.
    ///   - arguments: `sys.argv[1...]`.
    /// - Returns: What it printed.
    /// - Throws: A ``FixtureError`` with what it said, if it failed.
    public func python(_ script: String, _ arguments: [String] = []) throws -> String {
        let head = """
            import dbus, json, sys
            NAME, PATH = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
            bus = dbus.SessionBus()

            """
        let answer = try run("python3", ["-c", head + script] + arguments)
        guard answer.status == 0 else {
            throw FixtureError(
                "Python failed; it needs python3-dbus, python3-keyring and python3-secretstorage. \(answer.errors)"
            )
        }
        return answer.text
    }
}
