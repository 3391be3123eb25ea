// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program that takes GNOME Keyring's requests for prompts, in the place of a person and the window before them.
public final class Prompter: Sendable {
    /// What it does with every prompt.
    public enum Answer: Sendable {
        /// Nothing, as a person who is away.
        case silence
        /// It cancels.
        case cancel
        /// It types a password.
        case password(String)

        fileprivate var word: String {
            switch self {
            case .silence: "silence"
            case .cancel: "cancel"
            case .password(let password): "password:\(password)"
            }
        }
    }

    private let process: ChildProcess
    private let output: Int32

    // The library of GNOME's own prompter encrypts what is typed.
    private static let script = """
        import ctypes, sys
        from gi.repository import Gio, GLib
        answer = sys.argv[1]
        gcr = ctypes.CDLL('libgcr-base-3.so.1')
        for name, result, arguments in [
                ('new', ctypes.c_void_p, [ctypes.c_char_p]), ('begin', ctypes.c_void_p, [ctypes.c_void_p]),
                ('receive', ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
                ('send', ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ssize_t])]:
            function = getattr(gcr, 'gcr_secret_exchange_' + name)
            function.restype, function.argtypes = result, arguments
        XML = '''<node><interface name="org.gnome.keyring.internal.Prompter">
            <method name="BeginPrompting"><arg type="o" direction="in"/></method>
            <method name="PerformPrompt"><arg type="o" direction="in"/><arg type="s" direction="in"/>
                <arg type="a{sv}" direction="in"/><arg type="s" direction="in"/></method>
            <method name="StopPrompting"><arg type="o" direction="in"/></method>
        </interface></node>'''
        exchanges = {}
        def say(word):
            print(word, flush=True)
        def called(connection, sender, path, interface, method, arguments, invocation):
            invocation.return_value(None)
            callback = arguments.unpack()[0]
            def back(method, arguments):
                connection.call(sender, callback, 'org.gnome.keyring.internal.Prompter.Callback', method, arguments,
                    None, Gio.DBusCallFlags.NONE, -1, None, None)
            def ready(word, message):
                back('PromptReady', GLib.Variant('(sa{sv}s)', (word, {}, ctypes.string_at(message).decode())))
            if method == 'BeginPrompting':
                say('asked')
                if answer == 'silence': return
                exchanges[callback] = gcr.gcr_secret_exchange_new(None)
                ready('', gcr.gcr_secret_exchange_begin(exchanges[callback]))
            elif method == 'PerformPrompt':
                say('window ' + arguments.unpack()[2].get('caller-window', ''))
                gcr.gcr_secret_exchange_receive(exchanges[callback], arguments.unpack()[3].encode())
                secret = None if answer == 'cancel' else answer[len('password:'):].encode()
                message = gcr.gcr_secret_exchange_send(exchanges[callback], secret, -1)
                ready('no' if answer == 'cancel' else 'yes', message)
            else:
                back('PromptDone', None)
        def acquired(connection, name):
            connection.register_object('/org/gnome/keyring/Prompter', Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0],
                called, None, None)
        Gio.bus_own_name(Gio.BusType.SESSION, 'org.gnome.keyring.SystemPrompter', Gio.BusNameOwnerFlags.NONE,
            acquired, lambda *_: say('ready'), lambda *_: sys.exit(1))
        GLib.MainLoop().run()
        """

    init(_ answer: Answer, _ environment: [String: String]) throws {
        let pipe = try Descriptors.makePipe()
        output = pipe.reading
        do {
            defer { close(pipe.writing) }
            process = try ChildProcess(
                "python3",
                ["-c", Self.script, answer.word],
                environment,
                output: pipe.writing
            )
        }
        try waitFor("ready")
    }

    /// Returns as soon as a prompt has been asked for.
    public func waitUntilAsked() throws {
        try waitFor("asked")
    }

    /// Returns as soon as the prompt is shown.
    ///
    /// - Parameter window: The handle of the window that it must belong to.
    public func waitUntilShown(over window: String) throws {
        try waitFor("window \(window)")
    }

    private func waitFor(_ word: String) throws {
        let line = Descriptors.readLine(output)
        guard line == word else {
            throw FixtureError(
                "The prompter says \(line ?? "nothing") instead of \(word); it needs python3-gi and libgcr-base-3-1."
            )
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
    /// Starts a program that takes requests for prompts.
    ///
    /// - Parameter answer: What it does with them.
    public func startPrompter(_ answer: Prompter.Answer = .silence) throws -> Prompter {
        try Prompter(answer, environment)
    }
}
