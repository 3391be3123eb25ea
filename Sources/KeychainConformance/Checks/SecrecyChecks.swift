// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// A value that would be noticed anywhere.
private let marker = "s3cret-\u{1F511}-marker"

/// Everything that Swift can print of a thing.
private func renderings(_ thing: Any) -> [String] {
    var dumped = ""
    dump(thing, to: &dumped)
    return [String(describing: thing), String(reflecting: thing), dumped] + children(thing, depth: 6)
}

private func children(_ thing: Any, depth: Int) -> [String] {
    guard depth > 0 else { return [] }
    return Mirror(reflecting: thing).children.flatMap { child in
        [String(describing: child.value), String(reflecting: child.value)] + children(child.value, depth: depth - 1)
    }
}

/// Fails if a thing shows the marker, in any spelling that a printed value could have.
private func expectSilent(_ thing: Any, _ what: String, fileID: String = #fileID, line: Int = #line) throws {
    let data = bytes(marker)
    let hex = data.map { String($0, radix: 16) }.joined()
    let decimal = data.prefix(6).map { String($0) }
    let spellings = [
        marker, "s3cret", data.base64EncodedString(), hex, decimal.joined(separator: ", "),
        decimal.map { "- \($0)" }.joined(separator: "\n"),
    ]
    for text in renderings(thing) {
        let shown = spellings.contains { text.contains($0) }
        try expect(!shown, "\(what) does not show the value", fileID: fileID, line: line)
    }
}

extension ConformanceSuite {
    static let secrecy = CheckList.make(.secrecy) { list in
        list.add("Nothing that a store returns shows a value when it is printed, dumped or mirrored") { bench in
            let keychain = bench.keychain
            try keychain.store(marker, query: SecItemQuery<GenericPassword>.full)
            let query = SecItemQuery<GenericPassword>.sample
            try expectSilent(keychain, "A keychain")
            try expectSilent(query, "A query")
            for options in [SecReturnType.data, .info, .persistentReference, .all, [.data, .info]] {
                let value = try unwrap(try keychain.retrieve(options, query: query), "The item")
                try expectSilent(value, "What retrieve returns")
                try expectSilent([value], "What retrieve returns, in an array")
                try expectSilent(Optional(value) as Any, "What retrieve returns, in an optional")
                if case .dictionary(let info) = value { try expectSilent(info, "An info") }
            }
            try expectSilent(try keychain.retrieveAll(query: query), "A list")
            try expectSilent(try keychain.infoAll(for: query), "A list of infos")
            let secure: SecureBytes? = try keychain.retrieve(query)
            try expectSilent(secure as Any, "Secure bytes")
            try expectSilent(["value": secure], "Secure bytes in a dictionary")
            let stored = try keychain.store(marker, returning: .all, query: query, ifExists: .replace)
            try expectSilent(stored as Any, "What store returns")
        }
        list.add("An update, a key source and an encoded value do not show what they hold") { _ in
            var changes = SecItemUpdate<GenericPassword>()
            changes.setValue(marker)
            try expectSilent(changes, "An update")
            try expectSilent(KeySource.material(.passphrase(SecureBytes(bytes(marker)))), "A passphrase")
            try expectSilent(StoreOptions(keySource: .material(.key(SecureBytes(bytes(marker))))), "Options")
            try expectSilent(try JSONEncoded([marker]), "An encoded value")
            try expectSilent(KeychainChange<GenericPassword>.invalidated, "A change")
        }
        list.add("No error shows a value, whatever went wrong") { bench in
            let (keychain, spy) = bench.spied(maximumValueSize: 40)
            try keychain.store(marker, query: password("s"))
            var errors: [any Error] = []
            let collect = { (body: () throws -> Void) in do { try body() } catch { errors.append(error) } }
            collect { try keychain.store(marker, query: password("s")) }
            collect { try keychain.store(marker + marker + marker, query: password("t")) }
            collect { try keychain.store(marker, query: password("a\0")) }
            collect { let _: Int? = try keychain.retrieve(password("s")) }
            collect { let _: Bool? = try keychain.retrieve(password("s")) }
            collect { let _: JSONEncoded<[Int]>? = try keychain.retrieve(password("s")) }
            collect {
                var changes = SecItemUpdate<GenericPassword>()
                changes.setValue(marker)
                try keychain.update(password("missing"), changes)
            }
            collect {
                try keychain.store(
                    marker,
                    query: password("t"),
                    accessPolicy: AccessPolicy(.whenUnlocked, options: .or)
                )
            }
            for stage in [Spy.Stage.read, .write, .commit, .value] {
                spy.fail(at: stage, with: KeychainError(.io, "Something failed."))
                collect { try keychain.store(marker, query: password("u")) }
                collect { _ = try bench.value(password("s"), in: keychain) }
            }
            try expect(errors.count >= 13, "Every one of them fails")
            for error in errors { try expectSilent(error, "An error") }
        }
        list.add("No error of the driver shows the value that it was given") { bench in
            for (index, value) in awkwardValues.enumerated() {
                let secret = bytes(marker) + value.value
                do {
                    try bench.keychain.store(secret, query: password("s\(index)"))
                    try expectValue(try bench.value(password("s\(index)")), secret, "The value")
                } catch {
                    try expectSilent(error, "The error for “\(value.name)”")
                    throw error
                }
            }
        }
        list.add("The store's location and its errors name no key or passphrase") { bench in
            // The harness may have opened it with one: nothing that looks like a credential belongs in a location.
            for word in ["passphrase=", "password=", "key="] {
                try expect(!bench.keychain.location.lowercased().contains(word), "No credential in the location")
            }
            try expect(bench.keychain.description.contains(bench.keychain.location), "The description names the store")
        }
        list.add("Secure bytes are equal by content, and empty ones are empty") { _ in
            let first = SecureBytes(bytes(marker))
            try expect(first == SecureBytes(bytes(marker)), "Equal contents")
            try expect(first != SecureBytes(bytes(marker + "x")), "Another length")
            try expect(first != SecureBytes(bytes(String(marker.dropLast()) + "R")), "Another last byte")
            try expect(SecureBytes(Data()).isEmpty && SecureBytes(Data()) == SecureBytes(Data()), "Empty ones")
        }
    }
}
