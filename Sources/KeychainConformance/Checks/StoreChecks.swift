// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let store = CheckList.make(.store) { list in
        list.add("store adds an item that is then there") { bench in
            try expect(try !bench.keychain.contains(password("s", "a")), "It is not there before")
            try bench.keychain.store("v", query: password("s", "a"))
            try expectValue(try bench.value(password("s", "a")), bytes("v"), "It is there after")
            try expectEqual(try snapshot(bench.keychain).count, 1, "One item was added")
        }
        list.add("store(.fail) is the default") { bench in
            try bench.keychain.store("1", query: password("s"))
            try bench.expectRefused(.duplicateItem, from: .store, "Storing twice") {
                try bench.keychain.store("2", query: password("s"))
            }
        }
        list.add("store(.fail) of an existing key throws duplicateItem and changes nothing") { bench in
            var query = SecItemQuery<GenericPassword>.full
            try bench.keychain.store("1", query: query)
            query.label = "other"
            try bench.expectRefused(.duplicateItem, from: .store, "A second item") {
                try bench.keychain.store("2", query: query, ifExists: .fail)
            }
        }
        for policy in [IfExists.replaceValue, .replace] {
            list.add("store(.\(policy)) adds an item where there is none") { bench in
                try bench.keychain.store("1", query: SecItemQuery<GenericPassword>.full, ifExists: policy)
                try expectValue(try bench.value(.full as SecItemQuery<GenericPassword>), bytes("1"), "It is there")
            }
            list.add("store(.\(policy)) leaves one item, with the new value") { bench in
                for index in 0..<4 { try bench.keychain.store("\(index)", query: password("s"), ifExists: policy) }
                try expectEqual(try snapshot(bench.keychain).count, 1, "One item")
                try expectValue(try bench.value(password("s")), bytes("3"), "The last value")
            }
            list.add("store(.\(policy)) keeps the reference and the creation date") { bench in
                try bench.keychain.store("1", query: password("s"))
                let before = try unwrap(try bench.keychain.info(for: password("s")), "The item")
                try bench.keychain.store("2", query: password("s"), ifExists: policy)
                let after = try unwrap(try bench.keychain.info(for: password("s")), "The item")
                try expectEqual(after.persistentReference, before.persistentReference, "The reference")
                try expectEqual(after.creationDate, before.creationDate, "The creation date")
                try expect(after.modificationDate >= before.modificationDate, "The modification date does not go back")
            }
            list.add("store(.\(policy)) leaves every other item alone") { bench in
                try bench.keychain.store("1", query: password("s", "a"))
                try bench.keychain.store("2", query: password("s", "b"))
                try bench.keychain.store("3", query: password("s", "a").synchronizable(true))
                try bench.inGroup("other").store("4", query: password("s", "a"))
                try bench.keychain.store("5", query: password("s", "a"), ifExists: policy)
                try expectValue(try bench.value(password("s", "b")), bytes("2"), "Another account")
                try expectValue(try bench.value(password("s", "a").synchronizable(true)), bytes("3"), "The twin")
                try expectValue(try bench.value(password("s", "a"), in: bench.inGroup("other")), bytes("4"), "A group")
            }
            list.add("store(.\(policy)) can make a value longer, shorter and empty") { bench in
                for size in [10, 10_000, 3, 0, 70_000, 1] {
                    let value = Data(repeating: UInt8(truncatingIfNeeded: size), count: size)
                    try bench.keychain.store(value, query: password("s"), ifExists: policy)
                    try expectValue(try bench.value(password("s")), value, "A value of \(size) bytes")
                }
            }
        }
        list.add("store(.replaceValue) keeps every attribute and the policy") { bench in
            let policy = AccessPolicy(.whenUnlockedThisDeviceOnly)
            try bench.keychain.store("1", query: SecItemQuery<GenericPassword>.full, accessPolicy: policy)
            let before = try unwrap(try bench.keychain.info(for: SecItemQuery<GenericPassword>.sample), "The item")
            var query = SecItemQuery<GenericPassword>.sample
            query.label = "ignored"
            try bench.keychain.store("2", query: query, ifExists: .replaceValue)
            let after = try unwrap(try bench.keychain.info(for: SecItemQuery<GenericPassword>.sample), "The item")
            try expect(after.attributes == before.attributes, "The attributes")
            try expect(after.accessPolicy == policy, "The policy")
            try expectValue(try bench.value(.sample as SecItemQuery<GenericPassword>), bytes("2"), "The value is new")
        }
        list.add("store(.replace) replaces the attributes and the policy, and clears what is left out") { bench in
            let old = AccessPolicy(.whenUnlockedThisDeviceOnly)
            try bench.keychain.store("1", query: SecItemQuery<GenericPassword>.full, accessPolicy: old)
            var query = SecItemQuery<GenericPassword>.sample
            query.comment = "new"
            try bench.keychain.store("2", query: query, accessPolicy: AccessPolicy(.whenUnlocked), ifExists: .replace)
            let info = try unwrap(try bench.keychain.info(for: SecItemQuery<GenericPassword>.sample), "The item")
            try expectEqual(info.comment, "new", "A given attribute is replaced")
            for name in ContractTable.row(.genericPassword).others where name != .comment {
                try expect(info[name] == nil, "\(name) was left out and is cleared")
            }
            try expect(info.accessPolicy == AccessPolicy(.whenUnlocked), "The policy is replaced")
        }
        list.add("store returns what it is asked for") { bench in
            let keychain = bench.keychain
            try expect(try keychain.store("1", returning: [], query: password("a")) == nil, "Nothing")
            try expect(
                try keychain.store("2", returning: .data, query: password("b")) == .data(bytes("2")),
                "The value alone"
            )
            guard
                case .persistentReference(let reference)? = try keychain.store(
                    "3",
                    returning: .persistentReference,
                    query: password("c")
                )
            else { throw ConformanceFailure("The reference alone") }
            try expectEqual(
                try keychain.info(for: password("c"))?.persistentReference,
                reference,
                "The reference is the item's"
            )
            guard case .dictionary(let info)? = try keychain.store("4", returning: .all, query: password("d", "u"))
            else {
                throw ConformanceFailure("Everything is a dictionary")
            }
            try expectValue(info.data, bytes("4"), "With the value")
            try expectEqual(info.account, "u", "With the attributes")
        }
        list.add("A query that can only find is refused by store") { bench in
            try bench.expectRefused(.invalidParameter, from: .store, "synchronizable any") {
                try bench.keychain.store("1", query: password("s").synchronizable(.any))
            }
            try bench.expectRefused(.invalidParameter, from: .store, "matchSubdomains") {
                var query = login("h")
                query.matchSubdomains = true
                try bench.keychain.store("1", query: query)
            }
            try bench.expectRefused(.invalidParameter, from: .store, "a persistent reference") {
                try bench.keychain.store("1", query: .item(PersistentReference<GenericPassword>(uuid: UUID())))
            }
        }
        list.add("Storing an item again after removing it works") { bench in
            for index in 0..<5 {
                try bench.keychain.store("\(index)", query: password("s"))
                try expect(try bench.keychain.remove(password("s")), "It is removed")
            }
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing is left")
        }
        list.add("NUL in an access group is refused") { bench in
            let keychain = bench.keychain.with {
                $0.accessGroup = AccessGroup(rawValue: "\(bench.keychain.accessGroup.rawValue).a\0b")
            }
            try bench.expectRefused(.invalidParameter, from: .store, "The keychain's group") {
                try keychain.store("1", query: password("s"))
            }
            var query = password("s")
            query.accessGroup = keychain.accessGroup
            try bench.expectRefused(.invalidParameter, from: .store, "The query's group") {
                try bench.keychain.store("1", query: query)
            }
            try bench.expectRefused(.invalidParameter, from: .remove, "removeAll") { try keychain.removeAll() }
        }
    }
}
