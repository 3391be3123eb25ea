// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@Suite struct ConversionTests {
    private func roundTrip<Value: SecDataConvertible>(_ value: Value) throws -> Value {
        try Value(rawRepresentation: value.secureRepresentation)
    }

    private func expectKept<Value: SecDataConvertible & Equatable>(_ values: [Value], as texts: [String]) throws {
        for (value, text) in zip(values, texts) {
            #expect(value.rawRepresentation == Data(text.utf8))
            #expect(value.secureRepresentation == SecureBytes(Data(text.utf8)))
            #expect(try roundTrip(value) == value)
        }
    }

    @Test(arguments: [[], [0], [0, 10, 13, 0xFF, 0xC0, 0x80], Array(repeating: 7, count: 70_000)] as [[UInt8]])
    func bytesAreKept(_ bytes: [UInt8]) throws {
        #expect(try roundTrip(bytes) == bytes)
        #expect(try roundTrip(Data(bytes)) == Data(bytes))
        #expect(try roundTrip(SecureBytes(bytes)) == SecureBytes(bytes))
        #expect(bytes.rawRepresentation == Data(bytes))
        // A slice has indices of its own.
        let slice = Data([9, 9] + bytes).dropFirst(2)
        #expect(slice.secureRepresentation == SecureBytes(bytes))
    }

    @Test(
        arguments: ["", "plain", "NUL \0 in it", "line\r\nline\n", "e\u{301}", "\u{E9}", "🔑👩‍👩‍👧", "\u{FEFF}x"] as [Sample]
    )
    func textIsKept(_ sample: Sample) throws {
        let text = sample.text
        let kept = try roundTrip(text)
        // Byte by byte: Swift's own comparison ignores how a character is spelled.
        #expect(kept.utf8.elementsEqual(text.utf8))
        #expect(text.rawRepresentation == Data(text.utf8))
        #expect(text.secureRepresentation == SecureBytes(Data(text.utf8)))
    }

    @Test func textFromAnotherStorageIsKept() throws {
        let substring = String("abc hunter2 def".dropFirst(4).dropLast(4))
        #expect(substring.secureRepresentation == SecureBytes(Data("hunter2".utf8)))
        let bridged = NSString(string: "Schlüssel") as String
        #expect(bridged.secureRepresentation == SecureBytes(Data("Schlüssel".utf8)))
    }

    @Test(
        arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0x80], [0xF5, 0x80, 0x80, 0x80]]
            as [[UInt8]]
    )
    func bytesThatAreNotTextAreAnError(_ bytes: [UInt8]) {
        #expect(throws: (any Error).self) { try String(rawRepresentation: bytes) }
    }

    @Test func integersAreDecimalText() throws {
        try expectKept([0, -1, 42, .max, .min], as: ["0", "-1", "42", "9223372036854775807", "-9223372036854775808"])
    }

    @Test func truthValuesAreWords() throws {
        try expectKept([true, false], as: ["true", "false"])
    }

    @Test func doublesAreTheShortestText() throws {
        try expectKept(
            [
                0.1, -0.0, 1e-5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
                .leastNormalMagnitude, .pi, 5e20, 1 / 3,
            ] as [Double],
            as: [
                "0.1", "-0.0", "1e-05", "inf", "-inf", "1.7976931348623157e+308", "5e-324", "2.2250738585072014e-308",
                "3.141592653589793", "5e+20", "0.3333333333333333",
            ]
        )
        #expect(try roundTrip(-0.0).sign == .minus)
        #expect(try roundTrip(Double.nan).isNaN)
        #expect(Double.nan.rawRepresentation == Data("nan".utf8))
        #expect(try roundTrip(Double.signalingNaN).isNaN)
        #expect(try roundTrip(-Double.nan).isNaN)
    }

    @Test func floatsAreTheShortestText() throws {
        try expectKept(
            [0.1, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 16_777_216] as [Float],
            as: ["0.1", "-0.0", "inf", "-inf", "3.4028235e+38", "1e-45", "16777216.0"]
        )
        #expect(try roundTrip(Float.nan).isNaN)
    }

    @Test func everyBitPatternOfADoubleIsKept() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let number = Double(bitPattern: generator.next())
            guard !number.isNaN else { continue }
            #expect(try roundTrip(number).bitPattern == number.bitPattern)
        }
    }

    @Test func otherSpellingsOfANumberAreRead() throws {
        #expect(try Double(rawRepresentation: Data("42".utf8)) == 42)
        #expect(try Double(rawRepresentation: Data("1E3".utf8)) == 1000)
        #expect(try Int(rawRepresentation: Data("+5".utf8)) == 5)
    }

    @Test(arguments: ["", " 1", "1 ", "1\n", "1,5", "0x", "١", "1_000", "true", "1\0", "1\u{0}2"] as [Sample])
    func whatIsNoNumberIsAnError(_ sample: Sample) {
        let text = sample.text
        #expect(throws: (any Error).self) { try Int(rawRepresentation: Data(text.utf8)) }
        #expect(throws: (any Error).self) { try Double(rawRepresentation: Data(text.utf8)) }
        #expect(throws: (any Error).self) { try Float(rawRepresentation: Data(text.utf8)) }
    }

    @Test func numbersThatATypeCannotHoldAreAnError() {
        for text in ["9223372036854775808", "-9223372036854775809", "1.0"] {
            #expect(throws: (any Error).self) { try Int(rawRepresentation: Data(text.utf8)) }
        }
        for text in ["1e400", "-1e400", "infinity"] {
            #expect(throws: (any Error).self) { try Double(rawRepresentation: Data(text.utf8)) }
        }
        let double = Double(Float.greatestFiniteMagnitude) * 10
        #expect(throws: (any Error).self) { try Float(rawRepresentation: double.rawRepresentation) }
    }

    @Test(arguments: ["True", "TRUE", "1", "0", "yes", "", "true\n", "\0"] as [Sample])
    func whatIsNoTruthValueIsAnError(_ sample: Sample) {
        #expect(throws: (any Error).self) { try Bool(rawRepresentation: Data(sample.text.utf8)) }
    }
}

/// Values through a keychain, where conversion errors become `decode`.
@Suite struct DecodingTests {
    private struct Session: Codable, Equatable, Sendable {
        var user: String
        var expires: Date
        var token: Data
        var url: String
    }

    /// A stand-in of the shape that swift-crypto's keys have.
    fileprivate struct SigningKey: Sendable, Equatable {
        let rawRepresentation: Data

        init<D: ContiguousBytes>(rawRepresentation data: D) throws {
            let bytes = data.withUnsafeBytes { Data($0) }
            guard bytes.count == 32 else { throw Wrong(bytes: bytes) }
            rawRepresentation = bytes
        }
    }

    /// An error that quotes what it could not read, as a careless type might throw it.
    private struct Wrong: Error {
        let bytes: Data
    }

    private let keychain = Keychain(driver: MemoryDriver())

    @Test func jsonIsCanonical() throws {
        let session = Session(user: "bob", expires: Date(timeIntervalSince1970: 1.5), token: Data([1]), url: "a/b")
        let encoded = try JSONEncoded(session)
        let text = #"{"expires":1.5,"token":"AQ==","url":"a/b","user":"bob"}"#
        #expect(encoded.rawRepresentation == Data(text.utf8))
        try keychain.store(encoded, query: .credential(for: "session"))
        let read: JSONEncoded<Session>? = try keychain.retrieve(.credential(for: "session"))
        #expect(read?.value == session)
        #expect(read?.rawRepresentation == Data(text.utf8))
        #expect(try JSONEncoded("fragment").rawRepresentation == Data("\"fragment\"".utf8))
    }

    @Test func whatHasNoJSONFormIsInvalid() {
        let error = #expect(throws: KeychainError.self) { try JSONEncoded([Double.infinity, 4242]) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.debugDescription.contains("4242") == false)
    }

    @Test func aTypeOfSwiftCryptosShapeConforms() throws {
        let key = try SigningKey(rawRepresentation: Data(repeating: 3, count: 32))
        try keychain.store(key, query: .credential(for: "key"))
        #expect(try keychain.retrieve(.credential(for: "key")) == key)
    }

    @Test func decodeErrorsQuoteNothing() throws {
        let secret = "hunter2 \u{1F511}"
        try keychain.store(secret, query: .credential(for: "s"))
        try keychain.store(Data([0xFF, 0x68, 0x75]), query: .credential(for: "bytes"))
        func failure<Value: SecDataConvertible>(_ type: Value.Type, _ service: String) -> KeychainError? {
            #expect(throws: KeychainError.self) { _ = try keychain.retrieve(.credential(for: service)) as Value? }
        }
        let failures = [
            failure(Int.self, "s"), failure(Bool.self, "s"), failure(Double.self, "s"), failure(SigningKey.self, "s"),
            failure(JSONEncoded<Session>.self, "s"), failure(String.self, "bytes"),
        ]
        for failure in failures {
            let error = try #require(failure)
            #expect(error.code == .decode)
            #expect(error.operation == .retrieve)
            #expect(error.location == keychain.location)
            #expect(error.underlying == nil)
            #expect(!error.debugDescription.contains("hunter2"))
            #expect(!String(reflecting: error).contains("aHVudGVy"))
        }
        #expect(failures[0]?.message.contains("Int") == true)
        // The item is as it was.
        #expect(try keychain.retrieve(.credential(for: "s")) == secret)
    }

    @Test func asynchronousReadingDecodesTheSame() async throws {
        try await keychain.store("nine", query: .credential(for: "s"))
        await #expect(throws: KeychainError.Code.decode.error) {
            _ = try await keychain.retrieve(.credential(for: "s")) as Int?
        }
    }
}

extension DecodingTests.SigningKey: SecDataConvertible {}
