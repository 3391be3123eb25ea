// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

extension Bench {
    /// Runs a closure while another thread is the store's only writer.
    ///
    /// The writer gives up after twice the harness's patience, so that a store that ignores deadlines fails the check
    /// instead of hanging it.
    fileprivate func whileWriting<Result>(_ body: () throws -> Result) throws -> Result {
        let holder = try hold()
        defer { holder.release() }
        return try body()
    }

    fileprivate func hold() throws -> Holder {
        let holder = Holder(keychain, patience * 2)
        try expect(holder.holds.wait(atMost: patience), "A writer gets the store")
        return holder
    }

    /// A thread that is the store's only writer until it is released.
    final class Holder: Sendable {
        let holds = Gate()
        private let done = Gate()
        private let running: Threads.Running<Void>

        init(_ keychain: Keychain, _ limit: Duration) {
            let (holds, done) = (holds, done)
            running = Threads.start {
                try keychain.driver.write(CallContext(.store)) { _ throws(KeychainError) in
                    holds.open()
                    _ = done.wait(atMost: limit)
                }
            }
        }

        func release() {
            done.open()
            _ = running.outcome(within: .seconds(60))
        }
    }

    /// Runs one closure again and again on another thread while this one runs the second: until both have run often.
    fileprivate func whileChanging(
        _ change: @escaping @Sendable (Int) throws -> Void,
        reading read: () throws -> Void
    ) throws {
        let rounds = Mutex(0)
        let isOver = Mutex(false)
        let writer = Threads.start {
            while !isOver.withLock({ $0 }) {
                try change(rounds.withLock { $0 } + 1)
                rounds.withLock { $0 += 1 }
            }
        }
        defer { isOver.withLock { $0 = true } }
        let end = ContinuousClock.now + patience
        var reads = 0
        while (reads < 100 || rounds.withLock { $0 } < 20) && ContinuousClock.now < end {
            try read()
            reads += 1
        }
        isOver.withLock { $0 = true }
        try unwrap(writer.outcome(within: patience), "The writer ends").get()
        try expect(reads > 0 && rounds.withLock { $0 } > 0, "Both have run")
    }

    /// Runs a closure on a thread of its own, and fails unless it throws a code promptly.
    fileprivate func expectPromptly(
        _ code: KeychainError.Code,
        or other: KeychainError.Code,
        _ what: String,
        _ body: @escaping @Sendable () throws -> Void
    ) throws {
        let running = Threads.start(body)
        let outcome = try unwrap(running.outcome(within: patience), "\(what) ends promptly")
        try expectThrows(code, or: other, what) { try outcome.get() }
    }
}

extension ConformanceSuite {
    static let concurrency = CheckList.make(.concurrency) { list in
        list.add("Of racing store(.fail) of one key exactly one succeeds, the others throw duplicateItem") { bench in
            for round in 0..<5 {
                let results = Threads.race(8) { try bench.keychain.store("\($0)", query: password("s\(round)")) }
                let winners = results.indices.filter { if case .success = results[$0] { true } else { false } }
                try expectEqual(winners.count, 1, "One success")
                for case .failure(let error) in results {
                    try expectEqual((error as? KeychainError)?.code, .duplicateItem, "The others")
                }
                try expectEqual(try bench.count(password("s\(round)")), 1, "One item")
                try expectValue(try bench.value(password("s\(round)")), bytes("\(winners[0])"), "The winner's value")
            }
        }
        for policy in [IfExists.replaceValue, .replace] {
            list.add("Racing store(.\(policy)) of one key leave one item with a value that someone stored") { bench in
                let results = Threads.race(8) { index in
                    for _ in 0..<5 {
                        let value = Data(repeating: UInt8(index), count: 1000 + index)
                        try bench.keychain.store(value, query: password("s"), ifExists: policy)
                    }
                }
                for result in results { try result.get() }
                let items = try snapshot(bench.keychain)
                try expectEqual(items.count, 1, "One item")
                let value = try unwrap(items[0].value, "Its value")
                let index = Int(value.first ?? 255)
                try expectValue(value, Data(repeating: UInt8(index), count: 1000 + index), "A whole value, not a mix")
            }
        }
        list.add("Racing stores of different keys lose none") { bench in
            let results = Threads.race(8) { index in
                for step in 0..<5 { try bench.keychain.store("v", query: password("s\(index)", "a\(step)")) }
            }
            for result in results { try result.get() }
            try expectEqual(try snapshot(bench.keychain).count, 40, "Forty items")
        }
        list.add("Racing updates of different attributes all survive") { bench in
            let names: [AttributeName] = [.label, .comment, .description, .generic, .creator, .type]
            try bench.keychain.store("v", query: password("s"))
            let results = Threads.race(names.count) { index in
                for step in 1...5 {
                    let value = ContractTable.sample(names[index], step)
                    try bench.keychain.update(password("s"), .setting(names[index], value))
                }
            }
            for result in results { try result.get() }
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            for name in names { try expect(info[name] == ContractTable.sample(name, 5), "The last \(name) survives") }
        }
        list.add("A racing update of the value and of an attribute both survive") { bench in
            try bench.keychain.store("old", query: password("s"))
            for round in 0..<5 {
                let results = Threads.race(2) { index in
                    var changes = SecItemUpdate<GenericPassword>()
                    if index == 0 { changes.setValue("new\(round)") } else { changes.label = "label\(round)" }
                    try bench.keychain.update(password("s"), changes)
                }
                for result in results { try result.get() }
                try expectValue(try bench.value(password("s")), bytes("new\(round)"), "The value")
                try expectEqual(try bench.keychain.info(for: password("s"))?.label, "label\(round)", "The label")
            }
        }
        list.add("Of racing removes of one item exactly one is true") { bench in
            for round in 0..<5 {
                try bench.keychain.store("v", query: password("s\(round)"))
                let results = try Threads.race(6) { _ in try bench.keychain.remove(password("s\(round)")) }
                    .map { try $0.get() }
                try expectEqual(results.filter { $0 }.count, 1, "One of them removed it")
            }
        }
        list.add("Of racing renames to one key exactly one succeeds") { bench in
            for index in 0..<6 { try bench.keychain.store("\(index)", query: password("s\(index)")) }
            let results = Threads.race(6) { index in
                try bench.keychain.update(password("s\(index)"), .setting(.service, .text("target")))
            }
            let successes = results.filter { if case .success = $0 { true } else { false } }
            try expectEqual(successes.count, 1, "One success")
            try expectEqual(try snapshot(bench.keychain).count, 6, "No item is lost")
            try expectEqual(try bench.count(password("target")), 1, "One item has the key")
        }
        list.add("A reader never misses an item that is being replaced, and never sees half of one") { bench in
            try bench.keychain.store(Data(repeating: 0, count: 500), query: password("s"))
            try bench.whileChanging { round in
                let byte = UInt8(truncatingIfNeeded: round)
                let value = Data(repeating: byte, count: 500 + Int(byte))
                let policy = round % 2 == 0 ? IfExists.replace : .replaceValue
                try bench.keychain.store(value, query: password("s"), ifExists: policy)
            } reading: {
                let value = try unwrap(try bench.value(password("s")), "The item is always there")
                try expect(Set(value).count == 1 && value.count == 500 + Int(value[0]), "A whole value")
                try expect(try bench.keychain.contains(password("s")), "contains sees it")
            }
        }
        list.add("A reader sees all of a commit or nothing of it") { bench in
            guard bench.keychain.capabilities.contains(.transactions) else { return }
            for name in ["a", "b", "c"] { try bench.keychain.store("0", query: password("pair", name)) }
            try bench.whileChanging { round in
                try bench.keychain.update(password("pair"), .label("\(round)"))
            } reading: {
                let labels = Set(try bench.keychain.infoAll(for: password("pair")).map { $0.label ?? "0" })
                try expectEqual(labels.count, 1, "All three items are of one commit")
            }
        }
        list.add("A deadline ends a call that waits for another writer, and it does nothing") { bench in
            try bench.keychain.store("v", query: password("s"))
            let before = try snapshot(bench.keychain)
            try bench.whileWriting {
                let hurried = bench.keychain.with { $0.timeout = .milliseconds(100) }
                let keychain = hurried
                try bench.expectPromptly(.timedOut, or: .busy, "store") {
                    try keychain.store("w", query: password("t"))
                }
                try bench.expectPromptly(.timedOut, or: .busy, "update") {
                    try keychain.update(password("s"), .label("x"))
                }
                try bench.expectPromptly(.timedOut, or: .busy, "remove") { try keychain.remove(password("s")) }
            }
            try expect(try snapshot(bench.keychain) == before, "Nothing was changed, then or later")
        }
        list.add("A deadline that has passed ends every call before it does anything") { bench in
            try bench.keychain.store("v", query: password("s"))
            let late = bench.keychain.with { $0.timeout = .zero }
            try bench.expectRefused(.timedOut, from: .store, "store") { try late.store("w", query: password("t")) }
            try bench.expectRefused(.timedOut, from: .update, "update") { try late.update(password("s"), .label("x")) }
            try bench.expectRefused(.timedOut, from: .remove, "remove") { try late.remove(password("s")) }
            try bench.expectRefused(.timedOut, from: .retrieve, "retrieve") {
                _ = try bench.value(password("s"), in: late)
            }
            try bench.expectRefused(.timedOut, from: .contains, "contains") { _ = try late.contains(password("s")) }
        }
        list.add("Readers do not wait for a writer that has not committed") { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.whileWriting {
                let running = Threads.start { try bench.value(password("s")) }
                let outcome = try unwrap(running.outcome(within: bench.patience), "The reader ends")
                try expectValue(try outcome.get(), bytes("v"), "With what was there before")
            }
        }
        addAsynchronous(&list)
    }

    private static func addAsynchronous(_ list: inout CheckList) {
        list.addAsync("The asynchronous verbs do what the synchronous ones do") { bench in
            let keychain = bench.keychain
            let query = password("s", "a")
            try await keychain.store("v", query: query)
            let value: Data? = try await keychain.retrieve(query)
            try expectValue(value, bytes("v"), "retrieve")
            try expect(try await keychain.retrieve(.data, query: query) == .data(bytes("v")), "retrieve with a type")
            try expectEqual(try await keychain.retrieveAll(query: query).count, 1, "retrieveAll")
            try expectEqual(try await keychain.info(for: query)?.account, "a", "info")
            try expectEqual(try await keychain.infoAll(for: query).count, 1, "infoAll")
            try expect(try await keychain.contains(query), "contains")
            try expectEqual(try await keychain.update(query, .label("x")), 1, "update")
            try await expectThrowsAsync(.duplicateItem, from: .store, "store") {
                try await keychain.store("w", query: query)
            }
            guard case .data? = try await keychain.store("w", returning: .data, query: query, ifExists: .replace) else {
                throw ConformanceFailure("store returns what was asked for")
            }
            let other = bench.inGroup("other")
            try expectEqual(try await keychain.copy(query, to: other), 1, "copy")
            try expectEqual(try await keychain.move(query, to: other, ifExists: .replace), 1, "move")
            try expect(try await other.remove(query), "remove")
            try await keychain.store("v", query: query)
            try await keychain.removeAll(of: GenericPassword.self)
            try await keychain.removeAll()
            try expect(try await !keychain.contains(query), "removeAll")
            try await expectThrowsAsync(.itemNotFound, from: .update, "update") {
                try await keychain.update(query, .label("x"))
            }
        }
        list.addAsync("Cancelling a call that waits ends it promptly, and it does nothing") { bench in
            let (keychain, spy) = bench.spied()
            let holder = try await Threads.run { try bench.hold() }
            let tasks = (0..<4).map { index in
                Task { () -> KeychainError.Code? in
                    do throws(KeychainError) {
                        try await keychain.store("v", query: password("s\(index)"))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            let waiting = spy.gate(at: .write, count: tasks.count)
            let haveBegun = try await Threads.run { waiting.wait(atMost: bench.patience) }
            for task in tasks { task.cancel() }
            let codes = Threads.start(waitingFor: tasks)
            let outcome = try await Threads.run { codes.outcome(within: bench.patience) }
            try await Threads.run { holder.release() }
            try expect(haveBegun, "The calls wait for the other writer")
            let ended = try unwrap(outcome, "They end while the other writer still writes").get()
            try expectEqual(ended, [.cancelled, .cancelled, .cancelled, .cancelled], "Each says that it was cancelled")
            try expect(try await Threads.run { try snapshot(bench.keychain) }.isEmpty, "Nothing was stored")
        }
        list.addAsync("A call of a task that is cancelled already does nothing") { bench in
            let keychain = bench.keychain
            let task = Task { () -> KeychainError.Code? in
                withUnsafeCurrentTask { $0?.cancel() }
                do throws(KeychainError) {
                    try await keychain.store("v", query: password("s"))
                    return nil
                } catch {
                    return error.code
                }
            }
            try expectEqual(await task.value, .cancelled, "It says so")
            try expect(try await !keychain.contains(password("s")), "Nothing was stored")
        }
        list.addAsync("A hundred calls that wait do not keep the program's other tasks from running") { bench in
            // A hundred writers one after the other may take longer than a driver lets one of them wait by itself.
            let patient = bench.keychain.with { $0.timeout = .seconds(300) }
            let keychain = patient
            let holder = try await Threads.run { try bench.hold() }
            let calls = (0..<100).map { index in
                Task { try await keychain.store("v", query: password("s\(index)")) }
            }
            let other = Threads.start(waitingFor: (0..<16).map { index in Task { Optional(index) } })
            let outcome = try await Threads.run { other.outcome(within: bench.patience) }
            try await Threads.run { holder.release() }
            for call in calls { try await call.value }
            try expect(outcome != nil, "Other tasks ran meanwhile")
            let count = try await keychain.infoAll(for: SecItemQuery<GenericPassword>()).count
            try expectEqual(count, 100, "And all hundred are done")
        }
        list.addAsync("A hundred calls that wait end at their deadlines") { bench in
            let holder = try await Threads.run { try bench.hold() }
            let hurried = bench.keychain.with { $0.timeout = .milliseconds(200) }
            let keychain = hurried
            let calls = (0..<100).map { index in
                Task { () -> KeychainError.Code? in
                    do throws(KeychainError) {
                        try await keychain.store("v", query: password("s\(index)"))
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            let codes = Threads.start(waitingFor: calls)
            let outcome = try await Threads.run { codes.outcome(within: bench.patience) }
            try await Threads.run { holder.release() }
            let ended = try unwrap(outcome, "They end while the other writer still writes").get()
            try expect(ended.allSatisfy { [.timedOut, .busy].contains($0) }, "Each says why")
            try expect(try await Threads.run { try snapshot(bench.keychain) }.isEmpty, "Nothing was stored")
        }
    }
}

extension Threads {
    /// Waits for tasks, so that the wait itself can have a limit.
    static func start<Value: Sendable>(waitingFor tasks: [Task<Value, Never>]) -> Running<[Value]> {
        let running = Running<[Value]>()
        Task {
            var values: [Value] = []
            for task in tasks { values.append(await task.value) }
            running.finish(.success(values))
        }
        return running
    }
}
