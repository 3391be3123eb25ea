// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension SecItemUpdate {
    /// An update of one attribute.
    static func setting(_ name: AttributeName, _ value: AttributeValue?) -> SecItemUpdate {
        var changes = SecItemUpdate()
        changes.set(name, to: value)
        return changes
    }
}

extension SecItemUpdate where Value == GenericPassword {
    /// An update of the label.
    static func label(_ label: String) -> SecItemUpdate { setting(.label, .text(label)) }
}

extension ConformanceSuite {
    static let update = CheckList.make(.update) { list in
        addUpdates(GenericPassword.self, &list)
        addUpdates(InternetPassword.self, &list)
        addUpdates(SecKey.self, &list)
        addUpdates(SecCertificate.self, &list)

        list.add("update changes every match and says how many") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store(account, query: password("s", account)) }
            try bench.keychain.store("d", query: password("t", "a"))
            let count = try bench.keychain.update(password("s"), .label("new"))
            try expectEqual(count, 3, "Three items were changed")
            for account in ["a", "b", "c"] {
                try expectEqual(try bench.keychain.info(for: password("s", account))?.label, "new", "A match")
                try expectValue(try bench.value(password("s", account)), bytes(account), "Its value stays")
            }
            try expect(try bench.keychain.info(for: password("t"))?.label == nil, "Another item stays as it was")
        }
        list.add("update with an empty query changes every local item of the class in the group") { bench in
            for name in ["a", "b"] { try bench.keychain.store("v", query: password(name)) }
            try bench.keychain.store("v", query: password("c").synchronizable(true))
            try bench.inGroup("other").store("v", query: password("d"))
            let count = try bench.keychain.update(SecItemQuery<GenericPassword>(), .label("x"))
            try expectEqual(count, 2, "The two local items")
        }
        list.add("update without a match throws itemNotFound") { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.expectRefused(.itemNotFound, from: .update, "No match") {
                try bench.keychain.update(password("t"), .label("x"))
            }
        }
        list.add("An update that changes nothing is refused") { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.expectRefused(.invalidParameter, from: .update, "An empty update") {
                try bench.keychain.update(password("s"), SecItemUpdate())
            }
            try bench.expectRefused(.invalidParameter, from: .update, "An empty update of nothing") {
                try bench.keychain.update(password("t"), SecItemUpdate())
            }
        }
        list.add("update onto another item's key throws duplicateItem and changes nothing") { bench in
            try bench.keychain.store("1", query: password("s", "a"))
            try bench.keychain.store("2", query: password("s", "b"))
            try bench.expectRefused(.duplicateItem, from: .update, "Renaming onto another item") {
                try bench.keychain.update(password("s", "a"), .setting(.account, .text("b")))
            }
        }
        list.add("update that would make its matches one item throws duplicateItem and changes nothing") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store(account, query: password("s", account)) }
            try bench.expectRefused(.duplicateItem, from: .update, "One account for three items") {
                try bench.keychain.update(password("s"), .setting(.account, .text("z")))
            }
            try bench.expectRefused(.duplicateItem, from: .update, "No account for three items") {
                try bench.keychain.update(password("s"), .setting(.account, nil))
            }
        }
        list.add("A collision of one match rolls back all of them") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store("old", query: password("s", account)) }
            try bench.keychain.store("other", query: password("t", "c"))
            var changes = SecItemUpdate<GenericPassword>.setting(.service, .text("t"))
            changes.label = "changed"
            changes.setValue("new")
            try bench.expectRefused(.duplicateItem, from: .update, "The third match collides") {
                try bench.keychain.update(password("s"), changes)
            }
        }
        list.add("update to the key that an item already has is no collision") { bench in
            try bench.keychain.store("v", query: password("s", "a"))
            var changes = SecItemUpdate<GenericPassword>.setting(.account, .text("a"))
            changes.label = "x"
            try expectEqual(try bench.keychain.update(password("s", "a"), changes), 1, "It is changed")
            try expectEqual(try bench.keychain.info(for: password("s", "a"))?.label, "x", "The label")
        }
        list.add("After an update of its key an item is found by the new key alone") { bench in
            try bench.keychain.store("v", query: password("s", "a"))
            try bench.keychain.update(password("s", "a"), .setting(.account, .text("b")))
            try expect(try !bench.keychain.contains(password("s", "a")), "The old key is gone")
            try expectValue(try bench.value(password("s", "b")), bytes("v"), "The new key finds it")
            try bench.keychain.store("w", query: password("s", "a"))
            try expectEqual(try bench.count(password("s")), 2, "The old key is free")
        }
        list.add("update replaces the value only if it is given one") { bench in
            try bench.keychain.store("old", query: password("s"))
            try bench.keychain.update(password("s"), .label("x"))
            try expectValue(try bench.value(password("s")), bytes("old"), "It stays")
            var changes = SecItemUpdate<GenericPassword>()
            changes.setValue(Data([0, 1, 255]))
            try bench.keychain.update(password("s"), changes)
            try expectValue(try bench.value(password("s")), Data([0, 1, 255]), "It is replaced")
            try expectEqual(try bench.keychain.info(for: password("s"))?.label, "x", "The label stays")
            changes.setValue(Data())
            try bench.keychain.update(password("s"), changes)
            try expectValue(try bench.value(password("s")), Data(), "It can become empty")
        }
        list.add("update can mark an item for synchronization, and take the mark away") { bench in
            try bench.keychain.store("v", query: password("s"))
            var changes = SecItemUpdate<GenericPassword>()
            changes.isSynchronizable = true
            try bench.keychain.update(password("s"), changes)
            try expect(try !bench.keychain.contains(password("s")), "It is not local now")
            try expectValue(try bench.value(password("s").synchronizable(true)), bytes("v"), "It is synchronizable")
            changes.isSynchronizable = false
            try bench.keychain.update(password("s").synchronizable(true), changes)
            try expectValue(try bench.value(password("s")), bytes("v"), "It is local again")
        }
        list.add("Marking an item for synchronization collides with its synchronizable twin") { bench in
            try bench.keychain.store("1", query: password("s"))
            try bench.keychain.store("2", query: password("s").synchronizable(true))
            var changes = SecItemUpdate<GenericPassword>()
            changes.isSynchronizable = true
            for query in [password("s"), password("s").synchronizable(.any)] {
                try bench.expectRefused(.duplicateItem, from: .update, "Two items with one key") {
                    try bench.keychain.update(query, changes)
                }
            }
        }
        list.add("update replaces the policy only if it is given one") { bench in
            try bench.keychain.store("v", query: password("s"), accessPolicy: AccessPolicy(.whenUnlocked))
            try bench.keychain.update(password("s"), .label("x"))
            var policy = try bench.keychain.info(for: password("s"))?.accessPolicy
            try expect(policy == AccessPolicy(.whenUnlocked), "It stays")
            var changes = SecItemUpdate<GenericPassword>()
            changes.accessPolicy = AccessPolicy(.afterFirstUnlockThisDeviceOnly)
            try bench.keychain.update(password("s"), changes)
            policy = try bench.keychain.info(for: password("s"))?.accessPolicy
            try expect(policy == AccessPolicy(.afterFirstUnlockThisDeviceOnly), "It is replaced")
        }
        list.add("update is one commit") { bench in
            let (keychain, spy) = bench.spied()
            for account in ["a", "b", "c"] { try keychain.store("v", query: password("s", account)) }
            let before = spy.count(.commit)
            try keychain.update(password("s"), .label("x"))
            try expectEqual(spy.count(.commit) - before, 1, "One commit for three items")
        }
        list.add("update reads no value") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store("v", query: password("s"))
            try keychain.update(password("s"), .label("x"))
            try expectEqual(spy.count(.value), 0, "No value is decrypted")
        }
    }

    private static func addUpdates<Item: SecStorable>(_: Item.Type, _ list: inout CheckList) {
        let kind = Item.itemClass
        let row = ContractTable.row(kind)
        list.add("update sets and clears each attribute of a \(kind) and leaves the others") { bench in
            try bench.keychain.store("v", query: SecItemQuery<Item>.full)
            for name in row.others {
                for value in [ContractTable.sample(name, 1), nil, ContractTable.sample(name)] {
                    try bench.keychain.update(SecItemQuery<Item>.sample, .setting(name, value))
                    let info = try unwrap(try bench.keychain.info(for: SecItemQuery<Item>.sample), "The item")
                    try expect(info[name] == value, "\(name) is what it was set to")
                    for other in row.key + row.others where other != name {
                        try expect(info[other] == ContractTable.sample(other), "\(other) stays when \(name) changes")
                    }
                }
            }
            try expectValue(try bench.value(.sample as SecItemQuery<Item>), bytes("v"), "The value stays")
        }
        list.add("update changes and clears each key attribute of a \(kind)") { bench in
            for name in row.key {
                try bench.keychain.store("v", query: SecItemQuery<Item>.sample)
                let reference = try bench.keychain.info(for: SecItemQuery<Item>.sample)?.persistentReference
                let changed = SecItemQuery<Item>.sample.with(name, ContractTable.sample(name, 1))
                try bench.keychain.update(SecItemQuery<Item>.sample, .setting(name, ContractTable.sample(name, 1)))
                try expectEqual(
                    try bench.keychain.info(for: changed)?.persistentReference,
                    reference,
                    "The new \(name)"
                )
                try bench.keychain.update(changed, .setting(name, nil))
                let cleared = SecItemQuery<Item>.sample.with(name, ContractTable.absent(name))
                let info = try unwrap(try bench.keychain.info(for: cleared), "The item without \(name)")
                try expect(info[name] == nil, "\(name) is cleared")
                try expectEqual(info.persistentReference, reference, "The reference stays")
                try expect(try bench.keychain.remove(cleared), "It is removed")
            }
        }
        list.add("update keeps the reference, group and creation date of a \(kind)") { bench in
            try bench.keychain.store("v", query: SecItemQuery<Item>.full)
            let before = try unwrap(try bench.keychain.info(for: SecItemQuery<Item>.sample), "The item")
            var changes = SecItemUpdate<Item>.setting(.label, .text("new"))
            changes.setValue("w")
            try bench.keychain.update(SecItemQuery<Item>.sample, changes)
            let after = try unwrap(try bench.keychain.info(for: SecItemQuery<Item>.sample), "The item")
            try expectEqual(after.persistentReference, before.persistentReference, "The reference")
            try expectEqual(after.creationDate, before.creationDate, "The creation date")
            try expectEqual(after.accessGroup, before.accessGroup, "The group")
            try expect(after.modificationDate >= before.modificationDate, "The modification date does not go back")
        }
    }
}
