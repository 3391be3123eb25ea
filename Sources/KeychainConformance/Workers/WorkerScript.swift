// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// What a worker process does at the store, once it is told to begin.
enum WorkerScript: String {
    /// Stores the same keys as every other worker, with store(.fail).
    case storeFail
    /// Stores one key again and again, with both upserts.
    case upsert
    /// Stores keys of its own.
    case distinct
    /// Updates an attribute of its own of one shared item.
    case attribute
    /// Adds to a counter in transactions.
    case counter
    /// Changes two items in one transaction.
    case pair
    /// Reads an item that others replace.
    case read
    /// Looks whether two items are ever of different transactions.
    case readPair
    /// Removes the same keys as every other worker.
    case remove
    /// Is the store's only writer until it is told to end.
    case hold
    /// Stores keys of its own and says so after each one.
    case acknowledge

    /// The attributes that workers update, one for each.
    static let attributes: [AttributeName] = [
        .label, .comment, .description, .generic, .creator, .type, .isInvisible, .isNegative,
    ]

    /// The value that worker `index` stores at an item that others store at as well: its size follows from its bytes,
    /// so that a mix of two is noticed.
    static func value(of index: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: index), count: 900 + index) }

    static func isWhole(_ value: Data) -> Bool {
        guard let first = value.first else { return false }
        return value == Self.value(of: Int(first))
    }
}

/// A worker at work.
struct WorkerRun {
    let keychain: Keychain
    let script: WorkerScript
    let count: Int
    let index: Int
    /// Prints a line at once.
    let say: (String) -> Void
    /// Waits until it is told to end.
    let waitForEnd: () -> Void

    /// Does the script, and counts what happened.
    func perform() -> [String: Int] {
        var counts: [String: Int] = [:]
        for step in 0..<(script == .hold ? 1 : count) {
            do {
                counts[try perform(step), default: 0] += 1
            } catch let error as KeychainError {
                counts[error.code.rawValue, default: 0] += 1
            } catch {
                counts["unknown", default: 0] += 1
            }
        }
        return counts
    }

    private func perform(_ step: Int) throws -> String {
        switch script {
        case .storeFail:
            try keychain.store(WorkerScript.value(of: index), query: password("race", "\(step)"))
        case .upsert:
            let policy = step % 2 == 0 ? IfExists.replaceValue : .replace
            try keychain.store(WorkerScript.value(of: index), query: password("shared"), ifExists: policy)
        case .distinct:
            try keychain.store(WorkerScript.value(of: index), query: password("worker\(index)", "\(step)"))
        case .attribute:
            let name = WorkerScript.attributes[index]
            try keychain.update(password("shared"), .setting(name, ContractTable.sample(name, step + 1)))
        case .counter:
            try keychain.transaction { keychain in
                let number: Int? = try keychain.retrieve(password("counter"))
                try keychain.store((number ?? -1_000_000) + 1, query: password("counter"), ifExists: .replaceValue)
            }
        case .pair:
            try keychain.transaction { keychain in
                for account in ["a", "b"] {
                    try keychain.update(password("pair", account), .label("\(index) \(step)"))
                }
            }
        case .read:
            guard let value: Data = try keychain.retrieve(password("shared")) else { return "missing" }
            guard try keychain.contains(password("shared")) else { return "missing" }
            return WorkerScript.isWhole(value) ? "whole" : "torn"
        case .readPair:
            return Set(try keychain.infoAll(for: password("pair")).map(\.label)).count == 1 ? "whole" : "torn"
        case .remove:
            return try keychain.remove(password("race", "\(step)")) ? "done" : "missing"
        case .hold:
            try keychain.driver.write(CallContext(.store)) { _ throws(KeychainError) in
                say("holding")
                waitForEnd()
            }
        case .acknowledge:
            try keychain.store(WorkerScript.value(of: index), query: password("worker\(index)", "\(step)"))
            say("stored \(step)")
        }
        return "done"
    }
}
