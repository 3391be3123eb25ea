// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization

/// The memory driver, against the least that could do its work: a dictionary behind a mutex.
enum MemoryBenchmark {
    private struct Name: Hashable {
        let service: String
        let account: String
    }

    private final class BareDictionary: Sendable {
        private let values = Mutex<[Name: Data]>([:])

        subscript(name: Name) -> Data? {
            get { values.withLock { $0[name] } }
            set { values.withLock { $0[name] = newValue } }
        }
    }

    static func run(_ options: Options, _ report: inout Report) throws {
        let count = 1_000
        let keychain = Keychain(driver: MemoryDriver())
        let bare = BareDictionary()
        for number in 0..<count {
            try keychain.store(Sample.value, query: Sample.query(number))
            bare[Name(service: Sample.service(number), account: Sample.account(number))] = Sample.value
        }
        let queries = (0..<count).map { Sample.query($0) }
        let names = (0..<count).map { Name(service: Sample.service($0), account: Sample.account($0)) }
        let times = try Measurement.compare(
            rounds: options.rounds(500),
            repetitions: 1_000,
            [
                { run in
                    let value: SecureBytes? = try keychain.retrieve(queries[Sample.spread(run, over: count)])
                    use(value)
                },
                { run in
                    use(bare[names[Sample.spread(run, over: count)]])
                },
            ]
        )
        report.add("retrieve from the memory driver, \(count) items", times[0])
        report.add("a dictionary behind a mutex", times[1])
        report.expect("retrieve / dictionary", times[0].median / times[1].median, limit: 8)
    }
}
