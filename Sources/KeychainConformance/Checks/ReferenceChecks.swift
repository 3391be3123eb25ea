// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let references = CheckList.make(.references) { list in
        addReferences(GenericPassword.self, &list)
        addReferences(InternetPassword.self, &list)
        addReferences(SecKey.self, &list)
        addReferences(SecCertificate.self, &list)

        list.add("A reference is 20 bytes that read back, and is nil for another class or length") { bench in
            try bench.keychain.store("v", query: password("s"))
            let reference = try unwrap(try bench.keychain.info(for: password("s"))?.persistentReference, "The item")
            let data = reference.data
            try expectEqual(data.count, 20, "Four bytes of class and sixteen of UUID")
            try expect(PersistentReference<GenericPassword>(data) == reference, "It reads back")
            try expect(PersistentReference<InternetPassword>(data) == nil, "Not as another class")
            try expect(PersistentReference<GenericPassword>(data.dropLast()) == nil, "Not if it is too short")
            try expect(PersistentReference<GenericPassword>(data + [0]) == nil, "Not if it is too long")
            try expect(PersistentReference<GenericPassword>(Data()) == nil, "Not if it is empty")
        }
        list.add("A reference finds a synchronizable item without asking for it") { bench in
            try bench.keychain.store("v", query: password("s").synchronizable(true))
            let info = try bench.keychain.info(for: password("s").synchronizable(true))
            let reference = try unwrap(info?.persistentReference, "The item")
            try expectValue(try bench.value(.item(reference)), bytes("v"), "The reference is enough")
        }
        list.add("A reference of one class finds nothing in another") { bench in
            try bench.keychain.store("v", query: password("s"))
            let reference = try unwrap(try bench.keychain.info(for: password("s"))?.persistentReference, "The item")
            let other = PersistentReference<InternetPassword>(uuid: reference.uuid)
            try expect(try !bench.keychain.contains(.item(other)), "The class counts")
        }
        list.add("A reference together with an attribute that does not match finds nothing") { bench in
            try bench.keychain.store("v", query: password("s"))
            let reference = try unwrap(try bench.keychain.info(for: password("s"))?.persistentReference, "The item")
            var query = SecItemQuery.item(reference)
            query.service = "other"
            try expect(try !bench.keychain.contains(query), "A query is an AND")
            query.service = "s"
            try expect(try bench.keychain.contains(query), "With the right attribute it is found")
        }
    }

    private static func addReferences<Item: SecStorable>(_: Item.Type, _ list: inout CheckList) {
        list.add("The reference of a \(Item.itemClass) names it in every verb, and after every update") { bench in
            let keychain = bench.keychain
            try keychain.store("v", query: SecItemQuery<Item>.sample)
            let first = ContractTable.row(Item.itemClass).key[0]
            try keychain.store("w", query: SecItemQuery<Item>.sample.with(first, ContractTable.sample(first, 1)))
            let info = try unwrap(try keychain.info(for: SecItemQuery<Item>.sample), "The item")
            let query = SecItemQuery.item(info.persistentReference)
            try expectValue(try bench.value(query), bytes("v"), "retrieve")
            try expectEqual(try keychain.info(for: query)?.persistentReference, info.persistentReference, "info")
            try expectEqual(try bench.count(query), 1, "infoAll")
            try expectEqual(try keychain.retrieveAll(query: query).count, 1, "retrieveAll")
            try expect(try keychain.contains(query), "contains")
            let renamed = SecItemUpdate<Item>.setting(first, ContractTable.sample(first, 2))
            try expectEqual(try keychain.update(query, renamed), 1, "update, also of the key")
            try expectValue(try bench.value(query), bytes("v"), "It is still named after an update of the key")
            try keychain.store(
                "x",
                query: SecItemQuery<Item>.sample.with(first, ContractTable.sample(first, 2)),
                ifExists: .replace
            )
            try expectValue(try bench.value(query), bytes("x"), "It is still named after it was replaced")
            try expect(try keychain.remove(query), "remove")
            try expect(try !keychain.contains(query), "After that it names nothing")
            try expectEqual(try bench.count(SecItemQuery<Item>()), 1, "The other item stays")
        }
    }
}
