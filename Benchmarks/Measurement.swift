// SPDX-License-Identifier: MIT

/// How long one thing took, in several rounds.
struct Measurement {
    /// Nanoseconds, in ascending order.
    let nanoseconds: [Double]

    init(nanoseconds: [Double]) {
        self.nanoseconds = nanoseconds.sorted()
    }

    /// The median: what is compared.
    var median: Double { nanoseconds.isEmpty ? .nan : nanoseconds[nanoseconds.count / 2] }
    /// The fastest round: what is possible when nothing interferes.
    var minimum: Double { nanoseconds.first ?? .nan }

    /// Measures several things by turns, so that what disturbs the machine disturbs all of them.
    ///
    /// - Parameters:
    ///   - rounds: How often each is measured; one round more comes first and does not count.
    ///   - repetitions: How often each runs in a round.
    ///   - bodies: What is measured; is given the number of the run.
    static func compare(
        rounds: Int,
        repetitions: Int = 1,
        _ bodies: [(Int) throws -> Void]
    ) throws -> [Measurement] {
        var times = bodies.map { _ in [Double]() }
        let clock = ContinuousClock()
        for round in 0...rounds {
            for (index, body) in bodies.enumerated() {
                let start = clock.now
                for repetition in 0..<repetitions { try body(round * repetitions + repetition) }
                let elapsed = start.duration(to: clock.now)
                if round > 0 { times[index].append(elapsed / .nanoseconds(1) / Double(repetitions)) }
            }
        }
        return times.map { Measurement(nanoseconds: $0) }
    }

    /// Measures one thing.
    static func of(
        rounds: Int,
        repetitions: Int = 1,
        _ body: (Int) throws -> Void
    ) throws -> Measurement {
        try withoutActuallyEscaping(body) { try compare(rounds: rounds, repetitions: repetitions, [$0])[0] }
    }
}

/// Keeps the optimizer from leaving out what nobody looks at.
@inline(never)
func use<Value>(_ value: Value) {}
