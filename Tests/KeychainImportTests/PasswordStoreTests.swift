// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import Glibc
import KeychainAPI
import Testing

@testable import KeychainImport

@Suite struct PasswordStoreTests {
    private func expectValue(_ items: [ImportedItem], _ service: String, _ account: String?, _ value: String) throws {
        let item = items.first {
            $0.attributes[.service] == .text(service) && $0.attributes[.account] == account.map { .text($0) }
        }
        #expect(try #require(item, "\(service)").value == SecureBytes(Data(value.utf8)))
    }

    @Test func entriesOfPassComeOver() async throws {
        let home = try PassHome()
        try home.insert("example.org/bob", "hunter2\n")
        try home.insert("wifi", "no line end")
        try home.insert("Übung/日本 語", "ü\n")
        try home.insert("empty", "")
        try home.insert("mail/work", "s3cret\nuser: eve@example.org\nnote: a\n\notpauth://totp/x?secret=abc")
        try home.insert("web", "pw\nLogin:  bob \nURL: https://Example.org:8443/login?token=1\n")
        try home.insert("web/only", "pw2\nurl: https://example.org\n")
        let contents = try await home.store().contents()
        let items = contents.items
        #expect(contents.skipped.isEmpty)
        try expectValue(items, "example.org", "bob", "hunter2")
        try expectValue(items, "wifi", nil, "no line end")
        try expectValue(items, "Übung", "日本 語", "ü")
        try expectValue(items, "empty", nil, "")
        try expectValue(items, "mail/work", "eve@example.org", "s3cret")
        let whole = "s3cret\nuser: eve@example.org\nnote: a\n\notpauth://totp/x?secret=abc"
        try expectValue(items, "password-store", "mail/work", whole)
        let sites = items.filter { $0.itemClass == .internetPassword }
        #expect(sites.map { $0.attributes[.account] } == [.text("bob"), .text("only")])
        #expect(sites[0].attributes[.server] == .text("example.org") && sites[0].attributes[.port] == .integer(8443))
        #expect(sites[0].attributes[.path] == .text("/login") && sites[0].label == "web")
        #expect(sites[0].value == SecureBytes(Data("pw".utf8)))
        #expect(items.count == 10)
        // Nothing of what is encrypted but account and place stands in an attribute.
        #expect(!items.flatMap(\.attributes).contains { "\($0.value)".contains("otpauth") })

        let keychain = Keychain(driver: MemoryDriver())
        #expect(try await keychain.importItems(items, ifExists: .fail).migrated == 10)
        let all = try await home.store().contents(.wholeFile)
        #expect(all.items.count == 7 && all.items.allSatisfy { $0.itemClass == .genericPassword })
        try expectValue(all.items, "mail", "work", whole)
    }

    @Test func binaryAndLargeEntriesComeByteForByte() throws {
        let home = try PassHome()
        let binary = Data([0xFF, 0x0A, 0, 0xFE]) + Data("\nuser: bob\n".utf8)
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: 32 + $0 % 90) })
        try home.encrypt(binary, "keys/raw")
        try home.encrypt(large, "large")
        let items = try home.store().contents().items
        #expect(items.map(\.value) == [SecureBytes(binary), SecureBytes(large)])
        #expect(items[0].attributes[.service] == .text("keys") && items[0].attributes[.account] == .text("raw"))
    }

    @Test func whatLeadsOutOfTheStoreIsNotFollowed() throws {
        let home = try PassHome()
        try home.insert("a/real", "1")
        let files = FileManager.default
        try files.createDirectory(atPath: home.path + "/.git", withIntermediateDirectories: true)
        try files.copyItem(atPath: home.path + "/a/real.gpg", toPath: home.path + "/.git/object.gpg")
        try files.moveItem(atPath: home.path + "/a/real.gpg", toPath: home.folder + "/outside.gpg")
        try files.copyItem(atPath: home.folder + "/outside.gpg", toPath: home.path + "/a/kept.gpg")
        try files.createSymbolicLink(atPath: home.path + "/link.gpg", withDestinationPath: "../outside.gpg")
        try files.createSymbolicLink(atPath: home.path + "/a/loop", withDestinationPath: "..")
        try files.createSymbolicLink(atPath: home.path + "/root", withDestinationPath: "/")
        #expect(mkfifo(home.path + "/pipe.gpg", 0o600) == 0)
        try Data("text".utf8).write(to: URL(fileURLWithPath: home.path + "/notes.txt"))
        let contents = try home.store().contents()
        #expect(contents.items.map(\.label) == ["a/kept"])
        #expect(contents.skipped == ["a/loop", "link.gpg", "pipe.gpg", "root"])
    }

    @Test func oneFailureIsNamedAndEndsTheImport() throws {
        let home = try PassHome()
        try home.insert("good", "1")
        try Data("no message".utf8).write(to: URL(fileURLWithPath: home.path + "/bad.gpg"))
        let corrupt = #expect(throws: KeychainError.self) { try home.store().contents() }
        #expect(corrupt?.code == .corrupt && corrupt?.message.contains("‘bad’") == true)
        // A message that is cut is not taken for a shorter one.
        let whole = try Data(contentsOf: URL(fileURLWithPath: home.path + "/good.gpg"))
        try whole.dropLast(20).write(to: URL(fileURLWithPath: home.path + "/bad.gpg"))
        let cut = #expect(throws: KeychainError.self) { try home.store().contents() }
        #expect(cut?.code == .corrupt)
        // Nor is what nobody has encrypted.
        try home.gpg(["--output", home.path + "/bad.gpg", "--yes", "--store"], input: Data("clear".utf8))
        let clear = #expect(throws: KeychainError.self) { try home.store().contents() }
        #expect(clear?.code == .corrupt)
    }

    @Test func aKeyThatIsMissingOrExpired() throws {
        let home = try PassHome(expires: "1d")
        try home.encrypt(Data("old".utf8), "entry")
        // What it decrypts is as before: looked at as if the day had passed.
        let later = try PasswordStore(path: home.path, environment: home.environment)
        try home.write("faked-system-time 20990101T000000!\n", "gpg/gpg.conf")
        #expect(try later.contents().items.map(\.value) == [SecureBytes(Data("old".utf8))])

        let other = try PassHome()
        let stranger = try PasswordStore(path: home.path, environment: other.environment)
        let error = #expect(throws: KeychainError.self) { try stranger.contents() }
        #expect(error?.code == .authenticationFailed && error?.message.contains("‘entry’") == true)
    }

    @Test func aLockedKeyAsksNobodyWhereThatIsNotAllowed() throws {
        let home = try PassHome(passphrase: "correct horse")
        try home.encrypt(Data("x".utf8), "entry")
        try home.gpgconf(["--kill", "gpg-agent"])
        let error = #expect(throws: KeychainError.self) { try home.store().contents(interaction: .never) }
        #expect(error?.code == .interactionNotAllowed)
        #expect(error?.message.contains("‘entry’") == true)
    }

    @Test func whatIsMissingIsNamed() throws {
        let home = try PassHome()
        let nowhere = try PasswordStore(path: home.folder + "/missing", environment: home.environment)
        #expect(#expect(throws: KeychainError.self) { try nowhere.contents() }?.code == .unavailable)
        let tools = try PasswordStore(
            path: home.path,
            environment: home.environment.merging(["PATH": "/nonexistent"]) { $1 }
        )
        let error = #expect(throws: KeychainError.self) { try tools.contents() }
        #expect(error?.code == .unavailable && error?.message.contains("gnupg") == true)
        #expect(throws: KeychainError.self) { try PasswordStore(environment: [:]) }
        let named = try PasswordStore(environment: ["HOME": "/h", "PASSWORD_STORE_DIR": "/x"])
        #expect(named.path == "/x")
        #expect(try PasswordStore(environment: ["HOME": "/h"]).path == "/h/.password-store")
    }

    @Test func cancellingEndsGPG() async throws {
        let home = try PassHome()
        try home.insert("entry", "1")
        // One that never answers.
        try home.write("#!/bin/sh\n: > \"$HOME/started\"\nexec sleep 1000\n", "bin/gpg2", mode: 0o700)
        let store = try PasswordStore(
            path: home.path,
            environment: home.environment.merging(["PATH": home.folder + "/bin:/usr/bin:/bin"]) { $1 }
        )
        let task = Task { try await store.contents() }
        while !FileManager.default.fileExists(atPath: home.folder + "/started") {
            try await Task.sleep(for: .milliseconds(5))
        }
        task.cancel()
        let error = await #expect(throws: KeychainError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
