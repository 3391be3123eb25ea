// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The results, printed as they come and kept for the file.
struct Report {
    private struct Row: Encodable {
        let benchmark: String
        let name: String
        let median: Double
        let minimum: Double
        let unit: String
    }

    private struct Target: Encodable {
        let benchmark: String
        let name: String
        let measured: Double
        let limit: Double
        let unit: String
        let isMet: Bool
    }

    private struct Content: Encodable {
        let machine: [String: String]
        let isQuick: Bool
        let rows: [Row]
        let targets: [Target]
        let notes: [String]
    }

    private let isQuick: Bool
    private var benchmark = ""
    private var rows: [Row] = []
    private var targets: [Target] = []
    private var notes: [String] = []

    init(isQuick: Bool) {
        self.isQuick = isQuick
        for (key, value) in Self.machine.sorted(by: { $0.key < $1.key }) { print("\(key): \(value)") }
        if isQuick { print("A quick run: small sizes; its numbers say nothing.") }
    }

    /// Begins the results of a benchmark.
    mutating func begin(_ name: String) {
        benchmark = name
        print("\n\(name)")
    }

    /// Adds a measured time.
    mutating func add(_ name: String, _ measurement: Measurement) {
        rows.append(
            Row(
                benchmark: benchmark,
                name: name,
                median: measurement.median,
                minimum: measurement.minimum,
                unit: "ns"
            )
        )
        line(name, Self.time(measurement.median), "min \(Self.time(measurement.minimum))")
    }

    /// Adds a number of bytes.
    mutating func add(_ name: String, bytes: Double) {
        rows.append(Row(benchmark: benchmark, name: name, median: bytes, minimum: bytes, unit: "bytes"))
        line(name, Self.number(bytes / 1_000_000) + " MB", "")
    }

    /// Says what could not be measured.
    mutating func note(_ text: String) {
        notes.append("\(benchmark): \(text)")
        print("  \(text)")
    }

    /// Compares a result with what is wanted.
    ///
    /// - Parameters:
    ///   - name: What is compared.
    ///   - measured: The result.
    ///   - limit: The most that it may be, or the least.
    ///   - unit: The unit of both.
    ///   - atLeast: Whether the limit is the least.
    mutating func expect(
        _ name: String,
        _ measured: Double,
        limit: Double,
        unit: String = "×",
        atLeast: Bool = false
    ) {
        let isMet = atLeast ? measured >= limit : measured <= limit
        let name = "\(name), at \(atLeast ? "least" : "most") \(Self.number(limit)) \(unit)"
        targets.append(
            Target(benchmark: benchmark, name: name, measured: measured, limit: limit, unit: unit, isMet: isMet)
        )
        line("→ \(name)", "\(Self.number(measured)) \(unit)", isMet ? "met" : "MISSED")
    }

    /// Prints the targets once more, together.
    func summarize() {
        print("\nTargets: \(targets.count { $0.isMet }) of \(targets.count) met")
        for target in targets {
            Self.line(
                "\(target.benchmark): \(target.name)",
                "\(Self.number(target.measured)) \(target.unit)",
                target.isMet ? "met" : "MISSED"
            )
        }
    }

    /// Everything, for a program.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try encoder.encode(
            Content(machine: Self.machine, isQuick: isQuick, rows: rows, targets: targets, notes: notes)
        )
    }

    private func line(_ name: String, _ value: String, _ remark: String) {
        Self.line(name, value, remark)
    }

    private static func line(_ name: String, _ value: String, _ remark: String) {
        let padding = String(repeating: " ", count: max(1, 74 - name.count))
        let alignment = String(repeating: " ", count: max(0, 12 - value.count))
        print("  \(name)\(padding)\(alignment)\(value)   \(remark)")
    }

    private static func time(_ nanoseconds: Double) -> String {
        if nanoseconds < 1_000 { return number(nanoseconds) + " ns" }
        if nanoseconds < 1_000_000 { return number(nanoseconds / 1_000) + " µs" }
        return number(nanoseconds / 1_000_000) + " ms"
    }

    private static func number(_ value: Double) -> String {
        String(format: value.magnitude < 10 ? "%.2f" : value.magnitude < 100 ? "%.1f" : "%.0f", value)
    }

    private static let machine: [String: String] = {
        var names = utsname()
        uname(&names)
        let system = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }
        return [
            "kernel": "Linux \(system)",
            "processor": model.map { $0.drop { $0 != ":" }.dropFirst(2) }.map(String.init) ?? "unknown",
            "cores": "\(ProcessInfo.processInfo.activeProcessorCount)",
            "memory": "\(ProcessInfo.processInfo.physicalMemory >> 20) MiB",
        ]
    }()
}
