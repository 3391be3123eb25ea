// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension Bench {
    /// Locks the store while a closure runs; no prompt is allowed meanwhile.
    fileprivate func whileLocked(_ body: (Keychain) throws -> Void) throws {
        let quiet = keychain.with { $0.interaction = .never }
        try harness.lock(keychain)
        do {
            try body(quiet)
        } catch {
            try harness.unlock(keychain)
            throw error
        }
        try harness.unlock(keychain)
    }

    /// A locked store may still know attributes; then it answers rightly, or says that it cannot tell.
    fileprivate func expectRightOrLocked<Value: Equatable>(
        _ expected: Value,
        _ what: String,
        _ body: () throws -> Value
    ) throws {
        guard keychain.capabilities.contains(.attributesInClear) else {
            try expectThrows(.interactionNotAllowed, what) { _ = try body() }
            return
        }
        do {
            try expect(try body() == expected, "\(what) of a locked store is right")
        } catch let error as KeychainError {
            try expectEqual(error.code, .interactionNotAllowed, what)
        }
    }
}

extension ConformanceSuite {
    static let locking = CheckList.make(.locking) { list in
        list.add("A locked store gives no value, and says that it is locked", needs: .lock) { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.whileLocked { keychain in
                try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve") {
                    _ = try bench.value(password("s"), in: keychain)
                }
                try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve with a return type") {
                    _ = try keychain.retrieve(.data, query: password("s"))
                }
                try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieveAll") {
                    _ = try keychain.retrieveAll(query: password("s"))
                }
                try expectThrows(.interactionNotAllowed, from: .copy, "copy") {
                    try keychain.copy(password("s"), to: Keychain(driver: ScratchDriver()))
                }
            }
            try expectValue(try bench.value(password("s")), bytes("v"), "Unlocked, the value is there")
        }
        list.add("A store is locked and unlocked by verbs of its own, or says that it cannot be") { bench in
            guard bench.keychain.capabilities.contains(.locking) else {
                try bench.expectRefused(.unsupported, from: .lock, "lock") { try bench.keychain.lock() }
                try bench.expectRefused(.unsupported, from: .unlock, "unlock") { try bench.keychain.unlock() }
                return
            }
            // Nobody's own store is locked without a way to unlock it again.
            guard bench.harness.powers.contains(.lock) else { return }
            try bench.keychain.store("v", query: password("s"))
            try bench.keychain.unlock()
            try expectValue(try bench.value(password("s")), bytes("v"), "To unlock an unlocked store does nothing")
            try bench.keychain.lock()
            try bench.whileLocked { keychain in
                try keychain.lock()
                try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve") {
                    _ = try bench.value(password("s"), in: keychain)
                }
                try expectThrows(.interactionNotAllowed, from: .unlock, "unlock without a prompt") {
                    try keychain.unlock()
                }
            }
            try expectValue(try bench.value(password("s")), bytes("v"), "Unlocked, the value is there")
        }
        list.add("“Not found” is never said of a locked store", needs: .lock) { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.whileLocked { keychain in
                try bench.expectRightOrLocked(true, "contains") { try keychain.contains(password("s")) }
                try bench.expectRightOrLocked("s", "info") { try keychain.info(for: password("s"))?.service }
                try bench.expectRightOrLocked(1, "infoAll") { try keychain.infoAll(for: password("s")).count }
                try expectThrows(.interactionNotAllowed, from: .retrieve, "retrieve of what is not there") {
                    _ = try bench.value(password("missing"), in: keychain)
                }
            }
        }
        list.add("A locked store is not written to", needs: .lock) { bench in
            try bench.keychain.store("v", query: password("s"))
            let before = try snapshot(bench.keychain)
            try bench.whileLocked { keychain in
                for policy in IfExists.allCases {
                    for query in [password("s"), password("t")] {
                        // That it would be a duplicate may be known of a locked store as well.
                        try expectThrows(
                            .interactionNotAllowed,
                            or: policy == .fail && query == password("s") ? .duplicateItem : nil,
                            from: .store,
                            "store(\(policy))"
                        ) { try keychain.store("w", query: query, ifExists: policy) }
                    }
                }
                try expectThrows(.interactionNotAllowed, from: .update, "update") {
                    try keychain.update(password("s"), .label("x"))
                }
                try expectThrows(.interactionNotAllowed, from: .remove, "remove") { try keychain.remove(password("s")) }
                try expectThrows(.interactionNotAllowed, from: .remove, "removeAll") { try keychain.removeAll() }
                try expectThrows(.interactionNotAllowed, from: .move, "move") {
                    try keychain.move(password("s"), to: Keychain(driver: ScratchDriver()))
                }
            }
            try expect(try snapshot(bench.keychain) == before, "Unlocked, it is as it was")
        }
        list.addAsync("The asynchronous verbs say so as well, and do not wait for a prompt", needs: .lock) { bench in
            let keychain = bench.keychain.with { $0.interaction = .never }
            try await keychain.store("v", query: password("s"))
            try bench.harness.lock(bench.keychain)
            do {
                try await expectThrowsAsync(.interactionNotAllowed, from: .retrieve, "retrieve") {
                    let _: Data? = try await keychain.retrieve(password("s"))
                }
                try await expectThrowsAsync(.interactionNotAllowed, from: .store, "store") {
                    try await keychain.store("w", query: password("t"))
                }
            } catch {
                try bench.harness.unlock(bench.keychain)
                throw error
            }
            try bench.harness.unlock(bench.keychain)
            let value: Data? = try await keychain.retrieve(password("s"))
            try expectValue(value, bytes("v"), "Unlocked, it works again")
        }
        list.add("After locking and unlocking everything is there, and new items can be stored", needs: .lock) {
            bench in
            for index in 0..<5 { try bench.keychain.store("\(index)", query: password("s\(index)")) }
            let before = try snapshot(bench.keychain)
            for _ in 0..<3 { try bench.whileLocked { _ in } }
            try expect(try snapshot(bench.keychain) == before, "Nothing has changed")
            try bench.keychain.store("new", query: password("new"))
            try expectValue(try bench.value(password("new")), bytes("new"), "It is stored")
        }
    }
}
