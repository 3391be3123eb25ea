// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import SecretServiceFixture

    /// The command as a whole process, against one that does nothing, and secret-tool.
    enum CommandBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            guard let command = options.commandPath, let empty = options.emptyPath else {
                report.note("The programs were not named: Scripts/benchmarks builds them and names them.")
                return
            }
            let scratch = try Scratch()
            let count = 1_000
            _ = try scratch.store(of: count, "store")
            let key = try scratch.put(Scratch.key, at: "key")
            let environment = ["HOME": scratch.folder, "PATH": "/usr/bin:/bin"]
            let keyring = try startKeyring(&report)
            let secretTool = "/usr/bin/secret-tool"
            var programs: [() throws -> Child] = [
                {
                    try Child.run(
                        command,
                        [
                            "--store", "file:\(scratch.path("store"))", "--key", "keyfile:\(key)", "get",
                            Sample.service(500), Sample.account(500),
                        ],
                        environment,
                        scratch
                    )
                },
                { try Child.run(empty, [], environment, scratch) },
            ]
            if let keyring, access(secretTool, X_OK) == 0 {
                let attributes = ["service", Sample.service(500), "account", Sample.account(500)]
                let stored = try keyring.run(
                    secretTool,
                    ["store", "--label", "benchmark"] + attributes,
                    input: Data("secret".utf8)
                )
                guard stored.status == 0 else { throw BenchmarkError("secret-tool stores nothing.") }
                programs.append {
                    try Child.run(secretTool, ["lookup"] + attributes, keyring.environment, scratch)
                }
            }
            var times = programs.map { _ in [Double]() }
            for round in 0...options.rounds(100) {
                for (index, program) in programs.enumerated() {
                    let elapsed = try program().duration / .nanoseconds(1)
                    if round > 0 { times[index].append(elapsed) }
                }
            }
            let measured = times.map { Measurement(nanoseconds: $0) }
            report.add("keychainctl get, \(count) items, key file", measured[0])
            report.add("an empty Swift program", measured[1])
            let own = (measured[0].median - measured[1].median) / 1_000_000
            report.expect("keychainctl get above an empty program", own, limit: 4, unit: "ms")
            if measured.count > 2 {
                report.add("secret-tool lookup, 1 item", measured[2])
                report.expect("keychainctl get / secret-tool", measured[0].median / measured[2].median, limit: 1)
            }
        }

        /// A GNOME Keyring of its own, nil if there is none.
        private static func startKeyring(_ report: inout Report) throws -> PrivateKeyring? {
            do {
                return try PrivateKeyring.start()
            } catch {
                report.note("secret-tool: \(error)")
                return nil
            }
        }
    }
#endif
