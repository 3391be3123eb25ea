// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let remove = CheckList.make(.remove) { list in
        list.add("remove is true where something was removed and false where nothing matches") { bench in
            try bench.keychain.store("v", query: password("s"))
            try expect(try bench.keychain.remove(password("s")), "The item is removed")
            try expect(try !bench.keychain.remove(password("s")), "There is none any more")
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing is left")
        }
        list.add("remove removes every match and nothing else") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store("v", query: password("s", account)) }
            try bench.keychain.store("v", query: password("t", "a"))
            try bench.keychain.store("v", query: password("s", "a").synchronizable(true))
            try bench.inGroup("other").store("v", query: password("s", "a"))
            try expect(try bench.keychain.remove(password("s")), "There are matches")
            try expectEqual(try snapshot(bench.keychain).count, 2, "The other service and the synchronizable item stay")
            try expectEqual(try snapshot(bench.inGroup("other")).count, 1, "The other group stays")
        }
        list.add("remove by an attribute outside the key works") { bench in
            var query = password("s")
            query.label = "temporary"
            try bench.keychain.store("v", query: query)
            try bench.keychain.store("v", query: password("t"))
            var byLabel = SecItemQuery<GenericPassword>()
            byLabel.label = "temporary"
            try expect(try bench.keychain.remove(byLabel), "It is removed")
            try expectEqual(try bench.keychain.infoAll(for: SecItemQuery()).map(\.service), ["t"], "The other stays")
        }
        list.add("remove with an empty query throws invalidParameter and removes nothing") { bench in
            try bench.keychain.store("v", query: password("s"))
            try bench.keychain.store("v", query: login("h"))
            let keychain = bench.keychain
            let none = SecItemQuery<GenericPassword>()
            try bench.expectRefused(.invalidParameter, from: .remove, "No attribute") { try keychain.remove(none) }
            try bench.expectRefused(.invalidParameter, from: .remove, "Only synchronizable") {
                try keychain.remove(none.synchronizable(.any))
            }
            try bench.expectRefused(.invalidParameter, from: .remove, "Only a group") {
                var query = none
                query.accessGroup = keychain.accessGroup
                try keychain.remove(query)
            }
            try bench.expectRefused(.invalidParameter, from: .remove, "Only matchSubdomains") {
                var query = SecItemQuery<InternetPassword>()
                query.matchSubdomains = true
                try keychain.remove(query)
            }
            try bench.expectRefused(.invalidParameter, from: .remove, "An empty identity query") {
                try keychain.remove(SecItemQuery<SecIdentity>())
            }
        }
        list.add("remove is one commit") { bench in
            let (keychain, spy) = bench.spied()
            for account in ["a", "b", "c"] { try keychain.store("v", query: password("s", account)) }
            let before = spy.count(.commit)
            try keychain.remove(password("s"))
            try expectEqual(spy.count(.commit) - before, 1, "One commit for three items")
            try keychain.remove(password("s"))
            try expectEqual(spy.count(.commit) - before, 1, "No commit where nothing matches")
        }
        list.add("remove reads no value") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store("v", query: password("s"))
            try keychain.remove(password("s"))
            try expectEqual(spy.count(.value), 0, "No value is decrypted")
        }
        list.add("removeAll removes the local items of every class in the group") { bench in
            let other = bench.inGroup("other")
            for keychain in [bench.keychain, other] {
                try keychain.store("v", query: SecItemQuery<GenericPassword>.sample)
                try keychain.store("v", query: SecItemQuery<InternetPassword>.sample)
                try keychain.store("v", query: SecItemQuery<SecKey>.sample)
                try keychain.store("v", query: SecItemQuery<SecCertificate>.sample)
                try keychain.store("v", query: SecItemQuery<GenericPassword>.sample.synchronizable(true))
            }
            try bench.keychain.removeAll()
            let left = try snapshot(bench.keychain)
            try expect(left.count == 1 && left.allSatisfy(\.isSynchronizable), "The synchronizable item stays")
            try expectEqual(try snapshot(other).count, 5, "The other group stays")
            try bench.keychain.removeAll(includingSynchronizable: true)
            try expect(try snapshot(bench.keychain).isEmpty, "Asked for, the synchronizable item goes as well")
        }
        list.add("removeAll of a class leaves the other classes") { bench in
            try bench.keychain.store("v", query: password("a"))
            try bench.keychain.store("v", query: password("b"))
            try bench.keychain.store("v", query: password("c").synchronizable(true))
            try bench.keychain.store("v", query: login("h"))
            try bench.keychain.store("v", query: SecItemQuery<SecKey>.sample)
            try bench.keychain.removeAll(of: GenericPassword.self)
            try expectEqual(
                try bench.count(SecItemQuery<GenericPassword>().synchronizable(.any)),
                1,
                "The mark protects"
            )
            try expectEqual(try bench.count(SecItemQuery<InternetPassword>()), 1, "Internet passwords stay")
            try bench.keychain.removeAll(of: GenericPassword.self, includingSynchronizable: true)
            try expectEqual(try bench.count(SecItemQuery<GenericPassword>().synchronizable(.any)), 0, "None is left")
            try bench.keychain.removeAll(of: SecKey.self)
            try expectEqual(try bench.count(SecItemQuery<SecKey>()), 0, "Keys are gone")
            try expectEqual(try bench.count(SecItemQuery<InternetPassword>()), 1, "Internet passwords stay")
        }
        list.add("removeAll of nothing succeeds") { bench in
            try bench.keychain.removeAll()
            try bench.keychain.removeAll(includingSynchronizable: true)
            try bench.keychain.removeAll(of: SecCertificate.self)
            try expect(try snapshot(bench.keychain).isEmpty, "Nothing was there, nothing is")
        }
    }
}
