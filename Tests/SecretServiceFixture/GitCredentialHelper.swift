// SPDX-License-Identifier: MIT

import Foundation

/// Git's own helper for the Secret Service, built from the source that Debian's package of Git brings along.
public enum GitCredentialHelper {
    private static let source = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

    private static let program = Result { try build() }

    /// Runs the helper as Git does.
    ///
    /// - Parameters:
    ///   - operation: `get`, `store` or `erase`.
    ///   - credential: What Git says of the credential, such as `protocol` and `host`.
    ///   - server: The Secret Service.
    /// - Throws: A ``FixtureError`` with what to install if something is missing to build it.
    public static func run(
        _ operation: String,
        _ credential: [String: String],
        on server: any SecretServer
    ) throws -> ProgramOutput {
        let input = credential.map { "\($0)=\($1)\n" }.joined() + "\n"
        return try server.run(program.get(), [operation], input: Data(input.utf8))
    }

    /// Builds the helper once for all tests of this process.
    private static func build() throws -> String {
        guard FileManager.default.isReadableFile(atPath: source) else {
            throw FixtureError("\(source) is missing. Run: Scripts/install-dependencies test")
        }
        let environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        func output(_ name: String, _ arguments: [String]) throws -> String {
            let answer = try ProgramOutput(running: name, arguments, environment, input: Data())
            guard answer.status == 0 else { throw FixtureError("\(name) failed. \(answer.errors)") }
            return answer.text
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "git-credential-\(UUID().uuidString.prefix(13))"
        )
        Leftovers.note(folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("git-credential-libsecret").path
        let flags = try output("pkg-config", ["--cflags", "--libs", "libsecret-1"])
        _ = try output("cc", ["-o", path, source] + flags.split(whereSeparator: \.isWhitespace).map { String($0) })
        return path
    }
}
