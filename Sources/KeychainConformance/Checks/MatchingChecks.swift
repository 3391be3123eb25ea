// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let matching = CheckList.make(.matching) { list in
        addMatching(GenericPassword.self, &list)
        addMatching(InternetPassword.self, &list)
        addMatching(SecKey.self, &list)
        addMatching(SecCertificate.self, &list)

        list.add("A query is an AND of all that is set in it") { bench in
            var first = password("s", "a")
            first.label = "x"
            try bench.keychain.store("1", query: first)
            var mixed = password("s", "a")
            mixed.label = "y"
            try expect(try !bench.keychain.contains(mixed), "A right key with a wrong label does not match")
            mixed.label = "x"
            mixed.comment = "none"
            try expect(try !bench.keychain.contains(mixed), "An attribute that the item lacks does not match")
            try expect(try bench.keychain.contains(first), "All right attributes match")
        }
        list.add("An empty query matches every local item of the class in the keychain's group") { bench in
            for name in ["a", "b", "c"] { try bench.keychain.store(name, query: password(name)) }
            try bench.keychain.store("sync", query: password("d").synchronizable(true))
            try bench.inGroup("other").store("other", query: password("e"))
            try bench.keychain.store("inet", query: login("h"))
            try expectEqual(try bench.count(SecItemQuery<GenericPassword>()), 3, "The three local items of the group")
        }
        list.add("A port that is left out matches every port, and removes them") { bench in
            try bench.keychain.store("1", query: login("h", port: 8080))
            try bench.keychain.store("2", query: login("h", port: 0))
            try expectEqual(try bench.count(login("h")), 2, "The wildcard matches both")
            try expectEqual(try bench.count(login("h", port: 0)), 1, "Port 0 matches the item without a port")
            try expect(try bench.keychain.remove(login("h")), "The wildcard removes")
            try expectEqual(try bench.count(SecItemQuery<InternetPassword>()), 0, "It removed both")
        }
        list.add("A default of an attribute outside the key is not the same as its absence") { bench in
            try bench.keychain.store("1", query: password("absent"))
            var explicit = password("explicit")
            explicit.isInvisible = false
            explicit.comment = ""
            try bench.keychain.store("2", query: explicit)
            var query = SecItemQuery<GenericPassword>()
            query.isInvisible = false
            try expectEqual(try bench.keychain.infoAll(for: query).map(\.service), ["explicit"], "false is not absent")
            query = SecItemQuery()
            query.comment = ""
            try expectEqual(try bench.keychain.infoAll(for: query).map(\.service), ["explicit"], "Empty is not absent")
        }
        list.add("Without synchronizable a query means local items only") { bench in
            try bench.keychain.store("1", query: password("s").synchronizable(true))
            let query = password("s")
            try expect(try !bench.keychain.contains(query), "contains does not see it")
            try expect(try bench.keychain.info(for: query) == nil, "info does not see it")
            try expectValue(try bench.value(query), nil, "retrieve does not see it")
            try expect(try !bench.keychain.remove(query), "remove does not see it")
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "x"
            try expectThrows(.itemNotFound, from: .update, "update does not see it") {
                try bench.keychain.update(query, changes)
            }
        }
        list.add("With synchronizable any a query means local and synchronizable items") { bench in
            try bench.keychain.store("1", query: password("s"))
            try bench.keychain.store("2", query: password("s").synchronizable(true))
            try expectEqual(try bench.count(password("s").synchronizable(.any)), 2, "Both match")
            try expectEqual(try bench.count(password("s").synchronizable(.local)), 1, "local is one of them")
            try expectEqual(try bench.count(password("s").synchronizable(.synchronizable)), 1, "so is synchronizable")
            try expect(try bench.keychain.remove(password("s").synchronizable(.any)), "Both are removed")
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing is left")
        }
        list.add("An access group in the query stands in for the keychain's own") { bench in
            let other = bench.inGroup("other")
            var query = password("s")
            query.accessGroup = other.accessGroup
            try bench.keychain.store("1", query: query)
            try expectValue(try bench.value(password("s"), in: other), bytes("1"), "It is in the group that was named")
            try expect(try !bench.keychain.contains(password("s")), "It is not in the keychain's own")
            try expectValue(try bench.value(query), bytes("1"), "The query finds it from the first keychain")
            try expectEqual(try bench.keychain.info(for: query)?.accessGroup, other.accessGroup, "info says so")
            try expect(try bench.keychain.remove(query), "The query removes it")
        }
        list.add("A group's name is never a prefix or pattern") { bench in
            let inner = bench.inGroup("x")
            let longer = bench.inGroup("xy")
            try longer.store("1", query: password("s"))
            try expect(try !inner.contains(password("s")), "A longer name is another group")
            var query = password("s")
            query.accessGroup = AccessGroup(rawValue: "*")
            try expect(try !bench.keychain.contains(query), "An asterisk is a name")
        }
        list.add("Equality knows no wildcards, prefixes or cases") { bench in
            try bench.keychain.store("1", query: password("service", "Account"))
            for query in [
                password("serv"), password("service*"), password("%"), password("SERVICE"),
                password("service", "account"),
                password("service", "Acc"), password(""),
            ] {
                try expect(try !bench.keychain.contains(query), "A query that is not equal does not match")
            }
        }
        list.add("matchSubdomains matches the host and its subdomains and nothing else") { bench in
            for host in ["example.com", "www.example.com", "a.b.example.com", "badexample.com", "example.com.evil"] {
                try bench.keychain.store(host, query: login(host))
            }
            var query = login("example.com")
            try expectEqual(try bench.count(query), 1, "Without it, the host alone")
            query.matchSubdomains = true
            let found = Set(try bench.keychain.infoAll(for: query).compactMap(\.server))
            try expectEqual(
                found,
                ["example.com", "www.example.com", "a.b.example.com"],
                "With it, subdomains as well"
            )
            query.server = "EXAMPLE.com"
            try expectEqual(try bench.count(query), 0, "Text stays case-sensitive")
        }
        list.add("Results come oldest first, ties by reference") { bench in
            for index in 0..<12 { try bench.keychain.store("\(index)", query: password("s\(index)")) }
            let infos = try bench.keychain.infoAll(for: SecItemQuery<GenericPassword>())
            let sorted = infos.sorted {
                ($0.creationDate, $0.persistentReference.description)
                    < ($1.creationDate, $1.persistentReference.description)
            }
            try expectEqual(infos.map(\.service), sorted.map(\.service), "By creation date, then by reference")
            let dates = infos.map(\.creationDate)
            if Set(dates).count == dates.count {
                try expectEqual(infos.compactMap(\.service), (0..<12).map { "s\($0)" }, "In the order of storing")
            }
        }
        list.add("Results stay in order when items are changed") { bench in
            for index in 0..<6 { try bench.keychain.store("\(index)", query: password("s\(index)")) }
            let before = try bench.keychain.infoAll(for: SecItemQuery<GenericPassword>()).map(\.service)
            var changes = SecItemUpdate<GenericPassword>()
            changes.label = "changed"
            try bench.keychain.update(password("s0"), changes)
            try bench.keychain.store("new", query: password("s3"), ifExists: .replace)
            let after = try bench.keychain.infoAll(for: SecItemQuery<GenericPassword>()).map(\.service)
            try expectEqual(after, before, "A change does not make an item younger")
        }
        list.add("Asking again gives the same answer") { bench in
            for index in 0..<20 { try bench.keychain.store("\(index)", query: login("h", "u\(index)")) }
            let first = try bench.keychain.retrieveAll(query: login("h"))
            for _ in 0..<3 {
                try expect(try bench.keychain.retrieveAll(query: login("h")) == first, "The answers are equal")
            }
        }
        list.add("retrieve and info give the oldest of several matches") { bench in
            try bench.keychain.store("1", query: password("s", "z"))
            try bench.keychain.store("2", query: password("s", "a"))
            let all = try bench.keychain.infoAll(for: password("s"))
            try expectEqual(try bench.keychain.info(for: password("s")), all.first, "info gives the first of infoAll")
            let value = try bench.value(password("s"))
            try expectValue(value, bytes(all.first?.account == "z" ? "1" : "2"), "retrieve gives the value of that one")
        }
    }

    private static func addMatching<Item: SecStorable>(_: Item.Type, _ list: inout CheckList) {
        let kind = Item.itemClass
        let row = ContractTable.row(kind)
        for name in row.key + row.others {
            list.add("A \(kind) is found by \(name) alone, and not by another \(name)") { bench in
                try bench.keychain.store("1", query: SecItemQuery<Item>.full)
                let right = SecItemQuery<Item>().with(name, ContractTable.sample(name))
                let wrong = SecItemQuery<Item>().with(name, ContractTable.sample(name, 1))
                try expectValue(try bench.value(right), bytes("1"), "The right \(name) finds it")
                try expectEqual(try bench.count(wrong), 0, "Another \(name) does not")
                try expect(try !bench.keychain.contains(wrong), "contains agrees")
                try expect(try !bench.keychain.remove(wrong), "remove agrees")
                try expect(try bench.keychain.remove(right), "The right \(name) removes it")
            }
        }
    }
}
