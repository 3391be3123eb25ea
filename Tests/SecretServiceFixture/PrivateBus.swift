// SPDX-License-Identifier: MIT

public import Foundation
import Glibc
import Synchronization

/// A session bus of its own, with a home of its own, on which nothing is started on demand.
///
/// Whatever answers there was started by a test. The bus is ended, and the home removed, at the latest when it is
/// released.
public final class PrivateBus: Sendable {
    /// The address of the bus.
    public let address: String
    /// The environment for programs that are to use this bus, complete: without the one of the test's process.
    public let environment: [String: String]

    /// What holds the home and everything else that programs on this bus leave.
    let folder: URL
    private let process: Mutex<ChildProcess?>

    /// Starts a bus.
    ///
    /// - Parameter refused: An interface that the bus lets nobody call, as in a sandbox; nil for none.
    init(refusing refused: String? = nil) throws {
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
        address = "unix:path=\(folder.path)/bus"
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        self.environment = environment
        process = Mutex(nil)
        try start()
    }

    /// Starts the bus, again after ``stopBus()``.
    func start() throws {
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
        process.withLock { $0 = bus }
    }

    deinit {
        stop()
    }

    /// Ends the bus, and removes the home.
    func stop() {
        stopBus()
        try? FileManager.default.removeItem(at: folder)
        Leftovers.forget(folder)
    }

    /// Ends the bus; what uses it goes with it.
    func stopBus() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }

    /// Waits until a program owns the name of the Secret Service.
    ///
    /// - Parameter program: The program's name, for the error.
    func waitForService(_ program: String) throws {
        let waiting = try run("gdbus", ["wait", "--session", "--timeout", "20", "org.freedesktop.secrets"])
        guard waiting.status == 0 else { throw FixtureError("\(program) does not come up. \(waiting.errors)") }
    }

    /// Looks until something is so, for twenty seconds at most.
    ///
    /// Each look is a call of the bus by a program of its own, which is pause enough.
    ///
    /// - Parameter what: What is waited for, for the error.
    func wait(until what: String, _ isSo: () throws -> Bool) throws {
        let start = ContinuousClock.now
        while try !isSo() {
            guard ContinuousClock.now - start < .seconds(20) else { throw FixtureError("\(what): that does not come.") }
        }
    }

    /// Calls a method.
    ///
    /// - Returns: The answer as `gdbus` prints it.
    func call(
        _ path: String,
        _ method: String,
        _ arguments: [String] = [],
        destination: String = "org.freedesktop.secrets"
    ) throws -> String {
        let answer = try run(
            "gdbus",
            ["call", "--session", "--dest", destination, "--object-path", path, "--method", method] + arguments
        )
        guard answer.status == 0 else { throw FixtureError("\(method) failed. \(answer.errors)") }
        return answer.text
    }

    /// Runs a program on this bus.
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
}
