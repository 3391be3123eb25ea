// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let uniqueness = CheckList.make(.uniqueness) { list in
        addMatrix(GenericPassword.self, &list)
        addMatrix(InternetPassword.self, &list)
        addMatrix(SecKey.self, &list)
        addMatrix(SecCertificate.self, &list)

        list.add("Items of different classes never collide") { bench in
            let keychain = bench.keychain
            try keychain.store("1", query: SecItemQuery<GenericPassword>())
            try keychain.store("2", query: SecItemQuery<InternetPassword>())
            try keychain.store("3", query: SecItemQuery<SecKey>())
            try keychain.store("4", query: SecItemQuery<SecCertificate>())
            try expectEqual(try snapshot(keychain).count, 4, "One item of each class")
            try expectValue(try bench.value(SecItemQuery<InternetPassword>()), bytes("2"), "Each class has its own")
        }
        list.add("A value never makes two items different") { bench in
            try bench.keychain.store("1", query: password("s"))
            try bench.expectRefused(.duplicateItem, from: .store, "The same key with another value") {
                try bench.keychain.store("2", query: password("s"))
            }
        }
        list.add("An access policy never makes two items different") { bench in
            try bench.keychain.store("1", query: password("s"), accessPolicy: AccessPolicy(.whenUnlocked))
            try bench.expectRefused(.duplicateItem, from: .store, "The same key with another policy") {
                let policy = AccessPolicy(.afterFirstUnlockThisDeviceOnly)
                try bench.keychain.store("2", query: password("s"), accessPolicy: policy)
            }
        }
        list.add("Key attributes do not run together: (ab, c) and (a, bc) are two items") { bench in
            let pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("a:b", "c"), ("a", "b:c"), ("a\n", "b")]
            for (service, account) in pairs { try bench.keychain.store(service, query: password(service, account)) }
            for (service, account) in pairs {
                try expectValue(
                    try bench.value(password(service, account)),
                    bytes(service),
                    "Each pair finds its own item"
                )
            }
        }
        list.add("The schema of each class is the contract's table") { _ in
            for itemClass in ItemClass.stored {
                let schema = AttributeSchema.schema(of: itemClass)
                let row = ContractTable.row(itemClass)
                try expectEqual(Set(schema.primaryKey.map(\.name)), Set(row.key), "The primary key of a \(itemClass)")
                let others = Set(schema.others.map(\.name)).subtracting([.accessible, .accessControl])
                try expectEqual(others, Set(row.others), "The other attributes of a \(itemClass)")
            }
        }
    }

    /// For one class: what makes a second item, and what does not.
    private static func addMatrix<Item: SecStorable>(_: Item.Type, _ list: inout CheckList) {
        let kind = Item.itemClass
        let row = ContractTable.row(kind)
        for name in row.key {
            list.add("A \(kind) that differs in \(name) alone is a second item") { bench in
                let other = SecItemQuery<Item>.sample.with(name, ContractTable.sample(name, 1))
                try bench.keychain.store("1", query: SecItemQuery<Item>.sample)
                try bench.keychain.store("2", query: other)
                try expectEqual(try bench.count(SecItemQuery<Item>()), 2, "Two items")
                try expectValue(try bench.value(.sample as SecItemQuery<Item>), bytes("1"), "The first is itself")
                try expectValue(try bench.value(other), bytes("2"), "The second is itself")
            }
            list.add("A \(kind) without \(name) and one with its default are one item") { bench in
                let absent = SecItemQuery<Item>.sample.with(name, nil)
                let explicit = SecItemQuery<Item>.sample.with(name, ContractTable.absent(name))
                try bench.keychain.store("1", query: absent)
                try bench.expectRefused(.duplicateItem, from: .store, "The explicit default is the same key") {
                    try bench.keychain.store("2", query: explicit)
                }
                try expectValue(try bench.value(explicit), bytes("1"), "A query by the explicit default finds it")
                try expect(try bench.keychain.remove(explicit), "It can be removed by the explicit default")
                try bench.keychain.store("3", query: explicit)
                try bench.expectRefused(.duplicateItem, from: .store, "Leaving it out is the same key") {
                    try bench.keychain.store("4", query: absent)
                }
            }
        }
        for name in row.others {
            list.add("A \(kind) that differs in \(name) alone is a duplicate") { bench in
                let query = SecItemQuery<Item>.sample
                try bench.keychain.store("1", query: query.with(name, ContractTable.sample(name)))
                for other in [query.with(name, ContractTable.sample(name, 1)), query] {
                    try bench.expectRefused(.duplicateItem, from: .store, "\(name) does not make a second item") {
                        try bench.keychain.store("2", query: other)
                    }
                }
            }
        }
        list.add("A \(kind) in another access group is a second item") { bench in
            let other = bench.inGroup("other")
            try bench.keychain.store("1", query: SecItemQuery<Item>.sample)
            try other.store("2", query: SecItemQuery<Item>.sample)
            try expectValue(try bench.value(.sample as SecItemQuery<Item>), bytes("1"), "One group has its own item")
            try expectValue(
                try bench.value(.sample as SecItemQuery<Item>, in: other),
                bytes("2"),
                "The other group has its own"
            )
        }
        list.add("A \(kind) that is synchronizable is a second item") { bench in
            let query = SecItemQuery<Item>.sample
            try bench.keychain.store("1", query: query)
            try bench.keychain.store("2", query: query.synchronizable(.synchronizable))
            try expectValue(try bench.value(query), bytes("1"), "The local item is itself")
            try expectValue(
                try bench.value(query.synchronizable(true)),
                bytes("2"),
                "The synchronizable item is itself"
            )
            try bench.expectRefused(.duplicateItem, from: .store, "A second synchronizable item") {
                try bench.keychain.store("3", query: query.synchronizable(true))
            }
        }
    }

    static let textKeys = CheckList.make(.uniqueness) { list in
        let texts: [(String, [String])] = [
            ("Composed and decomposed spellings are two items", ["caf\u{E9}", "cafe\u{301}"]),
            ("Upper and lower case are two items", ["Bob", "bob", "BOB"]),
            ("Characters that look alike are items of their own", ["a", "\u{430}", "\u{FF41}", "\u{1D41A}"]),
            ("Blanks around a text count", ["x", " x", "x ", "x\t", "x\n", "\u{A0}x"]),
            ("Ligatures and their letters are two items", ["\u{FB01}", "fi"]),
            ("Ignorable characters count", ["ab", "a\u{200D}b", "a\u{AD}b", "\u{FEFF}ab"]),
            ("Hangul syllables and their letters are two items", ["\u{AC00}", "\u{1100}\u{1161}"]),
        ]
        for (name, variants) in texts {
            list.add("\(name): accounts") { bench in
                for text in variants { try bench.keychain.store(text, query: password("s", text)) }
                for text in variants {
                    let query = password("s", text)
                    try expectEqual(try bench.count(query), 1, "Each spelling finds one item")
                    try expectValue(try bench.value(query), bytes(text), "Each spelling finds its own item")
                    let account = try bench.keychain.info(for: query)?.account
                    try expect(account.map { Array($0.utf8) } == Array(text.utf8), "The text comes back to the byte")
                }
            }
        }
        list.add("Composed and decomposed access groups are two groups") { bench in
            let composed = bench.inGroup("caf\u{E9}")
            let decomposed = bench.inGroup("cafe\u{301}")
            try composed.store("1", query: password("s"))
            try expect(try !decomposed.contains(password("s")), "The other spelling is another group")
            try decomposed.store("2", query: password("s"))
            try expectValue(try bench.value(password("s"), in: composed), bytes("1"), "Each has its own item")
            try decomposed.removeAll()
            try expect(try composed.contains(password("s")), "Emptying one leaves the other")
        }
        list.add("Text that is hard to write down comes back to the byte in every text attribute") { bench in
            let hard =
                "\u{1F511} \"quoted\" \\back\\ 'single' tab\there\nline\r\n\u{7F}\u{1} %20 {json} <xml/> é=e\u{301};"
            var query = SecItemQuery<InternetPassword>()
            let row = ContractTable.row(.internetPassword)
            let names = (row.key + row.others).filter(ContractTable.isText)
            for name in names { query[name] = .text(hard + name.rawValue) }
            try bench.keychain.store("1", query: query)
            let info = try unwrap(try bench.keychain.info(for: query), "The item is found by all of them")
            for name in names {
                try expect(info[name] == .text(hard + name.rawValue), "\(name) comes back to the byte")
            }
        }
    }
}
