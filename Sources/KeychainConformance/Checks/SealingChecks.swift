// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

private let sealed = AccessPolicy(.whenUnlocked, options: .applicationPassword)

private func value(_ text: String) -> SecItemUpdate<GenericPassword> {
    var changes = SecItemUpdate<GenericPassword>()
    changes.setValue(text)
    return changes
}

extension Bench {
    /// The same keychain with an application password.
    fileprivate func withPassword(_ mark: UInt8 = 1, _ keychain: Keychain? = nil) -> Keychain {
        (keychain ?? self.keychain).with { $0.applicationPassword = StandInPassword(mark) }
    }

    /// Fails unless the store itself keeps something else than the value.
    fileprivate func expectSealed(_ value: String, in keychain: Keychain? = nil) throws {
        let kept = try snapshot(keychain ?? self.keychain)
        try expectEqual(kept.count, 1, "One item")
        try expect(kept[0].value != bytes(value), "The store does not keep the value itself")
    }
}

extension ConformanceSuite {
    static let sealing = CheckList.make(.access) { list in
        list.add("A value under an application password is kept sealed, and comes back with the password alone") {
            bench in
            let guarded = bench.withPassword()
            for value in ["v", "", String(repeating: "long", count: 10_000)] {
                try guarded.store(value, query: password("s"), accessPolicy: sealed, ifExists: .replace)
                try bench.expectSealed(value)
                try expectValue(try bench.value(password("s"), in: guarded), bytes(value), "With the password")
                guard case .data(let listed)? = try guarded.retrieveAll(.data, query: password("s")).first else {
                    throw ConformanceFailure("A list has it as well", fileID: #fileID, line: #line)
                }
                try expectValue(listed, bytes(value), "In a list as well")
            }
            try expectThrows(.interactionNotAllowed, from: .retrieve, "Without a password") {
                _ = try bench.value(password("s"))
            }
            try expectThrows(.interactionNotAllowed, from: .retrieve, "Without a password, all") {
                _ = try bench.keychain.retrieveAll(query: password("s"))
            }
            try expectThrows(.authenticationFailed, from: .retrieve, "With another password") {
                _ = try bench.value(password("s"), in: bench.withPassword(2))
            }
        }
        list.add("Without an application password nothing that demands one is stored, nor anything asked") { bench in
            let (keychain, spy) = bench.spied()
            for ifExists in IfExists.allCases {
                try bench.expectRefused(.interactionNotAllowed, from: .store, "store") {
                    try keychain.store("v", query: password("s"), accessPolicy: sealed, ifExists: ifExists)
                }
            }
            try expectEqual(spy.calls, 0, "The driver was not even asked")
        }
        list.add("All but values is there without the application password") { bench in
            try bench.withPassword().store("v", query: password("s", "a"), accessPolicy: sealed)
            try expect(try bench.keychain.contains(password("s")), "contains")
            try expect(try bench.keychain.info(for: password("s"))?.accessPolicy == sealed, "info")
            try bench.keychain.update(password("s"), .label("x"))
            try expectValue(
                try bench.value(password("s"), in: bench.withPassword()),
                bytes("v"),
                "An update of attributes leaves the value"
            )
            try expect(try bench.keychain.remove(password("s")), "remove")
        }
        list.add("A new value is sealed as the policy says that the item then has") { bench in
            let guarded = bench.withPassword()
            try guarded.store("1", query: password("s"), accessPolicy: sealed)
            try bench.expectRefused(.interactionNotAllowed, from: .store, "replaceValue without the password") {
                try bench.keychain.store("2", query: password("s"), ifExists: .replaceValue)
            }
            try bench.expectRefused(.interactionNotAllowed, from: .update, "update without the password") {
                try bench.keychain.update(password("s"), value("2"))
            }
            try guarded.store("2", query: password("s"), ifExists: .replaceValue)
            try bench.expectSealed("2")
            try expectValue(try bench.value(password("s"), in: guarded), bytes("2"), "The policy was kept")
            try guarded.update(password("s"), value("3"))
            try bench.expectSealed("3")
            try expectValue(try bench.value(password("s"), in: guarded), bytes("3"), "By update")
            try bench.keychain.store("4", query: password("s"), ifExists: .replace)
            try expectValue(try bench.value(password("s")), bytes("4"), "The policy was replaced, and with it the seal")
            try guarded.store("5", query: password("s"), accessPolicy: sealed, ifExists: .replaceValue)
            try bench.expectSealed("5")
            try expectValue(try bench.value(password("s"), in: guarded), bytes("5"), "What is to be sealed is sealed")
            try expect(
                try bench.keychain.info(for: password("s"))?.accessPolicy
                    == AccessPolicy(.afterFirstUnlock, options: .applicationPassword),
                "The rest of the policy was kept"
            )
        }
        list.add("A policy that begins or ceases to demand the application password seals or opens what is there") {
            bench in
            let guarded = bench.withPassword()
            try bench.keychain.store("v", query: password("s"))
            var changes = SecItemUpdate<GenericPassword>()
            changes.accessPolicy = sealed
            try bench.expectRefused(.interactionNotAllowed, from: .update, "Sealing without the password") {
                try bench.keychain.update(password("s"), changes)
            }
            try guarded.update(password("s"), changes)
            try bench.expectSealed("v")
            try expectValue(try bench.value(password("s"), in: guarded), bytes("v"), "Sealed")
            changes.accessPolicy = .default
            try bench.expectRefused(.authenticationFailed, from: .update, "Opening with another password") {
                try bench.withPassword(2).update(password("s"), changes)
            }
            try guarded.update(password("s"), changes)
            try expectValue(try bench.value(password("s")), bytes("v"), "Opened")
        }
        list.add("A sealed item is copied and moved with the password, and sealed for its new place") { bench in
            for (name, source, target) in [
                ("between groups", bench.inGroup("source"), bench.inGroup("target")),
                ("to another store", bench.inGroup("out"), Keychain(driver: ScratchDriver())),
            ] {
                let (from, to) = (bench.withPassword(1, source), bench.withPassword(3, target))
                try from.store("v", query: password("s"), accessPolicy: sealed)
                try expectThrows(.interactionNotAllowed, "Without the source's password, \(name)") {
                    try source.copy(password("s"), to: to)
                }
                try expectThrows(.interactionNotAllowed, "Without the target's password, \(name)") {
                    try from.copy(password("s"), to: target)
                }
                try expectEqual(try snapshot(target).count, 0, "Nothing was copied, \(name)")
                try from.copy(password("s"), to: to)
                try bench.expectSealed("v", in: target)
                try expectValue(try bench.value(password("s"), in: to), bytes("v"), "The copy, \(name)")
                try from.store("w", query: password("s"), ifExists: .replaceValue)
                try from.move(password("s"), to: to, ifExists: .replace)
                try bench.expectSealed("w", in: target)
            }
            let moved = bench.withPassword(1, bench.inGroup("target"))
            try expectValue(try bench.value(password("s"), in: moved), bytes("w"), "A move in a store keeps the seal")
        }
        list.add("What takes over another item's policy in a move is sealed if either demands it") { bench in
            let (source, target) = (
                bench.withPassword(1, bench.inGroup("source")), bench.withPassword(1, bench.inGroup("target"))
            )
            try source.store("sealed", query: password("s"), accessPolicy: sealed)
            try target.store("plain", query: password("s"))
            try source.move(password("s"), to: target, ifExists: .replaceValue)
            try bench.expectSealed("sealed", in: bench.inGroup("target"))
            try expectValue(try bench.value(password("s"), in: target), bytes("sealed"), "It stays sealed")
            try source.store("plain", query: password("t"))
            try target.store("sealed", query: password("t"), accessPolicy: sealed)
            try source.move(password("t"), to: target, ifExists: .replaceValue)
            try expectThrows(.interactionNotAllowed, "Sealed") {
                _ = try bench.value(password("t"), in: bench.inGroup("target"))
            }
            try expectValue(try bench.value(password("t"), in: target), bytes("plain"), "With the password")
        }
        list.add("A value that is not sealed as its policy says is corrupt") { bench in
            let guarded = bench.withPassword()
            try guarded.store("v", query: password("s"), accessPolicy: sealed)
            try bench.keychain.driver.write(CallContext(.update)) { (writer) throws(KeychainError) in
                let selection = RecordSelection(
                    itemClass: .genericPassword,
                    accessGroup: bench.keychain.accessGroup.rawValue
                )
                let record = try writer.records(selection).filter(selection.matches)[0]
                try writer.commit([.update(old: record, new: record, value: SecureBytes(bytes("bare")))])
            }
            try expectThrows(.corrupt, from: .retrieve, "It is not given as the value") {
                _ = try bench.value(password("s"), in: guarded)
            }
        }
        list.add("A password that is not needed is not used") { bench in
            let stand = StandInPassword(1)
            let keychain = bench.keychain.with { $0.applicationPassword = stand }
            try keychain.store("v", query: password("s"))
            try keychain.store("w", query: password("s"), ifExists: .replaceValue)
            _ = try keychain.retrieveAll(query: password("s"))
            try keychain.update(password("s"), .label("x"))
            try expectEqual(stand.useCount, 0, "Never")
        }
    }
}
