// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// The two verbs that bring items to another keychain.
private enum Transfer: String, CaseIterable {
    case copy
    case move

    var operation: KeychainOperation { self == .copy ? .copy : .move }

    @discardableResult
    func callAsFunction<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        _ source: Keychain,
        _ target: Keychain,
        _ ifExists: IfExists = .fail
    ) throws -> Int {
        switch self {
        case .copy: try source.copy(query, to: target, ifExists: ifExists)
        case .move: try source.move(query, to: target, ifExists: ifExists)
        }
    }
}

extension Bench {
    /// Keychains to copy between: two groups of the store, and the store and another one both ways.
    fileprivate func pairs() -> [(name: String, source: Keychain, target: Keychain)] {
        let scratch = { Keychain(driver: ScratchDriver(), accessGroup: AccessGroup(rawValue: "scratch")) }
        return [
            ("between groups", inGroup("source"), inGroup("target")),
            ("to another store", inGroup("out"), scratch()),
            ("from another store", scratch(), inGroup("in")),
        ]
    }
}

extension ConformanceSuite {
    static let copy = CheckList.make(.copy) { list in
        for transfer in Transfer.allCases { add(transfer, &list) }

        list.add("A copy is a new item with a reference and dates of its own") { bench in
            for (name, source, target) in bench.pairs() {
                try source.store("v", query: password("s"))
                try source.copy(password("s"), to: target)
                let old = try unwrap(try source.info(for: password("s")), "The original stays, \(name)")
                let new = try unwrap(try target.info(for: password("s")), "The copy, \(name)")
                try expect(old.persistentReference != new.persistentReference, "Another reference, \(name)")
                try expect(new.creationDate >= old.creationDate, "The copy is not older, \(name)")
            }
        }
        list.add("Progress of a copy and of a move goes forward through every phase to its end") { bench in
            for number in 0..<70 { try bench.keychain.store("v", query: password("s", "\(number)")) }
            let target = Keychain(driver: ScratchDriver())
            let (copying, moving) = (ProgressLog(), ProgressLog())
            try bench.keychain.copy(password("s"), to: target, progress: copying.add)
            try copying.expect([.reading, .storing], of: 70)
            try bench.keychain.move(password("s"), to: target, ifExists: .replace, progress: moving.add)
            try moving.expect([.reading, .storing, .removing], of: 70)
        }
        list.add("Moving within a store keeps the reference and the creation date") { bench in
            let (source, target) = (bench.inGroup("source"), bench.inGroup("target"))
            try source.store("v", query: password("s"))
            let old = try unwrap(try source.info(for: password("s")), "The item")
            try source.move(password("s"), to: target)
            let new = try unwrap(try target.info(for: password("s")), "The item in its new group")
            try expectEqual(new.persistentReference, old.persistentReference, "The reference")
            try expectEqual(new.creationDate, old.creationDate, "The creation date")
        }
        list.add("Items of ThisDeviceOnly policies are left out of a copy to another store") { bench in
            for transfer in Transfer.allCases {
                let source = bench.inGroup("source\(transfer)")
                let target = Keychain(driver: ScratchDriver())
                try source.store(
                    "stays",
                    query: password("s", "a"),
                    accessPolicy: AccessPolicy(.whenUnlockedThisDeviceOnly)
                )
                try source.store("goes", query: password("s", "b"))
                try expectEqual(try transfer(password("s"), source, target), 1, "\(transfer) counts what went")
                try expectEqual(try target.infoAll(for: password("s")).map(\.account), ["b"], "The other item went")
                try expectValue(try bench.value(password("s", "a"), in: source), bytes("stays"), "This one stays")
                try expectThrows(.unsupported, from: transfer.operation, "If none may leave, that is an error") {
                    try transfer(password("s", "a"), source, target)
                }
            }
        }
        list.add("The values of items that stay on this device are not read for a copy") { bench in
            let (keychain, spy) = bench.spied()
            let policy = AccessPolicy(.whenUnlockedThisDeviceOnly)
            for account in ["a", "b", "c"] {
                try keychain.store("stays", query: password("s", account), accessPolicy: policy)
            }
            try keychain.store("goes", query: password("s", "d"))
            let before = spy.count(.value)
            try keychain.copy(password("s"), to: Keychain(driver: ScratchDriver()))
            try expectEqual(spy.count(.value) - before, 1, "Values that were read")
        }
        list.add("Items of ThisDeviceOnly policies may go to another group of the store") { bench in
            let policy = AccessPolicy(.afterFirstUnlockThisDeviceOnly)
            for transfer in Transfer.allCases {
                let (source, target) = (bench.inGroup("s\(transfer)"), bench.inGroup("t\(transfer)"))
                try source.store("v", query: password("s"), accessPolicy: policy)
                try transfer(password("s"), source, target)
                try expect(try target.info(for: password("s"))?.accessPolicy == policy, "With its policy")
            }
        }
        list.add("A move to another store that cannot remove here takes its copies back") { bench in
            let (keychain, spy) = bench.spied()
            let target = Keychain(driver: ScratchDriver())
            try keychain.store("v", query: password("s", "a"))
            try keychain.store("w", query: password("s", "b"))
            try target.store("there before", query: password("s", "a"))
            spy.fail(at: .commit, with: KeychainError(.readOnly, "The store can be read only."))
            let before = try snapshot(target).map(\.value)
            try bench.expectRefused(.readOnly, from: .move, "The items cannot be removed here") {
                try keychain.move(password("s"), to: target, ifExists: .replace)
            }
            try expect(try snapshot(target).map(\.value) == before, "The target is as before")
        }
        list.add("A copy to a store that refuses leaves both as they were") { bench in
            let (keychain, spy) = bench.spied()
            let source = Keychain(driver: ScratchDriver())
            try source.store("v", query: password("s"))
            spy.fail(at: .commit, with: KeychainError(.outOfSpace, "No space is left."))
            for transfer in Transfer.allCases {
                try bench.expectRefused(.outOfSpace, from: transfer.operation, "\(transfer)") {
                    try transfer(password("s"), source, keychain)
                }
                try expectValue(try bench.value(password("s"), in: source), bytes("v"), "The source is as it was")
            }
        }
        list.add("Two items that would be one in the target are refused as a whole") { bench in
            // Only a twin in another group could have the key; a synchronizable one keeps its mark and is another item.
            let (source, target) = (bench.inGroup("source"), bench.inGroup("target"))
            try source.store("1", query: password("s"))
            try source.store("2", query: password("s").synchronizable(true))
            try expectEqual(try source.copy(password("s").synchronizable(.any), to: target), 2, "Both are copied")
            try expectValue(try bench.value(password("s"), in: target), bytes("1"), "The local one")
            try expectValue(
                try bench.value(password("s").synchronizable(true), in: target),
                bytes("2"),
                "The other one"
            )
        }
        list.add("Composed and decomposed group names are two groups to copy between") { bench in
            let (source, target) = (bench.inGroup("caf\u{E9}"), bench.inGroup("cafe\u{301}"))
            for transfer in Transfer.allCases {
                try source.store("v", query: password("\(transfer)"))
                try transfer(password("\(transfer)"), source, target)
                try expectValue(try bench.value(password("\(transfer)"), in: target), bytes("v"), "\(transfer)")
            }
        }
    }

    private static func add(_ transfer: Transfer, _ list: inout CheckList) {
        list.add("\(transfer) takes value, attributes, policy and mark along") { bench in
            let policy = AccessPolicy(.whenUnlocked)
            for (name, source, target) in bench.pairs() {
                let value = Data([0, 1, 0xFF, 0x0A])
                let query = SecItemQuery<InternetPassword>.full.synchronizable(true)
                try source.store(value, query: query, accessPolicy: policy)
                try expectEqual(try transfer(query, source, target), 1, "One item, \(name)")
                let info = try unwrap(try target.info(for: query), "It is there, \(name)")
                try expectValue(try bench.value(query, in: target), value, "Its value, \(name)")
                try expect(info.accessPolicy == policy && info.isSynchronizable, "Its policy and mark, \(name)")
                try expectEqual(info.accessGroup, target.accessGroup, "In the target's group, \(name)")
                try expectEqual(try source.contains(query), transfer == .copy, "The source, \(name)")
            }
        }
        list.add("\(transfer) takes every match and nothing else") { bench in
            for (name, source, target) in bench.pairs() {
                for account in ["a", "b", "c"] { try source.store(account, query: password("s", account)) }
                try source.store("other", query: password("t"))
                try expectEqual(try transfer(password("s"), source, target), 3, "Three items, \(name)")
                try expectEqual(try snapshot(target).count, 3, "They are there, \(name)")
                for account in ["a", "b", "c"] {
                    try expectValue(
                        try bench.value(password("s", account), in: target),
                        bytes(account),
                        "Value, \(name)"
                    )
                }
                try expect(try source.contains(password("t")), "The other item stays, \(name)")
            }
        }
        list.add("\(transfer) without a match throws itemNotFound") { bench in
            for (name, source, target) in bench.pairs() {
                try bench.expectRefused(.itemNotFound, from: transfer.operation, name, in: target) {
                    try transfer(password("missing"), source, target)
                }
            }
        }
        list.add("\(transfer)(.fail) onto an existing key throws duplicateItem, all or none") { bench in
            for (name, source, target) in bench.pairs() {
                for account in ["a", "b", "c"] { try source.store("new", query: password("s", account)) }
                try target.store("old", query: password("s", "b"))
                try bench.expectRefused(.duplicateItem, from: transfer.operation, name, in: target) {
                    try transfer(password("s"), source, target)
                }
                try expectEqual(try snapshot(source).count, 3, "The source is as it was, \(name)")
            }
        }
        list.add("\(transfer)(.replaceValue) keeps the target's attributes") { bench in
            for (name, source, target) in bench.pairs() {
                var query = password("s", "a")
                query.label = "source"
                try source.store("new", query: query)
                query.label = "target"
                try target.store("old", query: query)
                try transfer(password("s"), source, target, .replaceValue)
                try expectEqual(try snapshot(target).count, 1, "One item, \(name)")
                try expectValue(try bench.value(password("s"), in: target), bytes("new"), "The value is new, \(name)")
                try expectEqual(try target.info(for: password("s"))?.label, "target", "The label stays, \(name)")
            }
        }
        list.add("\(transfer)(.replace) replaces the target's attributes") { bench in
            for (name, source, target) in bench.pairs() {
                var query = password("s", "a")
                query.label = "source"
                try source.store("new", query: query)
                query = password("s", "a")
                query.comment = "target"
                try target.store("old", query: query)
                try transfer(password("s"), source, target, .replace)
                let info = try unwrap(try target.info(for: password("s")), "The item, \(name)")
                try expectEqual(try snapshot(target).count, 1, "One item, \(name)")
                try expectValue(try bench.value(password("s"), in: target), bytes("new"), "The value is new, \(name)")
                try expectEqual(info.label, "source", "The label is new, \(name)")
                try expect(info.comment == nil, "What was left out is cleared, \(name)")
            }
        }
        list.add("\(transfer) onto the keychain itself does nothing") { bench in
            try bench.keychain.store("v", query: password("s"))
            let before = try snapshot(bench.keychain)
            for policy in IfExists.allCases {
                try expectEqual(try transfer(password("s"), bench.keychain, bench.keychain, policy), 1, "It counts")
                try expect(try snapshot(bench.keychain) == before, "Nothing is changed, \(policy)")
            }
            try expectThrows(.itemNotFound, from: transfer.operation, "Without a match") {
                try transfer(password("t"), bench.keychain, bench.keychain)
            }
        }
        list.add("\(transfer) of a value that is too large for the target is refused") { bench in
            let target = bench.spied(maximumValueSize: 4).keychain
            let source = Keychain(driver: ScratchDriver())
            try source.store("1234", query: password("s", "fits"))
            try source.store("12345", query: password("s", "too large"))
            try bench.expectRefused(.dataTooLarge, from: transfer.operation, "One of two is too large") {
                try transfer(password("s"), source, target)
            }
            try expectEqual(try snapshot(source).count, 2, "The source is as it was")
        }
        list.add("\(transfer) of invalid queries and groups is refused") { bench in
            try bench.keychain.store("v", query: password("s"))
            let target = bench.keychain.with { $0.accessGroup = AccessGroup(rawValue: "a\0b") }
            try bench.expectRefused(.invalidParameter, from: transfer.operation, "NUL in the target's group") {
                try transfer(password("s"), bench.keychain, target)
            }
            try bench.expectRefused(.invalidParameter, from: transfer.operation, "NUL in the query") {
                try transfer(password("s\0"), bench.keychain, bench.inGroup("other"))
            }
        }
    }
}
