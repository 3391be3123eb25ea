// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct Options {
    /// Small sizes and few rounds: to see that everything runs, not for numbers.
    private(set) var isQuick = false
    /// Where the results are written as JSON.
    private(set) var jsonPath: String?
    /// Only benchmarks whose name contains this.
    private(set) var filter: String?
    /// The built command, and a program that does nothing, built in the same way.
    private(set) var commandPath: String?
    private(set) var emptyPath: String?
    /// The rest of the arguments of a process that this program started itself.
    private(set) var child: [String]?

    /// How many items a large store has.
    var largeCount: Int { isQuick ? 2_000 : 100_000 }

    static let usage = """
        usage: Benchmarks [--quick] [--filter NAME] [--json PATH] [--keychainctl PATH --empty PATH]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--quick": isQuick = true
            case "--json": jsonPath = try Self.value(of: option, &rest)
            case "--filter": filter = try Self.value(of: option, &rest)
            case "--keychainctl": commandPath = try Self.value(of: option, &rest)
            case "--empty": emptyPath = try Self.value(of: option, &rest)
            case "--child":
                child = Array(rest)
                rest = []
            default: throw BenchmarkError("‘\(option)’ is no option.\n\(Self.usage)")
            }
        }
    }

    /// A number of rounds, and a tenth of it for a quick run.
    func rounds(_ count: Int) -> Int { isQuick ? max(3, count / 10) : count }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw BenchmarkError("\(option) needs a value.\n\(usage)") }
        return value
    }
}
