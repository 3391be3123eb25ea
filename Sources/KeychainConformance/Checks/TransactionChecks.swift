// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

/// An error that no library knows.
private struct OwnError: Error, Equatable {
    let number: Int
}

extension ConformanceSuite {
    /// What a driver without transactions must do.
    private static let withoutTransactions = ConformanceCheck.Body.blocking { bench in
        try bench.keychain.store("v", query: password("s"))
        let ran = Mutex(false)
        try bench.expectRefused(.unsupported, from: .transaction, "A store without transactions says so") {
            try bench.keychain.transaction { keychain in
                ran.withLock { $0 = true }
                try keychain.store("w", query: password("t"))
            }
        }
        try expect(!ran.withLock { $0 }, "The closure is not run")
    }

    static let transaction = CheckList.make(
        .transaction,
        requires: .transactions,
        otherwise: withoutTransactions
    ) { list in
        list.add("A transaction does all of its verbs") { bench in
            try bench.keychain.store("old", query: password("changed"))
            try bench.keychain.store("old", query: password("removed"))
            let result = try bench.keychain.transaction { keychain in
                try keychain.store("new", query: password("added"))
                try keychain.update(password("changed"), .label("x"))
                try keychain.store("new", query: password("changed"), ifExists: .replaceValue)
                try keychain.remove(password("removed"))
                return 42
            }
            try expectEqual(result, 42, "It returns what the closure returns")
            try expectValue(try bench.value(password("added")), bytes("new"), "Added")
            try expectValue(try bench.value(password("changed")), bytes("new"), "Changed")
            try expectEqual(try bench.keychain.info(for: password("changed"))?.label, "x", "Updated")
            try expect(try !bench.keychain.contains(password("removed")), "Removed")
        }
        list.add("A transaction sees its own writes") { bench in
            try bench.keychain.store("old", query: password("s"))
            try bench.keychain.transaction { keychain in
                try keychain.store("a", query: password("a"))
                try expectValue(try bench.value(password("a"), in: keychain), bytes("a"), "What it stored")
                try keychain.store("new", query: password("s"), ifExists: .replace)
                try expectValue(try bench.value(password("s"), in: keychain), bytes("new"), "What it replaced")
                try keychain.update(password("s"), .setting(.service, .text("renamed")))
                try expect(try !keychain.contains(password("s")), "The old key is gone")
                try expectValue(
                    try bench.value(password("renamed"), in: keychain),
                    bytes("new"),
                    "The new one is there"
                )
                try expectThrows(.duplicateItem, from: .store, "Its own items collide") {
                    try keychain.store("b", query: password("a"))
                }
                try keychain.remove(password("a"))
                try expect(try !keychain.contains(password("a")), "What it removed")
                try expectEqual(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).count, 1, "One item in all")
            }
            try expectEqual(try bench.count(SecItemQuery<GenericPassword>()), 1, "And after it")
        }
        list.add("No one else sees anything of a transaction before it has ended") { bench in
            try bench.keychain.store("old", query: password("s"))
            let written = Gate()
            let looked = Gate()
            let running = Threads.start {
                try bench.keychain.transaction { keychain in
                    try keychain.store("new", query: password("s"), ifExists: .replace)
                    try keychain.store("new", query: password("t"))
                    written.open()
                    _ = looked.wait(atMost: bench.patience)
                }
            }
            try expect(written.wait(atMost: bench.patience), "The transaction writes")
            let during = try bench.value(password("s"))
            let other = try bench.keychain.contains(password("t"))
            looked.open()
            try unwrap(running.outcome(within: bench.patience), "The transaction ends").get()
            try expectValue(during, bytes("old"), "During it another thread sees the old value")
            try expect(!other, "And no new item")
            try expectValue(try bench.value(password("s")), bytes("new"), "After it the new one")
        }
        list.add("An error of the closure's own comes out unchanged, and nothing was changed") { bench in
            try bench.keychain.store("old", query: password("s"))
            let before = try snapshot(bench.keychain)
            do {
                try bench.keychain.transaction { keychain in
                    try keychain.store("new", query: password("s"), ifExists: .replace)
                    try keychain.store("new", query: password("t"))
                    try keychain.removeAll()
                    throw OwnError(number: 7)
                }
                throw ConformanceFailure("The error comes out")
            } catch let error as OwnError {
                try expectEqual(error, OwnError(number: 7), "It is the same error")
            }
            try expect(try snapshot(bench.keychain) == before, "Nothing was changed")
        }
        list.add("An error of a verb ends a transaction unless the closure catches it") { bench in
            try bench.keychain.store("old", query: password("s"))
            try bench.expectRefused(.duplicateItem, from: .store, "Uncaught") {
                try bench.keychain.transaction { keychain in
                    try keychain.store("new", query: password("t"))
                    try keychain.store("new", query: password("s"))
                }
            }
            try bench.keychain.transaction { keychain in
                try keychain.store("new", query: password("t"))
                do { try keychain.store("new", query: password("s")) } catch KeychainError.duplicateItem {}
            }
            try expectValue(try bench.value(password("t")), bytes("new"), "Caught, the rest is done")
            try expectValue(try bench.value(password("s")), bytes("old"), "The verb that failed changed nothing")
        }
        list.add("A transaction's closure runs exactly once") { bench in
            let runs = Mutex(0)
            try bench.keychain.transaction { keychain in
                runs.withLock { $0 += 1 }
                try keychain.store("v", query: password("s\(runs.withLock { $0 })"))
            }
            try expectEqual(runs.withLock { $0 }, 1, "Once")
            try expectEqual(try snapshot(bench.keychain).count, 1, "Its work is done once")
        }
        list.add("The keychain of a transaction that has ended refuses every verb") { bench in
            let kept = try bench.keychain.transaction { keychain in keychain }
            try expectThrows(.invalidParameter, from: .store, "store") { try kept.store("v", query: password("s")) }
            try expectThrows(.invalidParameter, from: .retrieve, "retrieve") {
                _ = try bench.value(password("s"), in: kept)
            }
            try expectThrows(.invalidParameter, from: .contains, "contains") { _ = try kept.contains(password("s")) }
            try expectThrows(.invalidParameter, from: .remove, "remove") { try kept.remove(password("s")) }
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing was written")
        }
        list.add("The keychain of a transaction refuses another thread") { bench in
            try bench.keychain.transaction { keychain in
                let other = Threads.start { try keychain.store("v", query: password("s")) }
                let outcome = try unwrap(other.outcome(within: bench.patience), "It does not wait")
                try expectThrows(.invalidParameter, from: .store, "It is refused") { try outcome.get() }
            }
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing was written")
        }
        list.add("Inside a transaction the outer keychain is refused instead of waiting for itself") { bench in
            try bench.keychain.transaction { keychain in
                try keychain.store("v", query: password("s"))
                try expectThrows(.invalidParameter, from: .store, "A write past it") {
                    try bench.keychain.store("w", query: password("t"))
                }
                try expectThrows(.invalidParameter, from: .contains, "A read past it") {
                    _ = try bench.keychain.contains(password("s"))
                }
                try expectThrows(.invalidParameter, from: .transaction, "A second one") {
                    try bench.keychain.transaction { _ in }
                }
            }
            try expectEqual(try snapshot(bench.keychain).count, 1, "The transaction itself is done")
        }
        list.add("A transaction inside a transaction is unsupported") { bench in
            try bench.keychain.transaction { (keychain: Keychain) -> Void in
                try expectThrows(.unsupported, from: .transaction, "Nesting") {
                    try keychain.transaction { inner in try inner.store("v", query: password("s")) }
                }
            }
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing was written")
        }
        list.add("A transaction can use a key again that it has freed, and swap the keys of two items") { bench in
            try bench.keychain.store("1", query: password("a"))
            try bench.keychain.store("2", query: password("b"))
            try bench.keychain.transaction { keychain in
                try keychain.update(password("a"), .setting(.service, .text("c")))
                try keychain.update(password("b"), .setting(.service, .text("a")))
                try keychain.update(password("c"), .setting(.service, .text("b")))
            }
            try expectValue(try bench.value(password("a")), bytes("2"), "The one")
            try expectValue(try bench.value(password("b")), bytes("1"), "The other")
            for service in ["a", "b"] {
                try bench.expectRefused(.duplicateItem, from: .store, "Both keys are taken") {
                    try bench.keychain.store("3", query: password(service))
                }
            }
            try bench.keychain.transaction { keychain in
                try keychain.remove(password("a"))
                try keychain.store("4", query: password("a"))
                try keychain.remove(password("b"))
                try keychain.update(password("a"), .setting(.service, .text("b")))
            }
            try expectEqual(try snapshot(bench.keychain).count, 1, "Removed, stored, removed, renamed: one is left")
            try expectValue(try bench.value(password("b")), bytes("4"), "With the value of the new one")
        }
        list.add("An item that is stored and removed in one transaction was never there") { bench in
            try bench.keychain.transaction { keychain in
                try keychain.store("v", query: password("s"))
                try keychain.update(password("s"), .label("x"))
                try keychain.remove(password("s"))
            }
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing is left of it")
        }
        list.add("A transaction that only reads changes nothing, and one that does nothing succeeds") { bench in
            try bench.keychain.store("v", query: password("s"))
            let before = try snapshot(bench.keychain)
            let value = try bench.keychain.transaction { try $0.retrieve(password("s")) as Data? }
            try expectValue(value, bytes("v"), "It reads")
            try bench.keychain.transaction { _ in }
            try expect(try snapshot(bench.keychain) == before, "Nothing is changed")
        }
        list.add("A transaction is one commit; if that fails, nothing was changed") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store("v", query: password("s"))
            let before = spy.count(.commit)
            try keychain.transaction { keychain in
                for index in 0..<5 { try keychain.store("v", query: password("t\(index)")) }
                try keychain.remove(password("s"))
            }
            try expectEqual(spy.count(.commit) - before, 1, "One commit")
            spy.fail(at: .commit, with: KeychainError(.outOfSpace, "No space is left."))
            try bench.expectRefused(.outOfSpace, from: .transaction, "The commit fails") {
                try keychain.transaction { keychain in
                    try keychain.store("v", query: password("u"))
                    try keychain.removeAll()
                }
            }
        }
        list.add("A transaction that reads and writes a counter loses no step of eight threads") { bench in
            try bench.keychain.store(0, query: password("counter"))
            let results = Threads.race(8) { _ in
                for _ in 0..<10 {
                    try bench.keychain.transaction { keychain in
                        let number: Int? = try keychain.retrieve(password("counter"))
                        try keychain.store((number ?? -1000) + 1, query: password("counter"), ifExists: .replaceValue)
                    }
                }
            }
            for result in results { try result.get() }
            try expectValue(try bench.value(password("counter")), bytes("80"), "Eighty steps")
        }
        list.addAsync("The asynchronous form of a transaction does the same") { bench in
            let keychain = bench.keychain
            let result = try await keychain.transaction { keychain in
                try keychain.store("v", query: password("s"))
                return try keychain.contains(password("s"))
            }
            try expect(result, "It sees its own writes")
            do {
                try await keychain.transaction { (keychain: Keychain) -> Void in
                    try keychain.remove(password("s"))
                    throw OwnError(number: 1)
                }
                throw ConformanceFailure("The error comes out")
            } catch let error as OwnError {
                try expectEqual(error, OwnError(number: 1), "The closure's own error, unchanged")
            }
            try expect(try await keychain.contains(password("s")), "And nothing was changed")
        }
    }
}
