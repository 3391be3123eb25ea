// SPDX-License-Identifier: MIT

public import Foundation

/// What a program said before it ended.
public struct ProgramOutput: Sendable {
    /// The exit status, or the number of the signal that ended it.
    public let status: Int32
    /// What it wrote to its standard output.
    public let output: Data
    /// What it wrote to its standard error.
    public let errors: String

    /// The standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
}

/// Why a fixture does not stand.
public struct FixtureError: Error, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Runs programs with an environment of their own.
enum Program {
    private static let packages = [
        "dbus-daemon": "dbus", "gnome-keyring-daemon": "gnome-keyring", "gdbus": "libglib2.0-bin",
        "secret-tool": "libsecret-tools",
        "python3": "python3-dbus python3-keyring python3-secretstorage", "git": "git",
    ]

    /// A process that is ready to be run.
    static func make(_ name: String, _ arguments: [String], _ environment: [String: String]) throws -> Process {
        let path = ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path = name.hasPrefix("/") ? name : path else {
            throw FixtureError("\(name) is missing. Run: apt-get install -y \(packages[name] ?? name)")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        return process
    }

    /// Runs a program to its end.
    static func run(
        _ name: String,
        _ arguments: [String],
        _ environment: [String: String],
        input: Data
    ) throws -> ProgramOutput {
        let process = try make(name, arguments, environment)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files rather than pipes: they take any amount without a thread that empties them.
        func file(_ name: String, _ content: Data = Data()) throws -> FileHandle {
            let url = folder.appendingPathComponent(name)
            try content.write(to: url)
            return try FileHandle(forUpdating: url)
        }
        let output = try file("output")
        let errors = try file("errors")
        process.standardInput = try file("input", input)
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        process.waitUntilExit()
        try output.seek(toOffset: 0)
        try errors.seek(toOffset: 0)
        return ProgramOutput(
            status: process.terminationStatus,
            output: try output.readToEnd() ?? Data(),
            errors: String(decoding: try errors.readToEnd() ?? Data(), as: UTF8.self)
        )
    }
}
