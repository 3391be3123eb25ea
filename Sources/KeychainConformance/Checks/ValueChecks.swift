// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// A value with a codec of its own.
private struct Session: Codable, Equatable, Sendable {
    var token: String
    var expires: Date?
    var scopes: [String]
    var key: Data
}

/// A type of the shape that swift-crypto's keys have.
private struct KeyLike: SecDataConvertible, Equatable {
    struct WrongSize: Error {}

    let bytes: [UInt8]

    init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        bytes = rawRepresentation.withUnsafeBytes { Array($0) }
        if bytes.count != 32 { throw WrongSize() }
    }

    var rawRepresentation: Data { Data(bytes) }
}

extension ConformanceSuite {
    static let awkwardValues: [(name: String, value: Data)] = [
        ("An empty value", Data()),
        ("A single NUL", Data([0])),
        ("A value with NUL inside", bytes("before\0after")),
        ("A value that begins with NUL", bytes("\0after")),
        ("A value that ends with NUL", bytes("before\0")),
        ("A single newline", bytes("\n")),
        ("A value with newlines", bytes("one\ntwo\r\nthree\rfour\n")),
        ("A value with blanks at both ends", bytes("  \t value \t ")),
        ("A value of blanks alone", bytes("   ")),
        ("A value with backslashes", bytes("\\n\\0\\\\ \\x41 \\u{41} \\")),
        ("A value with quotes and signs of shells", bytes("'\"`$HOME$(id)`;|&<>*?[]{}!#%")),
        ("Invalid UTF-8", Data([0xFF, 0xFE, 0x80, 0xC0, 0xAF, 0xED, 0xA0, 0x80])),
        ("A cut UTF-8 sequence", Data([0x61, 0xE2, 0x82])),
        ("A byte order mark", Data([0xEF, 0xBB, 0xBF, 0x61])),
        ("Every byte from 0 to 255", Data(0...255)),
        ("Emoji and decomposed text", bytes("\u{1F511}\u{1F468}\u{200D}\u{1F469} e\u{301} \u{202E}rtl")),
        ("Text that looks like base64", bytes("c3dpZnQ=")),
        ("Text that looks like a number", bytes("0x1F")),
        ("Text that looks like JSON", bytes("{\"a\": [1, null, \"\\u0000\"]}")),
        ("Text that looks like an envelope of another library", bytes("go-keyring-base64:c3dpZnQ=")),
        ("Text that looks like an envelope with a version", bytes("keychain1:AAAA:00000000")),
        ("Text that looks like an envelope with a magic", bytes("$keychain$v=1$c3dpZnQ$deadbeef")),
        ("Control characters", Data((1...31).map { UInt8($0) } + [0x7F])),
        ("A long line", Data(repeating: 0x78, count: 100_000)),
        ("A value of 4095, one of 4096 and one of 4097 bytes", Data(repeating: 0x5A, count: 4_097)),
    ]

    static let values = CheckList.make(.values) { list in
        for (name, value) in awkwardValues {
            list.add("\(name) round-trips to the byte, by every verb that writes and reads") { bench in
                let keychain = bench.keychain
                try keychain.store(value, query: password("stored"))
                try keychain.store("other", query: password("replaced"))
                try keychain.store(value, query: password("replaced"), ifExists: .replace)
                try keychain.store("other", query: password("revalued"))
                try keychain.store(value, query: password("revalued"), ifExists: .replaceValue)
                try keychain.store("other", query: password("updated"))
                var changes = SecItemUpdate<GenericPassword>()
                changes.setValue(value)
                try keychain.update(password("updated"), changes)
                for service in ["stored", "replaced", "revalued", "updated"] {
                    try expectValue(try bench.value(password(service)), value, service)
                    let bytes: [UInt8]? = try keychain.retrieve(password(service))
                    try expect(bytes == Array(value), "\(service), as an array of bytes")
                    let secure: SecureBytes? = try keychain.retrieve(password(service))
                    try expect(secure == SecureBytes(value), "\(service), as secure bytes")
                }
                for case .dictionary(let info) in try keychain.retrieveAll(query: SecItemQuery<GenericPassword>()) {
                    try expectValue(info.data, value, "retrieveAll")
                }
            }
        }
        list.add("Values of 1 MiB round-trip to the byte in every class") { bench in
            var generator = SeededGenerator(seed: 1)
            let size = min(1 << 20, bench.keychain.driver.maximumValueSize)
            let value = Data((0..<size).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 11) })
            try bench.keychain.store(value, query: SecItemQuery<GenericPassword>.sample)
            try bench.keychain.store(value, query: SecItemQuery<InternetPassword>.sample)
            try bench.keychain.store(value, query: SecItemQuery<SecKey>.sample)
            try bench.keychain.store(value, query: SecItemQuery<SecCertificate>.sample)
            for item in try snapshot(bench.keychain) { try expectValue(item.value, value, "A \(item.itemClass)") }
        }
        list.add("Empty is not missing and not corrupt") { bench in
            try bench.keychain.store("", query: password("s"))
            let text: String? = try bench.keychain.retrieve(password("s"))
            try expect(text == "", "An empty text is a text")
            try expectValue(try bench.value(password("s")), Data(), "No bytes are a value")
            try expectValue(try bench.value(password("t")), nil, "A missing item has none")
            try expect(try bench.keychain.retrieve(.data, query: password("s")) == .data(Data()), "With a return type")
        }
        list.add("Bytes that are not UTF-8 throw decode as String, and are not lost") { bench in
            try bench.keychain.store(Data([0x61, 0xFF]), query: password("s"))
            try expectThrows(.decode, from: .retrieve, "Never nil, never replaced characters") {
                let _: String? = try bench.keychain.retrieve(password("s"))
            }
            try expectValue(try bench.value(password("s")), Data([0x61, 0xFF]), "As Data they are there")
        }
        list.add("Bytes that are not of the type that is asked for throw decode, never nil") { bench in
            try bench.keychain.store("not a number", query: password("s"))
            try expectThrows(.decode, from: .retrieve, "Int") {
                let _: Int? = try bench.keychain.retrieve(password("s"))
            }
            try expectThrows(.decode, from: .retrieve, "Bool") {
                let _: Bool? = try bench.keychain.retrieve(password("s"))
            }
            try expectThrows(.decode, from: .retrieve, "Double") {
                let _: Double? = try bench.keychain.retrieve(password("s"))
            }
            try expectThrows(.decode, from: .retrieve, "Float") {
                let _: Float? = try bench.keychain.retrieve(password("s"))
            }
            try expectThrows(.decode, from: .retrieve, "JSON") {
                let _: JSONEncoded<Session>? = try bench.keychain.retrieve(password("s"))
            }
            try expectThrows(.decode, from: .retrieve, "A key") {
                let _: KeyLike? = try bench.keychain.retrieve(password("s"))
            }
        }
        list.add("Truth values have one form") { bench in
            for (value, form) in [(true, "true"), (false, "false")] {
                try bench.keychain.store(value, query: password(form))
                try expectValue(try bench.value(password(form)), bytes(form), "The bytes")
                let read: Bool? = try bench.keychain.retrieve(password(form))
                try expect(read == value, "The value")
            }
            for text in ["", "1", "yes", "TRUE", "true\n", " true"] {
                try bench.keychain.store(text, query: password("s"), ifExists: .replace)
                try expectThrows(.decode, "Another text is no truth value") {
                    let _: Bool? = try bench.keychain.retrieve(password("s"))
                }
            }
        }
        list.add("Whole numbers have one form, at their limits as well") { bench in
            for value in [0, 1, -1, 42, Int.max, Int.min] {
                try bench.keychain.store(value, query: password("s"), ifExists: .replace)
                try expectValue(try bench.value(password("s")), bytes("\(value)"), "Decimal digits")
                let read: Int? = try bench.keychain.retrieve(password("s"))
                try expectEqual(read, value, "The value")
            }
            for text in ["", " 1", "1 ", "1\n", "0x10", "1.0", "9223372036854775808", "\u{661}"] {
                try bench.keychain.store(text, query: password("s"), ifExists: .replace)
                try expectThrows(.decode, "Another text is no number") {
                    let _: Int? = try bench.keychain.retrieve(password("s"))
                }
            }
        }
        list.add("Floating-point numbers read back as the same number") { bench in
            let doubles: [Double] = [
                0, -0.0, 0.1, 1 / 3, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNormalMagnitude,
                .infinity, -.infinity, 1e100, 123_456_789.123_456_79,
            ]
            for value in doubles {
                try bench.keychain.store(value, query: password("s"), ifExists: .replace)
                let read: Double? = try bench.keychain.retrieve(password("s"))
                try expect(read?.bitPattern == value.bitPattern, "\(value), to the bit")
            }
            for value in [0, -0.0, 0.1, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity] as [Float] {
                try bench.keychain.store(value, query: password("s"), ifExists: .replace)
                let read: Float? = try bench.keychain.retrieve(password("s"))
                try expect(read?.bitPattern == value.bitPattern, "\(value), to the bit")
            }
            try bench.keychain.store(Double.nan, query: password("s"), ifExists: .replace)
            let read: Double? = try bench.keychain.retrieve(password("s"))
            try expect(read?.isNaN == true, "Not a number stays not a number")
            try bench.keychain.store(0.1, query: password("s"), ifExists: .replace)
            try expectValue(try bench.value(password("s")), bytes("0.1"), "The shortest text")
        }
        list.add("A Codable value round-trips through its codec") { bench in
            let session = Session(
                token: "a\0b\u{1F511}",
                expires: Date(timeIntervalSince1970: 1_700_000_000.5),
                scopes: ["", "x"],
                key: Data(0...255)
            )
            try bench.keychain.store(try JSONEncoded(session), query: password("s"))
            let read: JSONEncoded<Session>? = try bench.keychain.retrieve(password("s"))
            try expect(read?.value == session, "The same value")
        }
        list.add("A type of the shape of swift-crypto's keys round-trips") { bench in
            let key = try KeyLike(rawRepresentation: Data((0..<32).map { UInt8($0) }))
            try bench.keychain.store(key, query: SecItemQuery<SecKey>.key(for: "tag"))
            let read: KeyLike? = try bench.keychain.retrieve(SecItemQuery<SecKey>.key(for: "tag"))
            try expect(read == key, "The same key")
        }
        list.add("Text is stored as UTF-8, without anything around it") { bench in
            try bench.keychain.store("cafe\u{301}", query: password("s"))
            try expectValue(try bench.value(password("s")), Data([0x63, 0x61, 0x66, 0x65, 0xCC, 0x81]), "The bytes")
            let read: String? = try bench.keychain.retrieve(password("s"))
            try expect(read.map { Array($0.utf8) } == Array("cafe\u{301}".utf8), "No normalization")
        }
    }
}
