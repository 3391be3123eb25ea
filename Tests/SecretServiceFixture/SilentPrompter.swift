// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program that takes GNOME Keyring's request for a prompt and never answers it, as a person who is away.
public final class SilentPrompter: Sendable {
    // Used by one thread at a time.
    private struct Running: @unchecked Sendable {
        let process: Process
        let output: FileHandle
    }

    private let running: Running

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
        let process = try Program.make("python3", ["-c", Self.script], environment)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        running = Running(process: process, output: pipe.fileHandleForReading)
        try waitFor("ready")
    }

    /// Returns as soon as a prompt has been asked for.
    public func waitUntilAsked() throws {
        try waitFor("asked")
    }

    private func waitFor(_ word: String) throws {
        var line = Data()
        while line.last != 0x0A {
            guard let byte = try running.output.read(upToCount: 1), !byte.isEmpty else {
                throw FixtureError("The prompter does not run; it needs python3-gi.")
            }
            line += byte
        }
        guard line == Data("\(word)\n".utf8) else {
            throw FixtureError("The prompter says \(line) instead of \(word).")
        }
    }

    /// Ends the program.
    public func stop() {
        guard running.process.isRunning else { return }
        kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
    }

    deinit {
        stop()
    }
}

extension PrivateKeyring {
    /// Starts a program that takes requests for prompts and never answers them.
    public func startSilentPrompter() throws -> SilentPrompter {
        try SilentPrompter(environment)
    }
}
