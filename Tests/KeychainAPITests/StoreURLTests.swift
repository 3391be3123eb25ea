// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@Suite struct StoreURLTests {
    @Test(arguments: [
        ("file:/srv/app.keychain", "file", "/srv/app.keychain"), ("file:", "file", ""), ("file:x", "file", "x"),
        ("file:///srv/x", "file", "/srv/x"), ("file:a:b", "file", "a:b"),
        ("file://localhost/srv/x", "file", "/srv/x"), ("file://LocalHost/x", "file", "/x"),
        ("file:////x", "file", "//x"), ("vault://host/x?y", "vault", "//host/x?y"), ("vault:///x", "vault", "/x"),
        ("vault://///x", "vault", "///x"), ("file:/a?b#c", "file", "/a?b#c"), ("file:%zz%", "file", "%zz%"),
        ("file:%2Fa b", "file", "%2Fa b"), ("secret-service:", "secret-service", ""), ("memory:", "memory", ""),
        ("secret-service:Login Übung", "secret-service", "Login Übung"), ("a+b-c.9:x", "a+b-c.9", "x"),
        ("file:\u{301}x", "file", "\u{301}x"), ("file:\r\nx", "file", "\r\nx"),
    ])
    func parses(text: Sample, driver: Sample, path: Sample) throws {
        let url = try StoreURL(parsing: text.text)
        #expect(url.driver.rawValue == driver.text)
        #expect(url.path.utf8.elementsEqual(path.text.utf8))
        #expect(url == StoreURL(driver: DriverIdentifier(rawValue: driver.text), path: path.text))
        #expect(try StoreURL(parsing: url.description) == url)
    }

    @Test(
        arguments: [
            "", ":", ":x", "file", "/srv/app.keychain", "FILE:/x", "1file:x", "fi le:x", "fïle:x", "file\u{301}:x",
            "file:a\0b",
            "-x:y", "\0:x", "file://host/x", "file://host", "file://", "file://localhost", "file://localhost:1/x",
            "file://bob@localhost/x", "file://./x", "file://?x", "file:///a?b", "file:///a#b", "file:///a%20b",
            "file:///a%", "file://localhost/%zz",
        ] as [Sample]
    )
    func refuses(text: Sample) {
        #expect(throws: KeychainError.Code.invalidParameter.error) { try StoreURL(parsing: text.text) }
    }

    @Test func aRefusalDoesNotQuoteTheText() {
        // A passphrase in the wrong variable must not end in a log.
        let error = #expect(throws: KeychainError.self) { try StoreURL(parsing: "hunter2") }
        #expect(error?.debugDescription.contains("hunter2") == false)
    }

    @Test(arguments: ["//host/x", "///x", "//", "/x", "x", ""])
    func whatIsPrintedNamesTheSameStore(path: String) throws {
        for driver in ["file", "vault"] as [DriverIdentifier] {
            let url = StoreURL(driver: driver, path: path)
            #expect(try StoreURL(parsing: url.description) == url)
        }
    }

    @Test func pathsAreComparedByTheirBytes() {
        let composed = StoreURL(driver: "file", path: "/caf\u{E9}")
        let decomposed = StoreURL(driver: "file", path: "/cafe\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(StoreURL(driver: "file", path: "/a") != StoreURL(driver: "memory", path: "/a"))
    }
}

@Suite struct KeySourceTests {
    @Test func parsesEachForm() throws {
        #expect(try KeySource(parsing: "prompt") == .prompt)
        #expect(try KeySource(parsing: "env:VAULT") == .environment("VAULT"))
        #expect(try KeySource(parsing: "file:/a:b c") == .file("/a:b c"))
        #expect(try KeySource(parsing: "file:///a") == .file("///a"))
        #expect(try KeySource(parsing: "fd:0") == .fileDescriptor(0))
        #expect(try KeySource(parsing: "fd:33") == .fileDescriptor(33))
        #expect(try KeySource(parsing: "credential:db") == .credential("db"))
        #expect(try KeySource(parsing: "keyfile:k") == .keyFile("k"))
        #expect(try KeySource(parsing: "file:\u{301}x") == .file("\u{301}x"))
    }

    @Test(
        arguments: [
            "", "prompt:", "prompt:x", "env:", "env", "file:", "fd:", "fd:-1", "fd:x", "fd:99999999999", "fd: 3",
            "credential:",
            "fd:+3", "fd:-0", "fd:0x3", "file://host/x", "file://localhost/x", "file://", "keyfile://host/k",
            "keyfile:", "ENV:X", "hunter2", ":x", "env:A\0B", "file:/a\0",
        ] as [Sample]
    )
    func refuses(text: Sample) {
        let error = #expect(throws: KeychainError.self) { try KeySource(parsing: text.text) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("hunter2") == false)
    }

    @Test func materialIsComparedByItsBytes() {
        let passphrase = KeyMaterial.passphrase(SecureBytes([1]))
        #expect(KeySource.material(passphrase) == .material(.passphrase(SecureBytes([1]))))
        #expect(KeySource.material(passphrase) != .material(.key(SecureBytes([1]))))
        #expect(KeySource.material(passphrase) != .material(.passphrase(SecureBytes([2]))))
    }
}
