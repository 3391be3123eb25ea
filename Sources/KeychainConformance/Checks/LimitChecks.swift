// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let limits = CheckList.make(.limits) { list in
        list.add("A value of the largest size is accepted, and one byte more is dataTooLarge") { bench in
            let limit = bench.keychain.driver.maximumValueSize
            try expect(limit > 0, "The limit is stated")
            // A store that takes more than memory is good for is checked at a size that is.
            let largest = min(limit, 64 << 20)
            let value = Data(repeating: 0xA5, count: largest)
            try bench.keychain.store(value, query: password("s"))
            try expectValue(try bench.value(password("s")), value, "The largest value")
            try bench.keychain.remove(password("s"))
            guard limit <= 256 << 20 else { return }
            try bench.expectRefused(.dataTooLarge, from: .store, "One byte more") {
                try bench.keychain.store(Data(count: limit + 1), query: password("s"))
            }
        }
        list.add("A value that is too large is refused before the driver is asked") { bench in
            let (keychain, spy) = bench.spied(maximumValueSize: 8)
            try keychain.store("12345678", query: password("s"))
            let before = spy.calls
            for policy in IfExists.allCases {
                try bench.expectRefused(.dataTooLarge, from: .store, "store(\(policy))") {
                    try keychain.store("123456789", query: password("s"), ifExists: policy)
                }
            }
            try bench.expectRefused(.dataTooLarge, from: .update, "update") {
                var changes = SecItemUpdate<GenericPassword>()
                changes.setValue("123456789")
                try keychain.update(password("s"), changes)
            }
            try expectEqual(spy.calls, before, "The driver was not asked")
        }
        list.add("An attribute of 64 KiB is accepted, and one byte more is dataTooLarge") { bench in
            let limit = 64 * 1024
            var query = password("s")
            query.comment = String(repeating: "x", count: limit)
            query.generic = Data(repeating: 0xFF, count: limit)
            try bench.keychain.store("v", query: query)
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            try expect(info.comment == query.comment && info.generic == query.generic, "Both come back")
            query.comment = String(repeating: "x", count: limit + 1)
            try bench.expectRefused(.dataTooLarge, from: .store, "A larger text") {
                try bench.keychain.store("v", query: query, ifExists: .replace)
            }
            try bench.expectRefused(.dataTooLarge, from: .update, "Larger bytes") {
                let value = AttributeValue.data(Data(count: limit + 1))
                try bench.keychain.update(password("s"), .setting(.generic, value))
            }
            try bench.expectRefused(.dataTooLarge, from: .info, "A larger text that is looked for") {
                _ = try bench.keychain.info(for: query)
            }
        }
        list.add("The size of a text is that of its UTF-8") { bench in
            var query = password("s")
            query.comment = String(repeating: "\u{1F511}", count: 16 * 1024)
            try bench.keychain.store("v", query: query)
            query.comment = String(repeating: "\u{1F511}", count: 16 * 1024) + "x"
            try bench.expectRefused(.dataTooLarge, from: .store, "One byte more") {
                try bench.keychain.store("v", query: query, ifExists: .replace)
            }
        }
        list.add("An access group's name of more than 64 KiB is dataTooLarge") { bench in
            let keychain = bench.keychain.with {
                $0.accessGroup = AccessGroup(rawValue: String(repeating: "g", count: 64 * 1024 + 1))
            }
            try bench.expectRefused(.dataTooLarge, from: .store, "store") {
                try keychain.store("v", query: password("s"))
            }
        }
        list.add("A hundred and fifty items are listed, found and removed") { bench in
            for index in 0..<150 { try bench.keychain.store("\(index)", query: password("many", "u\(index)")) }
            try expectEqual(try bench.count(password("many")), 150, "All are listed")
            try expectEqual(try bench.keychain.retrieveAll(.data, query: password("many")).count, 150, "With values")
            for index in stride(from: 0, to: 150, by: 37) {
                try expectValue(try bench.value(password("many", "u\(index)")), bytes("\(index)"), "Each is found")
            }
            try expect(try bench.keychain.remove(password("many")), "They are removed")
            try expectEqual(try bench.count(password("many")), 0, "None is left")
        }
    }
}
