// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI

    /// One item stored durably, against appending as many bytes to a plain file and waiting for the disk.
    enum StoreBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let scratch = try Scratch()
            let small = try scratch.store(of: 10, "small")
            let large = try scratch.store(of: options.largeCount, "large")
            let raw = try RawFile(scratch.path("raw"))
            let before = try fileSize(scratch.path("large"))
            try large.store(Sample.value, query: Sample.query(options.largeCount))
            let bytes = [UInt8](repeating: 7, count: try fileSize(scratch.path("large")) - before)
            let first = options.largeCount + 1
            let times = try Measurement.compare(
                rounds: options.rounds(500),
                [
                    { run in
                        // As many items as it has at most: what is removed is not measured.
                        try small.store(Sample.value, query: Sample.query(run % 10), ifExists: .replaceValue)
                    },
                    { run in try large.store(Sample.value, query: Sample.query(first + run)) },
                    { _ in try raw.append(bytes) },
                ]
            )
            report.add("store at 10 items", times[0])
            report.add("store at \(options.largeCount) items", times[1])
            report.add("append of \(bytes.count) bytes and fdatasync", times[2])
            report.expect("store at 10 items / raw", times[0].median / times[2].median, limit: 1.5)
            report.expect("store at \(options.largeCount) / at 10", times[1].median / times[0].median, limit: 1.3)
        }
    }

    /// A thousand items in one commit, against one store and the time that their sealing takes.
    enum TransactionBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let scratch = try Scratch()
            let count = 1_000
            let keychain = try scratch.store(of: 10, "store")
            let single = try scratch.store(of: 10, "single")
            let before = try fileSize(scratch.path("store"))
            try store(count, from: count, in: keychain)
            let seal = SodiumAlone(
                values: [Int](repeating: Sample.value.count, count: count),
                metadata: [try fileSize(scratch.path("store")) - before - count * (Sample.value.count + 16)]
            )
            let times = try Measurement.compare(
                rounds: options.rounds(50),
                [
                    { run in try store(count, from: (run + 2) * count, in: keychain) },
                    { run in try single.store(Sample.value, query: Sample.query(run % 10), ifExists: .replaceValue) },
                    { _ in seal.sealAll() },
                ]
            )
            report.add("transaction of \(count) stores", times[0])
            report.add("one store", times[1])
            report.add("libsodium alone seals the same bytes", times[2])
            let bound = 3 * times[1].median + times[2].median
            report.expect("transaction / (3 stores + sealing)", times[0].median / bound, limit: 1)
        }

        private static func store(_ count: Int, from first: Int, in keychain: Keychain) throws {
            try keychain.transaction { keychain in
                for number in first..<first + count {
                    try keychain.store(Sample.value, query: Sample.query(number))
                }
            }
        }
    }

    /// One value from a file that is open, against libsecret's own file.
    enum RetrieveBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let scratch = try Scratch()
            let sizes = [10, 1_000, options.largeCount]
            let stores = try sizes.map { try scratch.store(of: $0, "store-\($0)") }
            let queries = sizes.map { size in
                (0..<1_000).map { Sample.query(Sample.spread($0, over: size)) }
            }
            let bodies = zip(stores, queries).map { keychain, queries in
                { (run: Int) in
                    let value: SecureBytes? = try keychain.retrieve(queries[run % queries.count])
                    guard value != nil else { throw BenchmarkError("An item is missing.") }
                }
            }
            let times = try Measurement.compare(rounds: options.rounds(500), repetitions: 100, bodies)
            for (size, time) in zip(sizes, times) { report.add("retrieve at \(size) items", time) }
            report.expect("retrieve at \(options.largeCount) items", times[2].median / 1_000, limit: 10, unit: "µs")
            report.expect("retrieve at \(options.largeCount) / at 10", times[2].median / times[0].median, limit: 1.3)
            if let peer = LibsecretFile.measure(options, &report) {
                let ratio = peer.median / times[1].median
                report.expect("libsecret's file / retrieve, 1000 items", ratio, limit: 500, atLeast: true)
            }
            try PythonKeyring.measure(options, scratch, &report)
        }
    }

    /// A query that matches ten items of a large store.
    enum QueryBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let scratch = try Scratch()
            let keychain = try scratch.store(of: options.largeCount, "store")
            let services = options.largeCount / Sample.itemsPerService
            let queries = (0..<1_000).map { number in
                SecItemQuery<GenericPassword>.credential(
                    for: Sample.service(Sample.spread(number, over: services) * Sample.itemsPerService)
                )
            }
            let body = { (run: Int) in
                let found = try keychain.infoAll(for: queries[run % queries.count])
                guard found.count == Sample.itemsPerService else { throw BenchmarkError("Items are missing.") }
            }
            let start = ContinuousClock.now
            try body(0)
            let first = Measurement(nanoseconds: [(ContinuousClock.now - start) / .nanoseconds(1)])
            let time = try Measurement.of(rounds: options.rounds(100), repetitions: 100, body)
            report.add("infoAll by service, 10 of \(options.largeCount) items", time)
            report.add("the first such query", first)
            report.expect("infoAll by service", time.median / 1_000, limit: 50, unit: "µs")
        }
    }

    /// A plain file that is appended to.
    final class RawFile {
        private let descriptor: Int32

        init(_ path: String) throws {
            descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw BenchmarkError("‘\(path)’ cannot be made.") }
        }

        deinit {
            close(descriptor)
        }

        func append(_ bytes: [UInt8]) throws {
            guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
                throw BenchmarkError("The plain file cannot be written.")
            }
        }
    }
#endif
