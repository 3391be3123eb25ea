// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program that takes GNOME Keyring's request for a prompt and never answers it, as a person who is away.
public final class SilentPrompter: Sendable {
    private let process: ChildProcess
    private let output: Int32

    private static let script = """
        import sys
        from gi.repository import Gio, GLib
        XML = '''<node><interface name="org.gnome.keyring.internal.Prompter">
            <method name="BeginPrompting"><arg type="o" direction="in"/></method>
            <method name="PerformPrompt"><arg type="o" direction="in"/><arg type="s" direction="in"/>
                <arg type="a{sv}" direction="in"/><arg type="s" direction="in"/></method>
            <method name="StopPrompting"><arg type="o" direction="in"/></method>
        </interface></node>'''
        def say(word):
            print(word, flush=True)
        def called(connection, sender, path, interface, method, arguments, invocation):
            invocation.return_value(None)
            say('asked')
        def acquired(connection, name):
            connection.register_object('/org/gnome/keyring/Prompter', Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0],
                called, None, None)
        Gio.bus_own_name(Gio.BusType.SESSION, 'org.gnome.keyring.SystemPrompter', Gio.BusNameOwnerFlags.NONE,
            acquired, lambda *_: say('ready'), lambda *_: sys.exit(1))
        GLib.MainLoop().run()
        """

    init(_ environment: [String: String]) throws {
        let pipe = try Descriptors.makePipe()
        output = pipe.reading
        do {
            defer { close(pipe.writing) }
            process = try ChildProcess("python3", ["-c", Self.script], environment, output: pipe.writing)
        }
        try waitFor("ready")
    }

    /// Returns as soon as a prompt has been asked for.
    public func waitUntilAsked() throws {
        try waitFor("asked")
    }

    private func waitFor(_ word: String) throws {
        let line = Descriptors.readLine(output)
        guard line == word else {
            throw FixtureError("The prompter says \(line ?? "nothing") instead of \(word); it needs python3-gi.")
        }
    }

    /// Ends the program.
    public func stop() {
        process.end()
    }

    deinit {
        process.end()
        close(output)
    }
}

extension PrivateKeyring {
    /// Starts a program that takes requests for prompts and never answers them.
    public func startSilentPrompter() throws -> SilentPrompter {
        try SilentPrompter(environment)
    }
}
