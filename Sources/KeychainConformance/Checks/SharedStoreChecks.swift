// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// A store in which other programs have left three items for one primary key.
private struct SharedStore {
    let keychain = Keychain(driver: ScratchDriver([.sharedWithOtherPrograms]))

    /// Stores past uniqueness, as other programs do; the item with label “newest” was modified last.
    init() throws {
        try keychain.driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
            for (label, age) in [("old", 30), ("newest", 10), ("older", 20)] as [(String, Int64)] {
                var attributes = AttributeSet()
                attributes[.service] = .text("s")
                attributes[.label] = .text(label)
                let record = ItemRecord(
                    reference: UUID(),
                    itemClass: .genericPassword,
                    accessGroup: "",
                    isSynchronizable: false,
                    attributes: attributes,
                    creationDate: ItemDate(microseconds: 1_000 - age),
                    modificationDate: ItemDate(microseconds: 2_000 - age)
                )
                try writer.commit([.insert(record, SecureBytes(bytes(label)))])
            }
        }
    }

    /// How many records there are, those that stand for one item counted singly.
    func recordCount() throws -> Int { try snapshot(keychain).count }
}

extension ConformanceSuite {
    /// What the library makes of duplicates, which a driver hands on as they are: with a small store of the kit's own.
    static let sharedStores = CheckList.make(.uniqueness) { list in
        list.add("Several items that other programs left for one key are one item: the most recently modified") {
            bench in
            let store = try SharedStore()
            try expectEqual(try store.recordCount(), 3, "Three records")
            try expectEqual(try store.keychain.infoAll(for: password("s")).map(\.label), ["newest"], "One item")
            try expectValue(try bench.value(password("s"), in: store.keychain), bytes("newest"), "Its value")
            try expectEqual(try store.keychain.retrieveAll(query: password("s")).count, 1, "In a list as well")
        }
        list.add("Of several items for one key only the newest is asked whether it matches") { _ in
            let store = try SharedStore()
            var query = password("s")
            query.label = "old"
            try expect(try !store.keychain.contains(query), "An older one does not speak")
            query.label = "newest"
            try expect(try store.keychain.contains(query), "The newest does")
        }
        list.add("Several items for one key are a duplicate, are replaced as one and are removed together") { bench in
            let store = try SharedStore()
            try expectThrows(.duplicateItem, from: .store, "store(.fail)") {
                try store.keychain.store("new", query: password("s"))
            }
            try store.keychain.store("new", query: password("s"), ifExists: .replace)
            try expectValue(try bench.value(password("s"), in: store.keychain), bytes("new"), "The replaced value")
            try expectEqual(try store.keychain.infoAll(for: password("s")).count, 1, "Still one item")
            try expect(try store.keychain.remove(password("s")), "It is removed")
            try expectEqual(try store.recordCount(), 0, "No older one comes to light")
        }
        list.add("An update changes the one item that several records stand for") { bench in
            let store = try SharedStore()
            try expectEqual(try store.keychain.update(password("s"), .label("changed")), 1, "One item")
            try expectEqual(try store.keychain.infoAll(for: password("s")).map(\.label), ["changed"], "It is changed")
            try expectValue(try bench.value(password("s"), in: store.keychain), bytes("newest"), "Its value stays")
        }
        list.add("An update of the key does not bring older records of the old key to light") { _ in
            let store = try SharedStore()
            try store.keychain.update(password("s"), .setting(.service, .text("renamed")))
            try expect(try store.keychain.contains(password("renamed")), "The new key finds it")
            try expect(try !store.keychain.contains(password("s")), "The old key finds nothing")
        }
        list.add("Moving the one item that several records stand for leaves none behind") { _ in
            let store = try SharedStore()
            let target = Keychain(driver: ScratchDriver())
            try expectEqual(try store.keychain.move(password("s"), to: target), 1, "One item")
            try expectEqual(try target.infoAll(for: password("s")).map(\.label), ["newest"], "The newest")
            try expect(try !store.keychain.contains(password("s")), "None is left here")
            let again = try SharedStore()
            let group = again.keychain.with { $0.accessGroup = AccessGroup(rawValue: "other") }
            try again.keychain.move(password("s"), to: group)
            try expect(try !again.keychain.contains(password("s")), "Nor after a move within the store")
        }
    }
}
