// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@testable import KeychainImport

@Suite struct SecretToolTests {
    /// One item as secret-tool prints it.
    private func item(
        _ secret: String,
        label: String = "one",
        schema: String? = "org.freedesktop.Secret.Generic",
        _ attributes: [(String, String)] = [("service", "s"), ("username", "u")]
    ) -> String {
        "[/1]\nlabel = \(label)\nsecret = \(secret)\ncreated = 2026-12-01 02:42:10\nmodified = \n"
            + (schema.map { "schema = \($0)\n" } ?? "")
            + attributes.map { "attribute.\($0) = \($1)\n" }.joined()
    }

    private func items(_ text: String) throws -> [ImportedItem] {
        try SecretToolOutput.items(in: SecureBytes(Data(text.utf8)))
    }

    private func code(_ text: String) -> KeychainError? {
        #expect(throws: KeychainError.self, "\(text)") { try items(text) }
    }

    @Test(arguments: [
        "pw", "", "a\nb", "a\n", "\n", "\n\n", " a = b ", "created = yesterday", "attribute.", "[a", "ü\r\n\0",
    ])
    func valuesComeByteForByte(_ secret: String) throws {
        let found = try items(item(secret) + item("next", [("service", "s"), ("username", "v")]))
        #expect(found.map(\.value) == [SecureBytes(Data(secret.utf8)), SecureBytes(Data("next".utf8))])
        #expect(found[0].attributes[.service] == .text("s") && found[0].attributes[.account] == .text("u"))
        #expect(found[0].itemClass == .genericPassword && found[0].label == "one" && found[0].origin == "line 1")
        #expect(found[0].attributes[.comment] == nil)
    }

    @Test func binaryValuesComeByteForByte() throws {
        let parts = item("|").split(separator: "|").map { Data($0.utf8) }
        let value = Data([0xFF, 0, 0x0A, 0xFE, 0x0A])
        let found = try SecretToolOutput.items(in: SecureBytes(parts[0] + value + parts[1]))
        #expect(found.map(\.value) == [SecureBytes(value)])
    }

    @Test(arguments: [
        "a\nsecret = b", "a\nlabel = b", "a\n[/2]", "a\ncreated = ", "a\ncreated = 2026-12-01 02:42:10",
        "a\nmodified = ", "a\nschema = x", "a\nattribute.x = y",
        "a\ncreated = \nmodified = \nattribute.x = y\n[/2]\nlabel = b",
    ])
    func aSecretThatLooksLikeTheFormatIsRefused(_ secret: String) throws {
        let error = try #require(code(item(secret)))
        #expect([.ambiguous, .decode, .interactionNotAllowed].contains(error.code))
        #expect(error.message.contains("Line "))
        #expect(!error.message.contains("= b"))
    }

    @Test(arguments: [
        ("", KeychainError.Code.decode), ("[/1]", .decode), ("[/1]\n", .decode),
        ("[/1]\nlabel = a\n", .decode), ("[/1]\nlabel = a\ncreated = \nmodified = \n", .interactionNotAllowed),
        ("[/1]\nlabel = a\nsecret = b", .decode), ("[/1]\nlabel = a\nsecret = b\n", .decode),
        ("[/1]\nlabel = a\nb\nsecret = b\n", .decode),
    ])
    func whatIsNoOutputIsRefused(_ text: String, _ expected: KeychainError.Code) throws {
        if text.isEmpty { return #expect(try items(text).isEmpty) }
        #expect(code(text)?.code == expected)
        #expect(code(item("a", [("x", "y")]) + text)?.code == expected)
        #expect(code("x\n" + text)?.code == .decode)
    }

    @Test func attributesAreNeverGuessed() {
        #expect(code(item("a", []))?.message.contains("2>&1") == true)
        #expect(code(item("a", [("x", "y\nz")]))?.code == .ambiguous)
        #expect(code(item("a", [("x", "1"), ("x", "2")]))?.code == .ambiguous)
        #expect(code(item("a", [("x", "1 = 2")]))?.code == .ambiguous)
        #expect(code(item("a", [("x", "y")]) + "secret-tool: failed\n")?.code == .ambiguous)
        let own = code(item("a", [("keychain.class", "genp"), ("service", "s"), ("username", "u")]))
        #expect(own?.code == .unsupported)
    }

    @Test func attributesThatFitNothingAreKept() throws {
        let python = [("service", "s"), ("username", "u"), ("application", "Python \"keyring\"/library")]
        let docker = [("docker_cli", "1"), ("server", "https://index.docker.io/v1/"), ("username", "bob")]
        let network = [("server", "h"), ("port", "many"), ("user", "u"), ("protocol", "imap"), ("folder", "x")]
        let found = try items(
            item("1", python) + item("2", label: "d", schema: "io.docker.Credentials", docker)
                + item("3", label: "n", docker) + item("4", schema: nil, network)
        )
        #expect(found[0].attributes[.comment] == .text(#"{"application":"Python \"keyring\"/library"}"#))
        let all = #"{"docker_cli":"1","server":"https://index.docker.io/v1/","username":"bob"}"#
        #expect(found[1].itemClass == .genericPassword)
        #expect(found[1].attributes[.service] == .text("io.docker.Credentials"))
        #expect(found[1].attributes[.account] == .text(all) && found[1].label == "d")
        #expect(found[2].attributes[.service] == .text("n"))
        #expect(found[3].itemClass == .internetPassword)
        #expect(found[3].attributes[.protocol] == .text(ProtocolType.imap.rawValue))
        #expect(found[3].attributes[.port] == nil)
        #expect(found[3].attributes[.comment] == .text(#"{"folder":"x","port":"many"}"#))
    }

    @Test func allAreStoredOrNone() async throws {
        let keychain = Keychain(driver: MemoryDriver())
        let first = try items(item("1") + item("2", [("service", "s"), ("username", "v")]))
        #expect(try await keychain.importItems(first, ifExists: .fail).migrated == 2)
        let second = try items(item("3", [("service", "t"), ("username", "v")]) + item("4"))
        await #expect(throws: KeychainError.duplicateItem) { try await keychain.importItems(second, ifExists: .fail) }
        #expect(try await keychain.infoAll(for: SecItemQuery<GenericPassword>()).count == 2)
        let skipped = try await keychain.importItems(second, ifExists: .skip)
        #expect(skipped.migrated == 1 && skipped.skipped == 1)
        var query = SecItemQuery<GenericPassword>.credential(for: "s")
        query.account = "u"
        #expect(try await keychain.retrieve(query) == "1")
        #expect(try await keychain.importItems(second, ifExists: .replaceValue).migrated == 2)
        #expect(try await keychain.retrieve(query) == "4")
        #expect(try await keychain.importItems([], ifExists: .fail).migrated == 0)
    }

    @Test func twoItemsThatWouldBeOneAreNamed() throws {
        let keychain = Keychain(driver: MemoryDriver())
        let twice = try items(item("1") + item("2"))
        for conflict in MigrationConflict.allCases {
            let error = #expect(throws: KeychainError.self) { try keychain.importItems(twice, ifExists: conflict) }
            #expect(error?.code == .duplicateItem && error?.message.contains("line 1 and line 9") == true)
        }
        #expect(try keychain.infoAll(for: SecItemQuery<GenericPassword>()).isEmpty)
    }

    @Test func aDescriptionShowsNoValue() throws {
        let found = try items(item("s3cret"))
        #expect(!"\(found) \(String(reflecting: found))".contains("s3cret"))
        var dumped = ""
        dump(found, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }
}
