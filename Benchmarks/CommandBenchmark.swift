// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import SecretServiceFixture

    /// The command as a whole process, against one that does nothing, secret-tool and Python's keyring.
    enum CommandBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            guard let command = options.commandPath, let empty = options.emptyPath else {
                report.note("The programs were not named: Scripts/benchmarks builds them and names them.")
                return
            }
            let scratch = try Scratch()
            _ = try scratch.store(of: 1, "store")
            let key = try scratch.put(Scratch.key, at: "key")
            let environment = ["HOME": scratch.folder, "PATH": "/usr/bin:/bin"]
            let (service, account) = (Sample.service(0), Sample.account(0))
            let keyring = try startKeyring(&report)
            let store = ["--store", "file:\(scratch.path("store"))", "--key", "keyfile:\(key)"]
            var programs: [(name: String, run: () throws -> Child)] = [
                (
                    "keychainctl get, 1 item, key file",
                    { try Child.run(command, store + ["get", service, account], environment, scratch) }
                ),
                ("an empty Swift program", { try Child.run(empty, [], environment, scratch) }),
            ]
            if let keyring {
                // What Python's keyring stores, so that both programs find it.
                let attributes = ["service", service, "username", account]
                for (name, path, arguments) in [
                    ("secret-tool lookup, 1 item", "/usr/bin/secret-tool", ["lookup"] + attributes),
                    ("Python's keyring get, 1 item", "/usr/bin/keyring", ["get", service, account]),
                ] {
                    guard access(path, X_OK) == 0 else {
                        report.note("\(name): \(path) is not installed")
                        continue
                    }
                    if programs.count == 2 {
                        let stored = try keyring.run(
                            "/usr/bin/secret-tool",
                            ["store", "--label", "benchmark"] + attributes,
                            input: Data("secret".utf8)
                        )
                        guard stored.status == 0 else { throw BenchmarkError("secret-tool stores nothing.") }
                    }
                    programs.append((name, { try Child.run(path, arguments, keyring.environment, scratch) }))
                }
            }
            var times = programs.map { _ in [Double]() }
            for round in 0...options.rounds(100) {
                for (index, program) in programs.enumerated() {
                    let elapsed = try program.run().duration / .nanoseconds(1)
                    if round > 0 { times[index].append(elapsed) }
                }
            }
            let measured = times.map { Measurement(nanoseconds: $0) }
            for (program, measurement) in zip(programs, measured) { report.add(program.name, measurement) }
            let own = measured[0].median
            report.expect("keychainctl get / an empty program", own / measured[1].median, limit: 2)
            for (program, measurement) in zip(programs, measured).dropFirst(2) {
                let isPython = program.name.hasPrefix("Python")
                report.expect("keychainctl get / \(program.name)", own / measurement.median, limit: isPython ? 0.05 : 1)
            }
        }

        /// A GNOME Keyring of its own, nil if there is none.
        private static func startKeyring(_ report: inout Report) throws -> PrivateKeyring? {
            do {
                return try PrivateKeyring.start()
            } catch {
                report.note("secret-tool and Python's keyring: \(error)")
                return nil
            }
        }
    }
#endif
