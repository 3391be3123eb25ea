// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAuthentication

/// A script in place of pkcheck, in a folder of its own; each time it runs it leaves a line with its arguments.
final class StandIn: Sendable {
    let folder: URL
    let client: PolkitClient

    /// Makes one.
    ///
    /// - Parameters:
    ///   - script: What it does after it has left its line.
    ///   - user: The user whose process this is said to be.
    init(_ script: String, user: uid_t = 1000) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polkit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let path = folder.appendingPathComponent("pkcheck").path
        let text = "#!/bin/sh\nfolder='\(folder.path)'\necho \"$*\" >>\"$folder/questions\"\n\(script)\n"
        try text.write(toFile: "\(path).sh", atomically: false, encoding: .utf8)
        // By another process: a child that is started here at the same moment could have the script open for writing, and
        // the system runs no such file.
        let install = Process()
        install.executableURL = URL(fileURLWithPath: "/usr/bin/install")
        install.arguments = ["-m", "700", "\(path).sh", path]
        try install.run()
        install.waitUntilExit()
        mkfifo(folder.appendingPathComponent("pipe").path, 0o600)
        client = PolkitClient(path: path, environment: ["PATH": "/usr/bin:/bin"], user: user)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The arguments with which it was run, once for each time.
    var questions: [String] {
        let text = try? String(contentsOf: folder.appendingPathComponent("questions"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// What the script writes to "$folder/pipe", as soon as it does.
    func piped() throws -> String {
        let pipe = try FileHandle(forReadingFrom: folder.appendingPathComponent("pipe"))
        return String(decoding: try pipe.readToEnd() ?? Data(), as: UTF8.self)
    }
}
