// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    private static let team = 8

    static let processes = CheckList.make(.processes) { list in
        list.add("Of eight processes that store(.fail) one key exactly one succeeds", needs: .processes) { bench in
            let counts = try WorkerTeam(bench, team, .storeFail, times: 5).run()
            try expectEqual(counts, ["done": 5, "duplicateItem": 5 * (team - 1)], "One success for each of five keys")
            for item in try snapshot(bench.keychain) {
                try expect(WorkerScript.isWhole(item.value ?? Data()), "The winner's value, whole")
            }
            try expectEqual(try snapshot(bench.keychain).count, 5, "Five items")
        }
        list.add("Upserts of eight processes leave one item, with a whole value", needs: .processes) { bench in
            let counts = try WorkerTeam(bench, team, .upsert, times: 10).run()
            try expectEqual(counts, ["done": 10 * team], "Each of them succeeds")
            let items = try snapshot(bench.keychain)
            try expectEqual(items.count, 1, "One item")
            try expect(WorkerScript.isWhole(items[0].value ?? Data()), "A whole value")
        }
        list.add("Of what eight processes store nothing is lost", needs: .processes) { bench in
            let counts = try WorkerTeam(bench, team, .distinct, times: 15).run()
            try expectEqual(counts, ["done": 15 * team], "Each of them succeeds")
            try expectEqual(try snapshot(bench.keychain).count, 15 * team, "All of them are there")
            for index in 0..<team {
                let value = try bench.value(password("worker\(index)", "14"))
                try expectValue(value, WorkerScript.value(of: index), "With its value")
            }
        }
        list.add("Updates of eight processes to different attributes all survive", needs: .processes) { bench in
            try bench.keychain.store("v", query: password("shared"))
            let counts = try WorkerTeam(bench, team, .attribute, times: 9).run()
            try expectEqual(counts, ["done": 9 * team], "Each of them succeeds")
            let info = try unwrap(try bench.keychain.info(for: password("shared")), "The item")
            for name in WorkerScript.attributes {
                try expect(info[name] == ContractTable.sample(name, 9), "The last \(name) survives")
            }
            try expectValue(try bench.value(password("shared")), bytes("v"), "So does the value")
        }
        list.add("A process never misses an item that others replace, and never sees half of one", needs: .processes) {
            bench in
            try bench.keychain.store(WorkerScript.value(of: 0), query: password("shared"))
            let counts = try WorkerTeam(bench, [(.upsert, 30), (.upsert, 30), (.read, 60), (.read, 60)]).run()
            try expectEqual(counts, ["done": 60, "whole": 120], "Every look finds a whole item")
        }
        list.add("Of eight processes that remove one item exactly one is told so", needs: .processes) { bench in
            for index in 0..<5 { try bench.keychain.store("v", query: password("race", "\(index)")) }
            let counts = try WorkerTeam(bench, team, .remove, times: 5).run()
            try expectEqual(counts, ["done": 5, "missing": 5 * (team - 1)], "One for each of five items")
            try expect(try snapshot(bench.keychain).isEmpty, "None is left")
        }
        list.add("A counter that processes raise in transactions loses no step", needs: .processes) { bench in
            try bench.keychain.store(0, query: password("counter"))
            let counts = try WorkerTeam(bench, 4, .counter, times: 10).run()
            guard bench.keychain.capabilities.contains(.transactions) else {
                try expectEqual(counts, ["unsupported": 40], "Where there are no transactions, each process is told so")
                return try expectValue(try bench.value(password("counter")), bytes("0"), "And nothing is written")
            }
            try expectEqual(counts, ["done": 40], "Each of them succeeds")
            try expectValue(try bench.value(password("counter")), bytes("40"), "Forty steps")
        }
        list.add("No process sees half of another one's transaction", needs: .processes) { bench in
            for account in ["a", "b"] { try bench.keychain.store("v", query: password("pair", account)) }
            let counts = try WorkerTeam(bench, [(.pair, 20), (.pair, 20), (.readPair, 40), (.readPair, 40)]).run()
            let transactions = bench.keychain.capabilities.contains(.transactions)
            try expectEqual(counts, [transactions ? "done" : "unsupported": 40, "whole": 80], "Both items or neither")
        }
        list.add("A process that waits for another writer is told busy or timedOut at its deadline", needs: .processes)
        {
            bench in
            let team = try WorkerTeam(bench, 1, .hold, times: 1)
            try team.begin()
            try expectEqual(team.line(of: 0), "holding", "The other process is the writer")
            let hurried = bench.keychain.with { $0.timeout = .milliseconds(200) }
            let keychain = hurried
            let running = Threads.start { try keychain.store("v", query: password("s")) }
            let outcome = try unwrap(running.outcome(within: bench.patience), "It ends promptly")
            let error = try expectThrows(.busy, or: .timedOut, from: .store, "At the deadline") { try outcome.get() }
            if error.code == .busy {
                try expect(error.message.contains("\(team.identifier(of: 0))"), "busy says which process writes")
            }
            try team.send(to: 0)
            try expectEqual(try team.finish(), ["done": 1], "The other process ends")
            try bench.keychain.store("v", query: password("s"))
            try expectEqual(try snapshot(bench.keychain).count, 1, "After that it works")
        }
        list.add("A writer that is killed leaves no lock behind", needs: .processes) { bench in
            try bench.keychain.store("v", query: password("before"))
            let team = try WorkerTeam(bench, 1, .hold, times: 1)
            try team.begin()
            try expectEqual(team.line(of: 0), "holding", "The other process is the writer")
            team.kill()
            let keychain = bench.keychain.with { $0.timeout = bench.patience }
            try keychain.store("v", query: password("after"))
            try expectEqual(try snapshot(bench.keychain).count, 2, "Both items are there")
        }
        list.add("Of a writer that is killed no acknowledged item is lost", needs: .processes) { bench in
            for kills in 1...3 {
                let team = try WorkerTeam(bench, 1, .acknowledge, times: 100_000)
                try team.begin()
                var last = -1
                while last < kills * 7, let line = team.line(of: 0) {
                    last = Int(line.split(separator: " ").last ?? "") ?? last
                }
                try expect(last >= 0, "The worker stores")
                team.kill()
                while let line = team.line(of: 0) { last = Int(line.split(separator: " ").last ?? "") ?? last }
                for step in 0...last {
                    let value = try bench.value(password("worker0", "\(step)"))
                    try expectValue(value, WorkerScript.value(of: 0), "Item \(step) of \(last) that was acknowledged")
                }
                try bench.keychain.remove(password("worker0"))
            }
        }
        list.add("What one process writes another one sees at its next call", needs: .processes) { bench in
            try bench.keychain.store(WorkerScript.value(of: 0), query: password("shared"))
            let team = try WorkerTeam(bench, [(.read, 1), (.distinct, 1)])
            try bench.keychain.store(WorkerScript.value(of: 9), query: password("shared"), ifExists: .replace)
            try expectEqual(try team.run(), ["done": 1, "whole": 1], "Both do their work")
            try expect(try bench.keychain.contains(password("worker1", "0")), "This process sees what the other stored")
        }
        list.addAsync("Changes that another process makes are told", needs: .processes) { bench in
            guard bench.keychain.capabilities.contains(.changeEvents) else { return }
            let changes = try await bench.keychain.changes(matching: password("worker0"))
            let log = EventLog<GenericPassword>()
            let task = Task { await log.follow(changes) }
            defer { task.cancel() }
            let counts = try await Threads.run { try WorkerTeam(bench, 1, .distinct, times: 3).run() }
            try expectEqual(counts, ["done": 3], "The worker stores three items")
            try expect(await log.wait(bench.patience) { $0.told.count >= 3 }, "They are told")
            try expectEqual(await log.told, Array(repeating: "added worker0", count: 3), "Each of them once")
        }
    }
}
