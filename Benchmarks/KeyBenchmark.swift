// SPDX-License-Identifier: MIT
#if X509
    import BackendMemory
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainX509
    import SecretServiceFixture

    #if SecretService
        import BackendSecretService
    #endif

    /// A P-256 key in each store, against a password of as many bytes in the same store; and what a key takes of memory.
    ///
    /// In a process of its own for each store.
    enum KeyBenchmark {
        private static let stores = ["memory", "file", "secret-service"]

        static func run(_ options: Options, _ report: inout Report) throws {
            for store in stores {
                let scratch = try Scratch()
                var environment = ["PATH": "/usr/bin:/bin", "HOME": scratch.folder]
                var keyring: PrivateKeyring?
                if store == "secret-service" {
                    do {
                        keyring = try PrivateKeyring.start()
                    } catch {
                        report.note("GNOME Keyring: \(error)")
                        continue
                    }
                    environment = keyring?.environment ?? [:]
                }
                let output = try withExtendedLifetime(keyring) {
                    try Child.run(
                        CommandLine.arguments[0],
                        ["--child", "key", store, "\(options.rounds(100))", scratch.path("keys")],
                        environment,
                        scratch
                    )
                }
                for line in output.text.split(separator: "\n") {
                    let fields = line.split(separator: "\t")
                    guard fields.count == 2 else { throw BenchmarkError("The child printed something else.") }
                    if fields[0] == "memory" {
                        report.note("\(store): \(fields[1]) bytes of memory for each key that is held")
                        continue
                    }
                    report.add(
                        "\(store): \(fields[0])",
                        Measurement(nanoseconds: fields[1].split(separator: " ").compactMap { Double($0) })
                    )
                }
            }
        }

        // MARK: In the process of its own

        /// Measures, and prints a line for each subject: its name, a tab, and times in nanoseconds.
        static func child(_ arguments: [String]) throws {
            guard arguments.count == 3, let rounds = Int(arguments[1]) else {
                throw BenchmarkError("The child needs a store, a number of rounds and a path.")
            }
            let keychain = Keychain(driver: try driver(arguments[0], arguments[2]))
            let keys = try (0...rounds).map { _ in try CryptoKey.generate(.p256) }
            let password = try keys[0].externalRepresentation
            func query(_ run: Int) -> SecItemQuery<SecKey> { .key(for: "key-\(run)") }
            let names = [
                "store of a P-256 key", "store of a password", "retrieve of a P-256 key", "retrieve of a password",
            ]
            let times = try Measurement.compare(
                rounds: rounds,
                [
                    { run in try keychain.store(keys[run], query: query(run)) },
                    { run in try keychain.store(password, query: Sample.query(run)) },
                    { run in
                        let key: CryptoKey? = try keychain.retrieve(query(run))
                        guard key == keys[run] else { throw BenchmarkError("A key is missing.") }
                    },
                    { run in
                        let value: SecureBytes? = try keychain.retrieve(Sample.query(run))
                        guard value == password else { throw BenchmarkError("A password is missing.") }
                    },
                ]
            )
            for (name, time) in zip(names, times) {
                print("\(name)\t\(time.nanoseconds.map { "\(Int($0))" }.joined(separator: " "))")
            }
            let before = try residentBytes()
            let held = try (0..<2_000).map { run in
                let key: CryptoKey? = try keychain.retrieve(query(run % (rounds + 1)))
                return key
            }
            let after = try residentBytes()
            print("memory\t\(max(0, after - before) / held.count)")
            use(held)
        }

        private static func driver(_ store: String, _ path: String) throws -> any KeychainDriver {
            switch store {
            case "memory": return MemoryDriver()
            #if File
                case "file": return try Scratch.driver(path)
            #endif
            #if SecretService
                case "secret-service": return try SecretServiceDriver()
            #endif
            default: throw BenchmarkError("The store ‘\(store)’ was left out of the build.")
            }
        }

        /// The memory of this process that is not swapped (proc_pid_statm(5)).
        private static func residentBytes() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            guard let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
                throw BenchmarkError("The memory of the process cannot be told.")
            }
            return pages * Int(getpagesize())
        }
    }
#endif
