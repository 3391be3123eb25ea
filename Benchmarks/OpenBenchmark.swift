// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI

    /// Opening a large file, against what libsodium alone takes to open the same descriptions.
    enum OpenBenchmark {
        static func run(_ options: Options, _ report: inout Report) throws {
            let scratch = try Scratch()
            try compare("commits of 1000", options.largeCount, commitSize: 1_000, options, scratch, &report)
            // As a program writes that stores one item at a time.
            try compare("commits of 1", options.largeCount / 10, commitSize: 1, options, scratch, &report)
        }

        private static func compare(
            _ name: String,
            _ count: Int,
            commitSize: Int,
            _ options: Options,
            _ scratch: Scratch,
            _ report: inout Report
        ) throws {
            let path = scratch.path("store-\(commitSize)")
            _ = try scratch.store(of: count, "store-\(commitSize)", commitSize: commitSize)
            let alone = SodiumAlone(metadata: try metadataLengths(path))
            let query = Sample.query(count / 2)
            let times = try Measurement.compare(
                rounds: options.rounds(30),
                [
                    { _ in
                        guard try Keychain(driver: try Scratch.driver(path)).contains(query) else {
                            throw BenchmarkError("An item is missing.")
                        }
                    },
                    { _ in alone.openAll() },
                ]
            )
            report.add("opening \(count) items in \(name)", times[0])
            report.add("libsodium alone opens their descriptions", times[1])
            report.expect("opening \(count) items / libsodium", times[0].median / times[1].median, limit: 2.5)
            let size = Double(try fileSize(path))
            let output = try Child.run(
                CommandLine.arguments[0],
                ["--child", "open", path],
                ["PATH": "/usr/bin:/bin"],
                scratch
            )
            guard let resident = Double(output.text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw BenchmarkError("The process that opens the file failed.")
            }
            report.add("the file", bytes: size)
            report.add("resident memory of a process that has opened it", bytes: resident)
            let limit = (1.5 * size + 20_000_000) / 1_000_000
            report.expect("resident memory", resident / 1_000_000, limit: limit, unit: "MB")
        }

        /// Opens a file and tells how much memory the process then has.
        static func child(_ arguments: [String]) throws {
            let keychain = Keychain(driver: try Scratch.driver(arguments[0]))
            guard try keychain.contains(Sample.query(0)) else { throw BenchmarkError("An item is missing.") }
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            let kibibytes = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
            print(kibibytes * 1024)
            withExtendedLifetime(keychain) {}
        }

        /// The lengths of the descriptions in each frame, which stand in the file in clear; see `docs/FileFormat.md`.
        private static func metadataLengths(_ path: String) throws -> [Int] {
            let file = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
            return file.withUnsafeBytes { bytes in
                var lengths: [Int] = []
                var offset = 16384
                while offset + 40 <= bytes.count {
                    let frame = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    let metadata = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
                    lengths.append(Int(UInt32(littleEndian: metadata)) - 16)
                    offset += Int(frame)
                }
                return lengths
            }
        }
    }
#endif
