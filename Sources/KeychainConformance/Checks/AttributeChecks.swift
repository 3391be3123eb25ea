// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let attributes = CheckList.make(.attributes) { list in
        addRoundTrip(GenericPassword.self, &list)
        addRoundTrip(InternetPassword.self, &list)
        addRoundTrip(SecKey.self, &list)
        addRoundTrip(SecCertificate.self, &list)

        list.add("Creation and modification date are the moment of storing") { bench in
            let before = Date()
            try bench.keychain.store("1", query: password("s"))
            let after = Date()
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            // A driver's own clock may be a test's; then both dates are that clock's.
            let clock = bench.keychain.driver.stamps.now().date
            let usesSystemClock = abs(clock.timeIntervalSinceNow) < 60
            if usesSystemClock {
                let slack = 1.1
                try expect(info.creationDate >= before - slack && info.creationDate <= after + slack, "Created now")
                try expect(
                    info.modificationDate >= before - slack && info.modificationDate <= after + slack,
                    "Modified now"
                )
            }
            try expect(
                abs(info.modificationDate.timeIntervalSince(info.creationDate)) < 1.1,
                "A new item was modified when it was created"
            )
        }
        list.add("Dates are exact: what store returns is what info shows") { bench in
            let stored = try bench.keychain.store("1", returning: [.info, .persistentReference], query: password("s"))
            guard case .dictionary(let returned)? = stored else {
                throw ConformanceFailure("store returns what was asked for")
            }
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            try expectEqual(returned.creationDate, info.creationDate, "The creation date")
            if !bench.keychain.capabilities.contains(.wholeSecondModificationDates) {
                try expectEqual(returned.modificationDate, info.modificationDate, "The modification date")
            }
            try expectEqual(returned.persistentReference, info.persistentReference, "The reference")
        }
        list.add("A modification date never goes back, and moves with every change") { bench in
            try bench.keychain.store("1", query: password("s"))
            let coarse = bench.keychain.capabilities.contains(.wholeSecondModificationDates)
            var last = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            for index in 0..<8 {
                if index % 2 == 0 {
                    var changes = SecItemUpdate<GenericPassword>()
                    changes.label = "\(index)"
                    try bench.keychain.update(password("s"), changes)
                } else {
                    try bench.keychain.store("\(index)", query: password("s"), ifExists: .replaceValue)
                }
                let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
                try expect(
                    coarse
                        ? info.modificationDate >= last.modificationDate
                        : info.modificationDate > last.modificationDate,
                    "The modification date moves forward"
                )
                try expectEqual(info.creationDate, last.creationDate, "The creation date stays")
                last = info
            }
        }
        list.add("Every item has a reference of its own, a random UUID") { bench in
            var references: Set<String> = []
            for index in 0..<10 {
                try bench.keychain.store("v", query: password("s\(index)"))
                let info = try unwrap(try bench.keychain.info(for: password("s\(index)")), "The item")
                references.insert(info.persistentReference.description)
            }
            try expectEqual(references.count, 10, "Ten items, ten references")
        }
        list.add("An item that was removed and stored again has a new reference") { bench in
            try bench.keychain.store("1", query: password("s"))
            let old = try bench.keychain.info(for: password("s"))?.persistentReference
            try bench.keychain.remove(password("s"))
            try bench.keychain.store("1", query: password("s"))
            let new = try unwrap(try bench.keychain.info(for: password("s"))?.persistentReference, "The new item")
            try expect(old != new, "The reference of a removed item does not come back")
        }
        list.add("Numbers at their limits come back exactly") { bench in
            var query = password("s")
            query.creator = FourCharCode(rawValue: .max)
            query.type = FourCharCode(rawValue: 0)
            try bench.keychain.store("1", query: query)
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            try expectEqual(info.creator?.rawValue, .max, "The largest code")
            try expectEqual(info.type?.rawValue, 0, "Zero, which is not the same as absent")
            for port in [1, 65_535] {
                try bench.keychain.store("1", query: login("h", port: port))
                try expectEqual(try bench.keychain.info(for: login("h", port: port))?.port, port, "A port")
            }
            var key = SecItemQuery<SecKey>()
            key.keySizeInBits = .max
            key.effectiveKeySize = .min
            try bench.keychain.store("1", query: key)
            let found = try unwrap(try bench.keychain.info(for: key), "The key is found by extreme sizes")
            try expectEqual(found.keySizeInBits, .max, "The largest integer")
            try expectEqual(found.effectiveKeySize, .min, "The smallest integer")
        }
        list.add("A port outside 0 to 65535 is refused") { bench in
            for port in [-1, 65_536, .max] {
                try bench.expectRefused(.invalidParameter, from: .store, "Port \(port)") {
                    try bench.keychain.store("1", query: login("h", port: port))
                }
            }
        }
        list.add("Bytes of every value come back in a data attribute") { bench in
            var query = password("s")
            query.generic = Data(0...255)
            try bench.keychain.store("1", query: query)
            try expectValue(try bench.keychain.info(for: query)?.generic, Data(0...255), "All 256 bytes")
            var empty = password("t")
            empty.generic = Data()
            try bench.keychain.store("1", query: empty)
            try expectValue(try bench.keychain.info(for: password("t"))?.generic, Data(), "Empty is not absent")
        }
        list.add("An attribute of another class, or in a wrong form, is refused") { bench in
            let wrong: [(AttributeName, AttributeValue)] = [
                (.port, .integer(443)), (.issuer, .data(Data([1]))), (.account, .integer(1)), (.generic, .text("x")),
                (.isInvisible, .integer(1)), (AttributeName(rawValue: "unknown"), .text("x")),
            ]
            for (name, value) in wrong {
                let query = password("s").with(name, value)
                try bench.expectRefused(.invalidParameter, from: .store, "store with a wrong \(name)") {
                    try bench.keychain.store("1", query: query)
                }
                try bench.expectRefused(.invalidParameter, from: .info, "info with a wrong \(name)") {
                    _ = try bench.keychain.info(for: query)
                }
                try bench.expectRefused(.invalidParameter, from: .remove, "remove with a wrong \(name)") {
                    try bench.keychain.remove(query)
                }
                try bench.expectRefused(.invalidParameter, from: .update, "update with a wrong \(name)") {
                    var changes = SecItemUpdate<GenericPassword>()
                    changes.set(name, to: value)
                    try bench.keychain.update(password("s"), changes)
                }
            }
        }
    }

    private static func addRoundTrip<Item: SecStorable>(_: Item.Type, _ list: inout CheckList) {
        let kind = Item.itemClass
        let row = ContractTable.row(kind)
        list.add("A \(kind) keeps every attribute") { bench in
            try bench.keychain.store("1", query: SecItemQuery<Item>.full)
            let info = try unwrap(try bench.keychain.info(for: .sample as SecItemQuery<Item>), "The item")
            for name in row.key + row.others {
                try expect(info[name] == ContractTable.sample(name), "\(name) comes back")
            }
            try expectEqual(info.attributes.count, row.key.count + row.others.count, "No attribute appears by itself")
            try expectEqual(info.accessGroup, bench.keychain.accessGroup, "The group")
            try expect(!info.isSynchronizable, "It is local")
        }
        list.add("A \(kind) can be stored without any attribute") { bench in
            try bench.keychain.store("1", query: SecItemQuery<Item>())
            let info = try unwrap(try bench.keychain.info(for: SecItemQuery<Item>()), "The item")
            try expect(info.attributes.isEmpty, "Nothing appears by itself")
            try expectValue(try bench.value(SecItemQuery<Item>()), bytes("1"), "Its value")
            try bench.expectRefused(.duplicateItem, from: .store, "It is one item like any other") {
                try bench.keychain.store("2", query: SecItemQuery<Item>())
            }
        }
        for name in (row.key + row.others).filter(ContractTable.isText) {
            list.add("NUL in the \(name) of a \(kind) is refused by every verb") { bench in
                try bench.keychain.store("1", query: SecItemQuery<Item>.sample)
                let query = SecItemQuery<Item>.sample.with(name, .text("a\0b"))
                for policy in IfExists.allCases {
                    try bench.expectRefused(.invalidParameter, from: .store, "store(\(policy))") {
                        try bench.keychain.store("2", query: query, ifExists: policy)
                    }
                }
                try bench.expectRefused(.invalidParameter, from: .update, "update by it") {
                    var changes = SecItemUpdate<Item>()
                    changes.label = "x"
                    try bench.keychain.update(query, changes)
                }
                try bench.expectRefused(.invalidParameter, from: .update, "update to it") {
                    var changes = SecItemUpdate<Item>()
                    changes.set(name, to: .text("\0"))
                    try bench.keychain.update(SecItemQuery<Item>.sample, changes)
                }
                try bench.expectRefused(.invalidParameter, from: .retrieve, "retrieve") { _ = try bench.value(query) }
                try bench.expectRefused(.invalidParameter, from: .info, "info") {
                    _ = try bench.keychain.info(for: query)
                }
                try bench.expectRefused(.invalidParameter, from: .contains, "contains") {
                    _ = try bench.keychain.contains(query)
                }
                try bench.expectRefused(.invalidParameter, from: .remove, "remove") { try bench.keychain.remove(query) }
            }
        }
    }
}
