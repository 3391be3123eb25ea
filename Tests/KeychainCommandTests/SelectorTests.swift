// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@testable import KeychainCommand

struct SelectorTests {
    private func selector(_ arguments: String...) throws -> Selector {
        try Selector(ArgumentParser.parse(arguments, environment: [:]))
    }

    private func code(_ arguments: String...) -> KeychainError.Code? {
        do {
            _ = try Selector(ArgumentParser.parse(arguments, environment: [:]))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func serviceAndAccount() throws {
        let selector = try selector("get", "svc", "bob")
        #expect(selector.itemClass == .genericPassword)
        #expect(selector.attributes == [.service: .text("svc"), .account: .text("bob")])
        #expect(try self.selector("get", "svc").attributes == [.service: .text("svc")])
        #expect(try self.selector("get", "svc", "").attributes[.account] == .text(""))
    }

    @Test func aURLAndAnAccount() throws {
        let selector = try selector("get", "--url", "https://Example.com:8443/api", "bob", "--security-domain", "r")
        #expect(selector.itemClass == .internetPassword)
        #expect(
            selector.attributes == [
                .server: .text("example.com"), .protocol: .text("htps"), .port: .integer(8443), .path: .text("/api"),
                .account: .text("bob"), .securityDomain: .text("r"),
            ]
        )
    }

    @Test func aURLWithAPasswordIsRefusedWithoutRepeatingIt() {
        let error = #expect(throws: KeychainError.self) { try selector("get", "--url", "https://bob:hunter2@h/") }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("hunter2") == false)
        #expect(code("get", "--url", "https://bob@h/") == .invalidParameter)
        #expect(code("get", "--url", "no url") == .invalidParameter)
    }

    @Test(arguments: [
        "https://h/a?b", "https://h/?", "https://h/a#b", "https://h/#", "https://h/%", "https://h/%zz", "https://h/a%2",
        "https://h/%ff", "https://h/%+1", "https://h%zz/", "https://h:99999999999999999999/", "https://h:65536/",
        "https://h:+80/", "https://h:0x50/",
    ])
    func whatIsNotUnderstoodOfAURLIsRefused(url: String) {
        // Left out, it would name another item; without its path, for example, every one of the host.
        #expect(code("rm", "--url", url) == .invalidParameter)
    }

    @Test func escapesOfAURLAreDecoded() throws {
        let path = try selector("get", "--url", "https://h/100%25%20%3f").attributes[.path]
        #expect(path == .text("/100% ?"))
    }

    @Test func aClassWithAttributes() throws {
        let selector = try selector("get", "--class", "key", "--tag", "t", "--key-class", "private", "--key-type", "EC")
        #expect(selector.itemClass == .key)
        #expect(
            selector.attributes == [
                .applicationTag: .data(Data("t".utf8)), .keyClass: .text("1"), .keyType: .text("73"),
            ]
        )
        #expect(try self.selector("get", "--class", "certificate").itemClass == .certificate)
        #expect(code("get", "--class", "thing") == .invalidParameter)
        #expect(code("get", "--class", "key", "svc") == .invalidParameter)
    }

    @Test func aReferenceStandsAlone() throws {
        let uuid = UUID()
        let selector = try selector("get", "--ref", uuid.uuidString)
        #expect(selector.reference == uuid)
        #expect(selector.itemClass == nil)
        #expect(selector.classes == ItemClass.stored)
        #expect(code("get", "--ref", uuid.uuidString, "--label", "x") == .invalidParameter)
        #expect(code("get", "--ref", uuid.uuidString, "--class", "key") == .invalidParameter)
        #expect(code("get", "--ref", uuid.uuidString, "svc") == .invalidParameter)
        #expect(code("get", "--ref", "x") == .invalidParameter)
        #expect(try self.selector("get", "--ref", uuid.uuidString.lowercased()).reference == uuid)
        #expect(code("get", "--ref", "+\(uuid.uuidString.dropFirst())") == .invalidParameter)
    }

    @Test func theSameAttributeTwiceIsRefused() {
        #expect(code("get", "svc", "--service", "x") == .invalidParameter)
        #expect(code("get", "svc", "bob", "--account", "x") == .invalidParameter)
        #expect(code("get", "--url", "https://h:1", "--port", "2") == .invalidParameter)
        #expect(code("get", "--class", "key", "--tag", "a", "--application-tag", "YQ==") == .invalidParameter)
    }

    @Test func anAttributeOfAnotherClassIsRefused() {
        #expect(code("get", "svc", "--port", "1") == .invalidParameter)
        #expect(code("get", "--url", "https://h", "--generic", "YQ==") == .invalidParameter)
        #expect(code("get", "--class", "certificate", "--tag", "x") == .invalidParameter)
        #expect(code("get", "--class", "identity", "--tag", "x", "--issuer", "YQ==") == nil)
    }

    @Test func aCommandThatChangesThingsNeedsToKnowWhich() {
        #expect(code("rm") == .invalidParameter)
        #expect(code("rm", "--class", "key") == .invalidParameter)
        #expect(code("update", "--set-label", "x") == .invalidParameter)
        #expect(code("get") == .invalidParameter)
        #expect(code("contains") == .invalidParameter)
        #expect(code("contains", "--class", "key") == nil)
        #expect(code("set", "--class", "identity", "--label", "x") == .invalidParameter)
        #expect(code("set", "svc", "--synchronizable", "any") == .invalidParameter)
        #expect(code("set", "--class", "key") == .invalidParameter)
    }

    @Test func aListingLooksWhereTheAttributesAre() throws {
        #expect(try selector("ls").classes == ItemClass.stored)
        #expect(try selector("ls", "--label", "x").classes == ItemClass.stored)
        #expect(try selector("ls", "--server", "h").classes == [.internetPassword])
        #expect(try selector("ls", "--account", "x").classes == [.genericPassword, .internetPassword])
        #expect(try selector("ls", "svc").classes == [.genericPassword])
    }

    @Test func synchronizability() throws {
        #expect(try selector("get", "svc").synchronizable == nil)
        #expect(try selector("get", "svc", "--synchronizable", "any").synchronizable == .any)
        #expect(try selector("get", "svc", "--synchronizable", "yes").synchronizable == .synchronizable)
        #expect(code("get", "svc", "--synchronizable", "true") == .invalidParameter)
    }

    @Test func everyAttributeHasItsOption() {
        for itemClass in ItemClass.stored {
            for attribute in AttributeSchema.schema(of: itemClass).all where attribute.name != .accessControl {
                let option = AttributeOption.all.first { $0.name == attribute.name }
                #expect(option?.form == attribute.form)
                #expect(option?.classes.contains(itemClass) == true)
            }
        }
        let names = AttributeOption.all.map(\.optionName)
        #expect(Set(names).count == names.count)
        #expect(
            names.contains("subject-key-id") && names.contains("key-size-in-bits") && names.contains("is-invisible")
        )
    }

    @Test(arguments: [
        ("creator", "abcd", "abcd"), ("type", "0xff", "0xff"), ("type", "0x30786666", "0x30786666"),
        ("protocol", "https", "https"),
        ("protocol", "zzzz", "zzzz"), ("key-class", "private", "private"), ("key-type", "rsa", "rsa"),
        ("generic", "AP8K", "AP8K"), ("port", "8443", "8443"),
        ("certificate-type", "-1", "-1"), ("is-invisible", "yes", "yes"), ("label", "", ""),
        ("accessible", "when-unlocked-this-device-only", "when-unlocked-this-device-only"),
    ])
    func whatIsPrintedCanBeTyped(name: String, text: String, printed: String) throws {
        let option = try #require(AttributeOption.named(name))
        let value = try AttributeText.parse(text, option)
        #expect(value.form == option.form)
        #expect(AttributeText.format(value, option.name) == printed)
    }

    @Test(arguments: [
        ("creator", "abc"), ("type", "äbcd"), ("generic", "!"), ("port", "x"), ("port", "1.5"),
        ("port", "+1"), ("port", "0x10"), ("port", " 1"), ("port", "1e3"), ("port", ""), ("port", "-"), ("port", "--1"),
        ("port", "99999999999999999999"), ("creator", "0x+ff"), ("type", "0x-ff"), ("type", "0x"),
        ("is-invisible", "true"),
        ("accessible", "always"),
    ])
    func whatIsNoValueIsRefused(name: String, text: String) throws {
        let option = try #require(AttributeOption.named(name))
        #expect(throws: KeychainError(.invalidParameter, "")) { try AttributeText.parse(text, option) }
    }
}

struct SettingsTests {
    private func settings(_ arguments: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(ArgumentParser.parse(["get", "svc"] + arguments, environment: environment), start: .now)
    }

    @Test func defaults() throws {
        let settings = try settings()
        #expect(settings.store == nil && settings.keySource == nil && settings.deadline == nil)
        #expect(settings.group == .default && settings.interaction == .allowed && settings.remaining == nil)
    }

    @Test func theEnvironmentDoesNotNameTheStoreHere() throws {
        // The registry reads it, and gives it as its reason.
        #expect(try settings(environment: ["KEYCHAIN_STORE": "memory:x"]).store == nil)
        #expect(try settings("--store", "memory:x").store == StoreURL(driver: "memory", path: "x"))
    }

    @Test func values() throws {
        let settings = try settings("-k", "fd:3", "-g", "g", "--no-prompt", environment: ["KEYCHAIN_TIMEOUT": "0.5"])
        #expect(settings.keySource == .fileDescriptor(3))
        #expect(settings.group == AccessGroup(rawValue: "g"))
        #expect(settings.interaction == .never)
        #expect(try #require(settings.remaining) <= .seconds(0.5))
    }

    @Test(arguments: [("5", 5), ("2.5", 2.5), ("0.001", 0.001), ("007", 7), ("31536000", 31_536_000)])
    func aTimeoutIsAPlainNumber(text: String, seconds: Double) throws {
        let start = ContinuousClock.now
        let parsed = try ArgumentParser.parse(["get", "svc", "--timeout", text], environment: [:])
        #expect(try Settings(parsed, start: start).deadline == start + .seconds(seconds))
    }

    @Test(arguments: [
        "0", "0.0", "-1", "nan", "inf", "infinity", "1e300", "1e3", "soon", " 1", "1 ", "+5", "0x10", "0x1p3", "5.",
        ".5",
        "1.2.3", "1,5", "1_000", "٣", "", ".", "31536001",
    ])
    func aTimeoutIsANumberAboveZero(text: String) {
        #expect(throws: KeychainError(.invalidParameter, "")) { try settings("--timeout", text) }
    }

    @Test func aRefusalOfAStoreNamesItsSourceAndTheReason() {
        let option = #expect(throws: KeychainError.self) { try settings("--store", "file://host/x") }
        #expect(option?.code == .invalidParameter)
        #expect(option?.message.contains("--store") == true && option?.message.contains("localhost") == true)
        let environment = ["KEYCHAIN_STORE": "file:///a?b"]
        let variable = #expect(throws: KeychainError.self) { try settings(environment: environment) }
        #expect(variable?.message.contains("KEYCHAIN_STORE") == true && variable?.message.contains("query") == true)
    }
}
