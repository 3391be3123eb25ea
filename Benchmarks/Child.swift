// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program that is run to its end.
struct Child {
    /// What it printed.
    let text: String
    /// How long it ran.
    let duration: Duration

    /// Runs a program.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - arguments: Its arguments.
    ///   - environment: Its whole environment.
    ///   - scratch: Where its output is kept.
    /// - Throws: If it does not start or fails.
    static func run(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ scratch: Scratch
    ) throws -> Child {
        let output = scratch.path("output")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var identifier: pid_t = 0
        var status: Int32 = 0
        let start = ContinuousClock.now
        guard posix_spawn(&identifier, path, &actions, nil, &argv, &envp) == 0 else {
            throw BenchmarkError("‘\(path)’ does not start.")
        }
        while waitpid(identifier, &status, 0) == -1 && errno == EINTR {}
        let duration = ContinuousClock.now - start
        guard status == 0 else { throw BenchmarkError("‘\(path)’ failed (status \(status)).") }
        return Child(text: (try? String(contentsOfFile: output, encoding: .utf8)) ?? "", duration: duration)
    }
}
