// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let persistence = CheckList.make(.persistence) { list in
        list.add("Reopened, the store holds every item exactly as it was", needs: .reopen) { bench in
            let keychain = bench.keychain
            let policy = AccessPolicy(.whenUnlockedThisDeviceOnly, options: .userPresence)
            try keychain.store(Data(0...255), query: SecItemQuery<GenericPassword>.full, accessPolicy: policy)
            try keychain.store("", query: SecItemQuery<InternetPassword>.full)
            try keychain.store(Data(repeating: 7, count: 100_000), query: SecItemQuery<SecKey>.full)
            try keychain.store("c", query: SecItemQuery<SecCertificate>.full)
            try keychain.store("sync", query: SecItemQuery<GenericPassword>.full.synchronizable(true))
            let before = try snapshot(keychain)
            let reopened = try bench.reopened()
            try expectEqual(before.count, 5, "Five items")
            try expect(try snapshot(reopened) == before, "Values, attributes, policies, dates and references")
            try expect(try snapshot(keychain) == before, "The first instance still sees them")
        }
        list.add("Reopened, the store knows of every change and removal", needs: .reopen) { bench in
            for name in ["a", "b", "c"] { try bench.keychain.store("old", query: password(name)) }
            try bench.keychain.store("new", query: password("a"), ifExists: .replaceValue)
            try bench.keychain.update(password("b"), .label("x"))
            try bench.keychain.remove(password("c"))
            let reopened = try bench.reopened()
            try expectValue(try bench.value(password("a"), in: reopened), bytes("new"), "The new value")
            try expectEqual(try reopened.info(for: password("b"))?.label, "x", "The new label")
            try expect(try !reopened.contains(password("c")), "The removed item is gone")
            try expectEqual(try snapshot(reopened).count, 2, "Two items")
        }
        list.add("Two open instances see each other's writes at the next call", needs: .reopen) { bench in
            let other = try bench.reopened()
            for round in 0..<5 {
                let (writer, reader) = round % 2 == 0 ? (bench.keychain, other) : (other, bench.keychain)
                try writer.store("\(round)", query: password("s"), ifExists: .replace)
                try expectValue(try bench.value(password("s"), in: reader), bytes("\(round)"), "The new value")
                try writer.store("v", query: password("only \(round)"))
                try expect(try reader.contains(password("only \(round)")), "The new item")
                try writer.remove(password("only \(round)"))
                try expect(try !reader.contains(password("only \(round)")), "Its removal")
            }
            try expectEqual(try snapshot(other).count, 1, "One item is left")
        }
        list.add("Uniqueness holds between two open instances", needs: .reopen) { bench in
            let other = try bench.reopened()
            try bench.keychain.store("1", query: password("s"))
            try bench.expectRefused(.duplicateItem, from: .store, "The other instance knows of it") {
                try other.store("2", query: password("s"))
            }
            try other.store("3", query: password("s"), ifExists: .replaceValue)
            try expectEqual(try snapshot(bench.keychain).count, 1, "An upsert finds it")
        }
        list.add("A reference names the item in another instance, and later", needs: .reopen) { bench in
            try bench.keychain.store("v", query: password("s"))
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            let data = info.persistentReference.data
            let reference = try unwrap(PersistentReference<GenericPassword>(data), "The bytes read back")
            let reopened = try bench.reopened()
            try expectValue(try bench.value(.item(reference), in: reopened), bytes("v"), "It is found")
            try expectEqual(try reopened.info(for: .item(reference))?.creationDate, info.creationDate, "Its date")
        }
        list.add("The order of results is the same in another instance", needs: .reopen) { bench in
            for index in 0..<10 { try bench.keychain.store("v", query: password("s\(index)")) }
            let here = try bench.keychain.infoAll(for: SecItemQuery<GenericPassword>())
            let there = try bench.reopened().infoAll(for: SecItemQuery<GenericPassword>())
            try expect(here == there, "The same items in the same order")
        }
        list.add("An instance that is done with does not take its store along", needs: .reopen) { bench in
            do {
                let temporary = try bench.reopened()
                try temporary.store("v", query: password("s"))
            }
            try expectValue(try bench.value(password("s")), bytes("v"), "The item stays")
            for _ in 0..<20 { try expect(try bench.reopened().contains(password("s")), "It can be opened many times") }
        }
        list.add("Both instances name the same store", needs: .reopen) { bench in
            let other = try bench.reopened()
            try expectEqual(other.location, bench.keychain.location, "The location")
            try expectEqual(other.capabilities, bench.keychain.capabilities, "The capabilities")
            try expectEqual(other.accessGroup, bench.keychain.accessGroup, "The group")
        }
        list.add("The location is a store URL of the driver's scheme") { bench in
            let url = try StoreURL(parsing: bench.keychain.location)
            try expectEqual(url.driver, bench.keychain.driver.identifier, "The scheme")
            try expect(!bench.keychain.driver.identifier.rawValue.isEmpty, "A name")
        }
    }
}
