// SPDX-License-Identifier: MIT

public import Foundation

/// A Secret Service that runs on a bus of its own, with one default collection.
public protocol SecretServer: Sendable {
    /// The bus.
    var bus: PrivateBus { get }

    /// The object path of the default collection.
    var collection: String { get }

    /// Locks the default collection.
    ///
    /// - Throws: A ``FixtureError`` if it stays open.
    func lock() throws

    /// Unlocks the default collection without asking anyone.
    ///
    /// - Throws: A ``FixtureError`` if it stays locked.
    func unlock() throws
}

extension SecretServer {
    /// The environment for programs that are to use this server, complete: without the one of the test's process.
    public var environment: [String: String] { bus.environment }

    /// Whether the default collection is locked.
    public func isLocked() throws -> Bool {
        try bus.call(
            collection,
            "org.freedesktop.DBus.Properties.Get",
            ["org.freedesktop.Secret.Collection", "Locked"]
        ).contains("true")
    }

    /// Runs a program that uses this server.
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
        try bus.run(program, arguments, input: input, extra: extra)
    }

    /// Runs Python with `dbus`, `sys`, `json`, a connection as `bus`, the service's `NAME` and `PATH`, and
    /// `finish(prompt)`, which runs a prompt and returns its result.
    ///
    /// - Parameters:
    ///   - script: What it does.
    ///   - arguments: `sys.argv[1...]`.
    /// - Returns: What it printed.
    /// - Throws: A ``FixtureError`` with what it said, if it failed.
    public func python(_ script: String, _ arguments: [String] = []) throws -> String {
        let head = """
            import dbus, json, sys
            from dbus.mainloop.glib import DBusGMainLoop
            from gi.repository import GLib
            NAME, PATH = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
            DBusGMainLoop(set_as_default=True)
            bus = dbus.SessionBus()
            def finish(prompt):
                loop, results = GLib.MainLoop(), []
                def completed(dismissed, result):
                    results.append((bool(dismissed), result))
                    loop.quit()
                bus.add_signal_receiver(completed, 'Completed', 'org.freedesktop.Secret.Prompt', path=prompt)
                dbus.Interface(bus.get_object(NAME, prompt), 'org.freedesktop.Secret.Prompt').Prompt('')
                GLib.timeout_add_seconds(10, loop.quit)
                loop.run()
                if not results or results[0][0]: sys.exit('the prompt was dismissed or did not end')
                return results[0][1]

            """
        let answer = try run("python3", ["-c", head + script] + arguments)
        guard answer.status == 0 else {
            throw FixtureError(
                "Python failed; it needs python3-dbus, python3-gi, python3-keyring and python3-secretstorage. "
                    + answer.errors
            )
        }
        return answer.text
    }
}
