// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    static let retrieve = CheckList.make(.retrieve) { list in
        list.add("Where nothing matches, retrieve and info are nil, retrieveAll and infoAll are empty") { bench in
            try bench.keychain.store("v", query: password("there"))
            let query = password("missing")
            try expectValue(try bench.value(query), nil, "retrieve")
            try expect(try bench.keychain.retrieve(.all, query: query) == nil, "retrieve with a return type")
            try expect(try bench.keychain.info(for: query) == nil, "info")
            try expect(try bench.keychain.retrieveAll(query: query).isEmpty, "retrieveAll")
            try expect(try bench.keychain.infoAll(for: query).isEmpty, "infoAll")
        }
        list.add("In an empty store every class is empty") { bench in
            try expectEqual(try bench.count(SecItemQuery<GenericPassword>()), 0, "Generic passwords")
            try expectEqual(try bench.count(SecItemQuery<InternetPassword>()), 0, "Internet passwords")
            try expectEqual(try bench.count(SecItemQuery<SecKey>()), 0, "Keys")
            try expectEqual(try bench.count(SecItemQuery<SecCertificate>()), 0, "Certificates")
            try expectEqual(try bench.count(SecItemQuery<SecIdentity>()), 0, "Identities")
        }
        list.add("retrieve gives the form that its return type asks for") { bench in
            try bench.keychain.store("v", query: password("s", "a"))
            let info = try unwrap(try bench.keychain.info(for: password("s")), "The item")
            let query = password("s")
            try expect(try bench.keychain.retrieve([], query: query) == nil, "Nothing for no option")
            try expect(try bench.keychain.retrieve(.data, query: query) == .data(bytes("v")), "The value")
            let reference = try bench.keychain.retrieve(.persistentReference, query: query)
            try expect(reference == .persistentReference(info.persistentReference), "The reference")
            for options in [SecReturnType.info, [.info, .persistentReference]] {
                guard case .dictionary(let found)? = try bench.keychain.retrieve(options, query: query) else {
                    throw ConformanceFailure("Attributes come as a dictionary")
                }
                try expect(found == info && found.data == nil, "The attributes without the value")
            }
            for options in [SecReturnType.all, [.data, .info], [.data, .persistentReference]] {
                guard case .dictionary(let found)? = try bench.keychain.retrieve(options, query: query) else {
                    throw ConformanceFailure("Two options come as a dictionary")
                }
                try expectValue(found.data, bytes("v"), "The value is in it")
                try expectEqual(found.account, "a", "The attributes are in it")
                try expectEqual(found.persistentReference, info.persistentReference, "The reference is in it")
            }
        }
        list.add("retrieveAll gives every match in the form that is asked for") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store(account, query: password("s", account)) }
            let infos = try bench.keychain.infoAll(for: password("s"))
            let query = password("s")
            try expect(try bench.keychain.retrieveAll([], query: query).isEmpty, "Nothing for no option")
            let data = try bench.keychain.retrieveAll(.data, query: query)
            try expect(data == infos.map { .data(bytes($0.account ?? "")) }, "The values, in order")
            let references = try bench.keychain.retrieveAll(.persistentReference, query: query)
            try expect(references == infos.map { .persistentReference($0.persistentReference) }, "The references")
            for case .dictionary(let found) in try bench.keychain.retrieveAll(query: query) {
                try expectValue(found.data, bytes(found.account ?? ""), "Each has its own value")
            }
        }
        list.add("Values of a list belong to their items") { bench in
            for index in 0..<40 {
                let value = Data(repeating: UInt8(index), count: index * 37)
                try bench.keychain.store(value, query: login("host", "u\(index)"))
            }
            let all = try bench.keychain.retrieveAll(query: login("host"))
            try expectEqual(all.count, 40, "All of them")
            for case .dictionary(let info) in all {
                let index = Int(info.account?.dropFirst() ?? "") ?? -1
                try expectValue(info.data, Data(repeating: UInt8(index), count: index * 37), "The item's own value")
            }
        }
        list.add("info never has the value") { bench in
            try bench.keychain.store("v", query: password("s"))
            try expect(try bench.keychain.info(for: password("s"))?.data == nil, "info")
            try expect(try bench.keychain.infoAll(for: password("s")).allSatisfy { $0.data == nil }, "infoAll")
        }
        list.add("info and retrieve without the value decrypt nothing") { bench in
            let (keychain, spy) = bench.spied()
            for account in ["a", "b"] { try keychain.store("v", query: password("s", account)) }
            _ = try keychain.info(for: password("s"))
            _ = try keychain.infoAll(for: password("s"))
            _ = try keychain.retrieve([.info, .persistentReference], query: password("s"))
            _ = try keychain.retrieveAll(.persistentReference, query: password("s"))
            try expectEqual(spy.count(.value), 0, "No value was read")
        }
        list.add("retrieve decrypts the one value that it gives") { bench in
            let (keychain, spy) = bench.spied()
            for account in ["a", "b", "c"] { try keychain.store("v", query: password("s", account)) }
            let value: Data? = try keychain.retrieve(password("s"))
            try expectValue(value, bytes("v"), "The value")
            try expectEqual(spy.count(.value), 1, "One value was read")
        }
        list.add("Reading changes nothing") { bench in
            try bench.keychain.store("v", query: password("s"))
            let before = try snapshot(bench.keychain)
            for _ in 0..<3 {
                _ = try bench.value(password("s"))
                _ = try bench.keychain.infoAll(for: password("s"))
                _ = try bench.keychain.contains(password("s"))
            }
            try expect(try snapshot(bench.keychain) == before, "Not even a date")
        }
        list.add("An item that vanishes while a list is read does not fail the list") { bench in
            for account in ["a", "b", "c"] { try bench.keychain.store(account, query: password("s", account)) }
            let keychain = Keychain(
                driver: VanishingDriver(base: bench.keychain.driver),
                accessGroup: bench.keychain.accessGroup
            )
            let values = try keychain.retrieveAll(.data, query: password("s"))
            try expectEqual(values.count, 2, "The other two are given")
            let first: Data? = try keychain.retrieve(password("s"))
            try expect(first != nil, "Where one is wanted, the next one is given")
        }
    }

    static let contains = CheckList.make(.contains) { list in
        list.add("contains is true for an item and false without one") { bench in
            try expect(try !bench.keychain.contains(password("s")), "Not before it is stored")
            try bench.keychain.store(Data(), query: password("s"))
            try expect(try bench.keychain.contains(password("s")), "An empty value is an item")
            try bench.keychain.remove(password("s"))
            try expect(try !bench.keychain.contains(password("s")), "Not after it was removed")
        }
        list.add("contains decrypts no value") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store("v", query: password("s"))
            try expect(try keychain.contains(password("s")), "It is there")
            try expectEqual(spy.count(.value), 0, "No value was read")
            spy.fail(at: .value, with: KeychainError(.corrupt, "The value is damaged."))
            try expect(try keychain.contains(password("s")), "A damaged value is still an item")
        }
        list.add("contains works for every class") { bench in
            try bench.keychain.store("v", query: SecItemQuery<InternetPassword>.sample)
            try bench.keychain.store("v", query: SecItemQuery<SecKey>.sample)
            try bench.keychain.store("v", query: SecItemQuery<SecCertificate>.sample)
            try expect(try bench.keychain.contains(SecItemQuery<InternetPassword>.sample), "An internet password")
            try expect(try bench.keychain.contains(SecItemQuery<SecKey>.sample), "A key")
            try expect(try bench.keychain.contains(SecItemQuery<SecCertificate>.sample), "A certificate")
            try expect(try !bench.keychain.contains(SecItemQuery<GenericPassword>()), "No generic password")
        }
    }
}

/// A driver whose oldest match vanishes between search and reading, as in a store that others write to.
private final class VanishingDriver: KeychainDriver {
    private let base: any KeychainDriver

    init(base: any KeychainDriver) {
        self.base = base
    }

    var identifier: DriverIdentifier { base.identifier }
    var location: String { base.location }
    var capabilities: DriverCapabilities { base.capabilities }
    var maximumValueSize: Int { base.maximumValueSize }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try base.read(call) { (reader) throws(KeychainError) in try body(Reader(base: reader)) }
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try base.write(call, body)
    }

    private struct Reader: RecordReader {
        let base: any RecordReader

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try base.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            let oldest = try base.records(RecordSelection(itemClass: record.itemClass, accessGroup: record.accessGroup))
                .min { $0.isOrderedBefore($1) }
            if oldest?.reference == record.reference { throw .itemNotFound }
            return try base.value(of: record)
        }
    }
}
