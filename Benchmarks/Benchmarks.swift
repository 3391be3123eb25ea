// SPDX-License-Identifier: MIT

import Foundation

/// Measures this library and its peers side by side; see `docs/Performance.md`.
@main
struct Benchmarks {
    /// One subject of measurement.
    private struct Benchmark {
        let name: String
        let run: (Options, inout Report) throws -> Void
    }

    private static var all: [Benchmark] {
        var all = [Benchmark(name: "memory", run: MemoryBenchmark.run)]
        #if File
            all += [
                Benchmark(name: "store", run: StoreBenchmark.run),
                Benchmark(name: "transaction", run: TransactionBenchmark.run),
                Benchmark(name: "retrieve", run: RetrieveBenchmark.run),
                Benchmark(name: "open", run: OpenBenchmark.run),
                Benchmark(name: "query", run: QueryBenchmark.run),
                Benchmark(name: "command", run: CommandBenchmark.run),
            ]
        #endif
        #if SecretService
            all.append(Benchmark(name: "secret-service", run: SecretServiceBenchmark.run))
        #endif
        #if X509
            all.append(Benchmark(name: "key", run: KeyBenchmark.run))
        #endif
        return all
    }

    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if let child = options.child { return try runChild(child) }
            var report = Report(isQuick: options.isQuick)
            for benchmark in all where options.filter.map({ benchmark.name.contains($0) }) ?? true {
                report.begin(benchmark.name)
                try benchmark.run(options, &report)
            }
            report.summarize()
            if let path = options.jsonPath { try report.json().write(to: URL(fileURLWithPath: path)) }
        } catch {
            FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    /// What is measured in a process of its own, for its memory or its environment.
    private static func runChild(_ arguments: [String]) throws {
        switch arguments.first {
        #if File
            case "open": try OpenBenchmark.child(Array(arguments.dropFirst()))
        #endif
        #if SecretService
            case "secret-service": try SecretServiceBenchmark.child(Array(arguments.dropFirst()))
            case "libsecret": try LibsecretFile.child(Array(arguments.dropFirst()))
        #endif
        #if X509
            case "key": try KeyBenchmark.child(Array(arguments.dropFirst()))
        #endif
        default: throw BenchmarkError("There is no child of that name.")
        }
    }
}

/// Why there is nothing to report.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
