// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

/// No way of printing shows a value.
@Suite struct RedactionTests {
    private static let text = "hunter2-Ümlaut"

    private struct Account {
        let name = "bob"
        let secret: SecureBytes
    }

    /// Everything that prints, applied to anything.
    private func printed(_ value: Any) -> String {
        var text = "\(value) " + String(describing: value) + String(reflecting: value)
        dump(value, to: &text)
        for child in Mirror(reflecting: value).children {
            text += "\(child.value)" + String(reflecting: child.value)
            dump(child.value, to: &text)
        }
        print(value, to: &text)
        debugPrint(value, to: &text)
        return text
    }

    private func expectHidden(_ value: Any, _ location: SourceLocation = #_sourceLocation) {
        let text = printed(value)
        let bytes = Array(Self.text.utf8)
        let forms = [
            Self.text, "hunter2", Data(bytes).base64EncodedString(), bytes.map(String.init).joined(separator: ", "),
            bytes.map { String($0, radix: 16) }.joined(), "- \(bytes[0])\n",
        ]
        for form in forms { #expect(!text.contains(form), sourceLocation: location) }
    }

    private var secret: SecureBytes { SecureBytes(Data(Self.text.utf8)) }

    @Test func ofSecureBytes() {
        #expect("\(secret)" == "<redacted>")
        #expect(String(reflecting: secret) == "<redacted>")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        let optional: SecureBytes? = secret
        #expect(String(describing: optional) == "Optional(<redacted>)")
        #expect("\([secret])" == "[<redacted>]")
        #expect("\(["a": secret])" == "[\"a\": <redacted>]")
        expectHidden(secret)
        expectHidden(optional as Any)
        expectHidden([secret, secret])
        expectHidden((1, secret))
        expectHidden(Account(secret: secret))
        expectHidden(Result<SecureBytes, KeychainError>.success(secret))
    }

    @Test func ofKeysAndOptions() {
        expectHidden(KeyMaterial.passphrase(secret))
        expectHidden(KeySource.material(.key(secret)))
        expectHidden(StoreOptions(keySource: .material(.passphrase(secret))))
    }

    @Test func ofWhatIsStored() throws {
        var changes = SecItemUpdate<GenericPassword>()
        changes.setValue(Self.text)
        expectHidden(changes)
        let keychain = Keychain(driver: MemoryDriver())
        let query = SecItemQuery<GenericPassword>.credential(for: "service")
        let stored = try keychain.store(Self.text, returning: .all, query: query)
        expectHidden(stored as Any)
        for returning in [SecReturnType.data, [.data, .info], .all] {
            let value = try #require(try keychain.retrieve(returning, query: query))
            expectHidden(value)
            expectHidden([value])
            if case .dictionary(let info) = value {
                #expect(info.data == Data(Self.text.utf8))
                expectHidden(info)
                expectHidden(Optional(info) as Any)
            }
        }
        #expect("\(try #require(try keychain.retrieve(.data, query: query)))" == "data <redacted>")
    }

    @Test func ofMutationsAndDrivers() throws {
        let driver = MemoryDriver()
        try Keychain(driver: driver).store(Self.text, query: .credential(for: "service"))
        let record = try #require(driver.records.first)
        expectHidden(RecordMutation.insert(record, secret))
        expectHidden(RecordMutation.update(old: record, new: record, value: secret))
        expectHidden(driver)
        expectHidden(Keychain(driver: driver))
    }

    @Test func ofJSON() throws {
        let value = try JSONEncoded([Self.text])
        #expect("\(value)" == "JSONEncoded<Array<String>>")
        expectHidden(value)
        expectHidden([value])
        expectHidden(Optional(value) as Any)
    }

    @Test func attributesStayInTheirLine() throws {
        let keychain = Keychain(driver: MemoryDriver())
        var query = SecItemQuery<GenericPassword>.credential(for: "a\nb\"c")
        query.generic = Data([1, 2, 3])
        try keychain.store("x", query: query)
        let info = try #require(try keychain.info(for: query))
        #expect(!info.description.contains("\n"))
        #expect(info.description.contains("service: \"a\\nb\\\"c\""))
        #expect(info.description.contains("generic: 3 bytes"))
        #expect(query.description == "generic password by generic, service")
    }
}
