// SPDX-License-Identifier: MIT
#if SecretService
    import BackendSecretService
    import CLibsecret
    import Foundation
    import KeychainAPI
    import SecretServiceFixture
    import Synchronization

    /// The desktop's keyring, against libsecret's own calls on the same keyring.
    ///
    /// In a process of its own, whose environment names a GNOME Keyring that nobody else uses.
    enum SecretServiceBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let keyring: PrivateKeyring
            do {
                keyring = try PrivateKeyring.start()
            } catch {
                return report.note("GNOME Keyring: \(error)")
            }
            let scratch = try Scratch()
            let count = options.isQuick ? 50 : 1_000
            let output = try Child.run(
                CommandLine.arguments[0],
                ["--child", "secret-service", "\(count)", "\(options.rounds(200))"],
                keyring.environment,
                scratch
            )
            var times: [String: Measurement] = [:]
            for line in output.text.split(separator: "\n") {
                let fields = line.split(separator: "\t")
                guard fields.count == 2 else { throw BenchmarkError("The child printed something else.") }
                let time = Measurement(nanoseconds: fields[1].split(separator: " ").compactMap { Double($0) })
                times[String(fields[0])] = time
                report.add(String(fields[0]), time)
            }
            func median(_ subject: Subject) throws -> Double {
                guard let time = times[subject.rawValue] else { throw BenchmarkError("‘\(subject)’ is missing.") }
                return time.median
            }
            let lookup = try median(.libsecretLookup)
            report.expect("retrieve / libsecret's lookup", try median(.retrieve) / lookup, limit: 1.05)
            report.expect("the same again / libsecret's lookup", try median(.retrieveAgain) / lookup, limit: 0.6)
            report.expect("a miss / libsecret's lookup", try median(.miss) / lookup, limit: 1.5)
            let all = try max(median(.retrieveAll), median(.infoAll))
            report.expect(
                "libsecret's search / the slower of both",
                try median(.libsecretAll) / all,
                limit: 10,
                atLeast: true
            )
            report.expect("retrieveAll / bare calls", try median(.retrieveAll) / median(.bareAll), limit: 4)
            let store = try median(.libsecretStore)
            report.expect(
                "store / libsecret's store and a search",
                try median(.store) / (store + median(.libsecretSearch)),
                limit: 1.1
            )
            report.expect("replaceValue / libsecret's store", try median(.replace) / store, limit: 0.8)
            report.expect("16 tasks at once / one after another", try median(.sixteen) / median(.retrieve), limit: 1)
        }

        /// What is measured.
        private enum Subject: String {
            case retrieve = "retrieve of one item"
            case retrieveAgain = "retrieve of the same item again"
            case libsecretLookup = "libsecret: secret_password_lookup_sync"
            case miss = "retrieve of none"
            case firstInfoAll = "infoAll of all items, for the first time"
            case infoAll = "infoAll of all items"
            case retrieveAll = "retrieveAll of all items"
            case libsecretAll = "libsecret: secret_service_search_sync of all with their values"
            case bareAll = "libsecret: SearchItems and GetSecrets alone"
            case store = "store of a new item"
            case libsecretStore = "libsecret: secret_password_store_sync of a new item"
            case libsecretSearch = "libsecret: SearchItems for one item"
            case replace = "replaceValue"
            case sixteen = "retrieve, 16 tasks at once, each"
        }

        // MARK: In the process of its own

        /// Measures, and prints a line for each subject: its name, a tab, and times in nanoseconds.
        static func child(_ arguments: [String]) throws {
            guard arguments.count == 2, let count = Int(arguments[0]), let rounds = Int(arguments[1]) else {
                throw BenchmarkError("The child needs a number of items and of rounds.")
            }
            let keychain = Keychain(driver: try SecretServiceDriver())
            let libsecret = try LibsecretService()
            for number in 0..<count { try keychain.store(text, query: Sample.query(number)) }
            let retrieve = { (run: Int) in
                guard try keychain.retrieve(Sample.query(Sample.spread(run, over: count))) == text else {
                    throw missing
                }
            }
            try print(.retrieve, .retrieveAgain, .libsecretLookup, .miss, rounds: rounds, retrieve, retrieve) { run in
                try libsecret.lookup(Sample.spread(run, over: count))
            } _: { run in
                let none: String? = try keychain.retrieve(Sample.query(count + run))
                guard none == nil else { throw missing }
            }
            let few = max(3, rounds / 40)
            let infoAll = { (_: Int) in
                guard try keychain.infoAll(for: SecItemQuery<GenericPassword>()).count == count else { throw missing }
            }
            let start = ContinuousClock.now
            try infoAll(0)
            Swift.print("\(Subject.firstInfoAll.rawValue)\t\(Int((ContinuousClock.now - start) / .nanoseconds(1)))")
            try print(.retrieveAll, .infoAll, .bareAll, rounds: few) { _ in
                guard try keychain.retrieveAll(query: SecItemQuery<GenericPassword>()).count == count else {
                    throw missing
                }
            } _: { run in
                try infoAll(run)
            } _: { _ in
                try libsecret.readAll(count)
            }
            try print(.libsecretAll, rounds: max(1, few / 3)) { _ in try libsecret.searchAll(count) }
            let pace = max(5, rounds / 4)
            try print(.store, .libsecretStore, .libsecretSearch, rounds: pace) { run in
                try keychain.store(text, query: Sample.query(count + run))
            } _: { run in
                try libsecret.store(run)
            } _: { run in
                try libsecret.search(Sample.spread(run, over: count))
            }
            try print(.replace, rounds: pace) { run in
                let query = Sample.query(Sample.spread(run, over: count))
                try keychain.store(text, query: query, ifExists: .replaceValue)
            }
            try print(.sixteen, rounds: max(5, rounds / 10), each: 160) { run in
                try atOnce(16) { task in
                    for step in 0..<10 {
                        let number = Sample.spread(run * 160 + task * 10 + step, over: count)
                        guard try await keychain.retrieve(Sample.query(number)) == text else { throw missing }
                    }
                }
            }
        }

        private static let missing = BenchmarkError("An item is missing.")
        private static let text = String(repeating: "x", count: Sample.value.count)

        private static func print(
            _ subjects: Subject...,
            rounds: Int,
            each divisor: Double = 1,
            _ bodies: ((Int) throws -> Void)...
        ) throws {
            let clock = ContinuousClock()
            var times = subjects.map { _ in [String]() }
            for round in 0...rounds {
                for (index, body) in bodies.enumerated() {
                    let start = clock.now
                    try body(round)
                    let elapsed = start.duration(to: clock.now) / .nanoseconds(1) / divisor
                    if round > 0 { times[index].append("\(Int(elapsed))") }
                }
            }
            for (subject, times) in zip(subjects, times) {
                Swift.print("\(subject.rawValue)\t\(times.joined(separator: " "))")
            }
        }

        /// Runs tasks and waits for them without being one.
        private static func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) throws {
            let failure = Mutex<(any Error)?>(nil)
            let done = DispatchSemaphore(value: 0)
            Task {
                do {
                    try await withThrowingTaskGroup { group in
                        for task in 0..<count { group.addTask { try await body(task) } }
                        try await group.waitForAll()
                    }
                } catch {
                    failure.withLock { $0 = error }
                }
                done.signal()
            }
            done.wait()
            if let error = failure.withLock({ $0 }) { throw error }
        }
    }

    /// libsecret's own calls.
    private struct LibsecretService {
        private let service: UnsafeMutablePointer<SecretService>
        private let schema: UnsafeMutablePointer<SecretSchema>?

        init() throws {
            var error: UnsafeMutablePointer<GError>?
            guard let service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, nil, &error) else {
                throw BenchmarkError("libsecret reaches no keyring.")
            }
            self.service = service
            let types = g_hash_table_new(g_str_hash, g_str_equal)
            for name in ["service", "username"] { g_hash_table_insert(types, strdup(name), nil) }
            schema = secret_schema_newv("org.example.Benchmark", SECRET_SCHEMA_DONT_MATCH_NAME, types)
        }

        func lookup(_ number: Int) throws {
            let found = secret_password_lookupv_sync(schema, attributes(number), nil, nil)
            defer { secret_password_free(found) }
            try require(found != nil)
        }

        func store(_ number: Int) throws {
            let isStored = secret_password_storev_sync(
                schema,
                attributes(1_000_000 + number),
                SECRET_COLLECTION_DEFAULT,
                "label",
                String(repeating: "x", count: Sample.value.count),
                nil,
                nil
            )
            try require(isStored != 0)
        }

        func search(_ number: Int) throws {
            try require(paths(attributes(number)).count == 1)
        }

        func readAll(_ count: Int) throws {
            let paths = paths(every)
            try require(paths.count >= count)
            for start in stride(from: 0, to: paths.count, by: 64) {
                var chunk = paths[start..<min(start + 64, paths.count)].map { UnsafePointer<gchar>(strdup($0)) } + [nil]
                defer { for path in chunk { free(UnsafeMutablePointer(mutating: path)) } }
                let found = secret_service_get_secrets_for_dbus_paths_sync(service, &chunk, nil, nil)
                try require(found.map { g_hash_table_size($0) } == guint(chunk.count - 1))
                g_hash_table_unref(found)
            }
        }

        func searchAll(_ count: Int) throws {
            let flags = SecretSearchFlags(
                SECRET_SEARCH_ALL.rawValue | SECRET_SEARCH_UNLOCK.rawValue | SECRET_SEARCH_LOAD_SECRETS.rawValue
            )
            let found = secret_service_search_sync(service, nil, every, flags, nil, nil)
            try require(g_list_length(found) >= count)
            g_list_free_full(found, g_object_unref)
        }

        private func paths(_ attributes: OpaquePointer?) -> [String] {
            var unlocked: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
            guard
                secret_service_search_for_dbus_paths_sync(service, nil, attributes, nil, &unlocked, nil, nil) != 0,
                let unlocked
            else { return [] }
            defer { g_strfreev(unlocked) }
            return sequence(first: unlocked) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != nil }
                .map { String(cString: $0!) }
        }

        private func require(_ isDone: Bool) throws {
            guard isDone else { throw BenchmarkError("libsecret did not do what it was asked for.") }
        }

        /// What every item of the generic passwords has.
        private var every: OpaquePointer? { table(["keychain.class": "genp"]) }

        private func attributes(_ number: Int) -> OpaquePointer? {
            table(["service": Sample.service(number), "username": Sample.account(number)])
        }

        private func table(_ attributes: [String: String]) -> OpaquePointer? {
            let table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
            for (name, value) in attributes { g_hash_table_insert(table, g_strdup(name), g_strdup(value)) }
            return table
        }
    }
#endif
