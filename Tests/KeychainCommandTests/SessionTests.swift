// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Testing

    /// The terminal session of the README, as it goes when its commands are typed.
    ///
    /// `KEYCHAIN_UPDATE_SNAPSHOTS=1 swift test --filter SessionTests` writes what the commands print anew.
    @Suite(.timeLimit(.minutes(2)))
    struct SessionTests {
        private static let begin = "```console\n"
        private static let end = "```\n"
        /// What stands for the person's home folder.
        private static let home = "/home/you"

        @Test func theREADMEsSession() async throws {
            let bench = Bench()
            let file = URL(filePath: #filePath).appending(path: "../../../README.md").standardized
            let text = try String(contentsOf: file, encoding: .utf8)
            let start = try #require(text.range(of: Self.begin)?.upperBound)
            let stop = try #require(text.range(of: Self.end, range: start..<text.endIndex)?.lowerBound)
            let written = String(text[start..<stop])
            let commands = written.split(separator: "\n").filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }

            let outputs = try await outputs(of: commands, bench)
            let session = zip(commands, outputs).map { "$ \($0)\n\($1)" }.joined()
            if ProcessInfo.processInfo.environment["KEYCHAIN_UPDATE_SNAPSHOTS"] == "1" {
                try text.replacing(written, with: session).write(to: file, atomically: true, encoding: .utf8)
            }
            #expect(written == session)
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: bench.folder)) == ["bin", ".local"])
        }

        /// What a terminal shows of each of some commands that are typed into one shell.
        private func outputs(of commands: [String], _ bench: Bench) async throws -> [String] {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let head = "mkdir $HOME/bin; ln -s $K $HOME/bin/keychainctl; PATH=$HOME/bin:$PATH\n"
            let script = head + commands.map { $0 + "\nprintf '\\1'\n" }.joined()
            let environment = ["HOME": bench.folder]
            async let outcome = onThread { try Program.shell(script, environment: environment, terminal: path) }
            let outputs = try await onThread {
                try commands.map { _ in Self.shown(String(try terminal.wait(for: "\u{1}").dropLast())) }
            }
            #expect(try await outcome.status == 0)
            return outputs.map { $0.replacing(bench.folder, with: Self.home) }
        }

        /// What is left on the screen of what was written: a line is written over after a carriage return.
        private static func shown(_ text: String) -> String {
            text.replacing("\r\n", with: "\n").components(separatedBy: "\n").map { line in
                let last = line.components(separatedBy: "\r").last ?? ""
                return last.replacing("\u{1B}[K", with: "")
            }.joined(separator: "\n")
        }
    }
#endif
