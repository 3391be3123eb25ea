// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension Bench {
    /// Watches a query while a closure runs.
    fileprivate func watching(
        _ query: SecItemQuery<GenericPassword> = SecItemQuery(),
        _ body: (EventLog<GenericPassword>) async throws -> Void
    ) async throws {
        let log = EventLog<GenericPassword>()
        let changes = try await keychain.changes(matching: query)
        let task = Task { await log.follow(changes) }
        do {
            try await body(log)
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        try expect(await log.wait(patience) { $0.hasEnded }, "Cancelling the reader's task ends the sequence")
    }

    /// Fails unless exactly these changes are told, in this order.
    fileprivate func expectTold(
        _ expected: [String],
        _ log: EventLog<GenericPassword>,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws {
        _ = await log.wait(patience) { $0.told.count >= expected.count }
        let failures = await log.failures
        let what = failures.isEmpty ? "The changes" : "The changes (looking failed: \(failures))"
        try expectEqual(await log.told, expected, what, fileID: fileID, line: line)
    }
}

extension ConformanceSuite {
    /// What a driver must do that notices no changes.
    private static let withoutChanges = ConformanceCheck.Body.blocking { bench in
        try bench.expectRefused(.unsupported, from: .changes, "A store that notices no changes says so") {
            _ = try bench.keychain.changes(matching: SecItemQuery<GenericPassword>())
        }
    }

    static let changes = CheckList.make(.changes, requires: .changeEvents, otherwise: withoutChanges) { list in
        list.addAsync("Own writes are told: added, updated, removed") { bench in
            try await bench.watching { log in
                try await bench.keychain.store("v", query: password("s"))
                try await bench.expectTold(["added s"], log)
                try await bench.keychain.update(password("s"), .label("x"))
                try await bench.expectTold(["added s", "updated s"], log)
                try await bench.keychain.store("w", query: password("s"), ifExists: .replaceValue)
                try await bench.expectTold(["added s", "updated s", "updated s"], log)
                try await bench.keychain.remove(password("s"))
                try await bench.expectTold(["added s", "updated s", "updated s", "removed s"], log)
            }
        }
        list.addAsync("A change tells reference, class and attributes, and no value") { bench in
            try await bench.watching { log in
                let query = SecItemQuery<GenericPassword>.full
                try await bench.keychain.store("v", query: query)
                let stored = try await bench.keychain.info(for: query)
                try expect(await log.wait(bench.patience) { !$0.told.isEmpty }, "The change is told")
                guard case .added(let info)? = await log.events.first(where: { $0 != .invalidated }) else {
                    throw ConformanceFailure("It is an addition")
                }
                try expect(info == stored, "It tells what info shows")
                try expect(info.data == nil, "Without the value")
            }
        }
        list.addAsync("What was there before the watching began is not told", needs: []) { bench in
            try await bench.keychain.store("v", query: password("old"))
            try await bench.watching { log in
                try await bench.keychain.store("v", query: password("new"))
                try await bench.expectTold(["added new"], log)
            }
        }
        list.addAsync("Changes of items that do not match are not told") { bench in
            try await bench.watching(password("s")) { log in
                try await bench.keychain.store("v", query: password("other"))
                try await bench.keychain.store("v", query: login("s"))
                try await bench.keychain.store("v", query: password("s").synchronizable(true))
                try await bench.inGroup("other").store("v", query: password("s"))
                try await bench.keychain.store("v", query: password("s"))
                try await bench.expectTold(["added s"], log)
            }
        }
        list.addAsync("An item that begins to match is added, one that ceases to match is removed") { bench in
            try await bench.keychain.store("v", query: password("s", "a"))
            try await bench.watching(password("watched")) { log in
                try await bench.keychain.update(password("s", "a"), .setting(.service, .text("watched")))
                try await bench.expectTold(["added watched"], log)
                try await bench.keychain.update(password("watched"), .setting(.service, .text("s")))
                try await bench.expectTold(["added watched", "removed watched"], log)
            }
        }
        list.addAsync("The changes of a transaction are told when it has ended, those of a failed one never") { bench in
            guard bench.keychain.capabilities.contains(.transactions) else { return }
            struct Abort: Error {}
            try await bench.watching { log in
                do {
                    try await bench.keychain.transaction { (keychain: Keychain) -> Void in
                        try keychain.store("v", query: password("never"))
                        throw Abort()
                    }
                } catch is Abort {}
                try await bench.keychain.transaction { keychain in
                    try keychain.store("v", query: password("a"))
                    try keychain.store("v", query: password("b"))
                    try keychain.remove(password("a"))
                }
                try await bench.expectTold(["added b"], log)
            }
        }
        list.addAsync("Changes made through another instance of the driver are told", needs: .reopen) { bench in
            let other = try bench.reopened()
            try await bench.watching { log in
                try await other.store("v", query: password("s"))
                try await bench.expectTold(["added s"], log)
                try await other.remove(password("s"))
                try await bench.expectTold(["added s", "removed s"], log)
            }
        }
        list.addAsync("Two readers are told the same") { bench in
            try await bench.watching { first in
                try await bench.watching { second in
                    try await bench.keychain.store("v", query: password("s"))
                    try await bench.expectTold(["added s"], first)
                    try await bench.expectTold(["added s"], second)
                }
                try await bench.keychain.remove(password("s"))
                try await bench.expectTold(["added s", "removed s"], first)
            }
        }
        list.addAsync("A reader that comes late is told of everything that is there by then") { bench in
            let changes = try await bench.keychain.changes(matching: SecItemQuery<GenericPassword>())
            for index in 0..<20 { try await bench.keychain.store("v", query: password("s\(index)")) }
            for index in 0..<19 { try await bench.keychain.remove(password("s\(index)")) }
            let log = EventLog<GenericPassword>()
            let task = Task { await log.follow(changes) }
            defer { task.cancel() }
            try expect(
                await log.wait(bench.patience) { $0.told.contains("added s19") },
                "The item that is left is told"
            )
        }
        list.addAsync("A reader that comes late never misses that something changed, though nothing is left of it") {
            bench in
            let changes = try await bench.keychain.changes(matching: SecItemQuery<GenericPassword>())
            try await bench.keychain.store("v", query: password("s"))
            try await bench.keychain.remove(password("s"))
            let log = EventLog<GenericPassword>()
            let task = Task { await log.follow(changes) }
            defer { task.cancel() }
            try expect(await log.wait(bench.patience) { !$0.events.isEmpty }, "Something is told")
        }
        list.addAsync("Cancelling a reader that waits ends its sequence promptly") { bench in
            let changes = try await bench.keychain.changes(matching: SecItemQuery<GenericPassword>())
            let log = EventLog<GenericPassword>()
            let task = Task { await log.follow(changes) }
            task.cancel()
            try expect(await log.wait(bench.patience) { $0.hasEnded }, "It ends")
            try expect(await log.events.isEmpty, "Without a change")
        }
        list.addAsync("NUL in a watched query is refused") { bench in
            try await expectThrowsAsync(.invalidParameter, from: .changes, "NUL") {
                _ = try await bench.keychain.changes(matching: password("a\0b"))
            }
        }
        list.addAsync(
            "A look that fails is an error of the sequence, and the change is told by the next one",
            needs: .lock
        ) {
            bench in
            let changes = try await bench.keychain.changes(matching: SecItemQuery<GenericPassword>())
            try await bench.keychain.store("v", query: password("s"))
            try bench.harness.lock(bench.keychain)
            let result = await Task {
                var iterator = changes.makeAsyncIterator()
                var code: KeychainError.Code?
                var told: String?
                do throws(KeychainError) { told = try await iterator.next()?.summary } catch { code = error.code }
                do { try bench.harness.unlock(bench.keychain) } catch { return (code, Optional("unlocking failed")) }
                if code != nil { told = try? await iterator.next()?.summary }
                return (code, told)
            }.value
            // A locked store whose attributes lie in the open may be looked at all the same.
            if result.0 != nil || !bench.keychain.capabilities.contains(.attributesInClear) {
                try expectEqual(result.0, .interactionNotAllowed, "The look at a locked store fails")
            }
            try expectEqual(result.1, "added s", "The change is told by the look that succeeds")
        }
        list.addAsync("Watching, and being told, decrypts nothing") { bench in
            let (keychain, spy) = bench.spied()
            let changes = try await keychain.changes(matching: SecItemQuery<GenericPassword>())
            let log = EventLog<GenericPassword>()
            let task = Task { await log.follow(changes) }
            defer { task.cancel() }
            try await keychain.store("v", query: password("s"))
            try expect(await log.wait(bench.patience) { !$0.told.isEmpty }, "The change is told")
            try expectEqual(spy.count(.value), 0, "No value was read")
        }
    }
}
