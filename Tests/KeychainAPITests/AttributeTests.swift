// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@Suite struct AttributeTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test func textIsComparedByItsBytes() {
        #expect(Self.composed == Self.decomposed, "Swift calls them equal; that is why it must not be asked.")
        let values: [AttributeValue] = [.text(Self.composed), .text(Self.decomposed)]
        #expect(values[0] != values[1])
        #expect(Set(values).count == 2)
        #expect(AttributeValue.text("a") == .text("a"))
        #expect(AttributeValue.text("a").hashValue == AttributeValue.text("a").hashValue)
    }

    @Test func formsAreNeverEqual() {
        let values: [AttributeValue] = [
            .text(""), .data(Data()), .integer(0), .boolean(false), .text("0"), .integer(1),
        ]
        #expect(Set(values).count == values.count)
        for (index, value) in values.enumerated() {
            for (other, second) in values.enumerated() { #expect((value == second) == (index == other)) }
        }
    }

    @Test func formsHaveDefaultsAndSizes() {
        #expect(AttributeValue.Form.text.defaultValue == .text(""))
        #expect(AttributeValue.Form.data.defaultValue == .data(Data()))
        #expect(AttributeValue.Form.integer.defaultValue == .integer(0))
        #expect(AttributeValue.Form.boolean.defaultValue == .boolean(false))
        #expect(AttributeValue.text("é").byteCount == 2)
        #expect(AttributeValue.data(Data(count: 3)).byteCount == 3)
        #expect(AttributeValue.integer(1).byteCount == 8)
        #expect(AttributeValue.boolean(true).byteCount == 1)
    }

    @Test func aSetKeepsTheOrderOfTheNames() {
        let names: [AttributeName] = [.service, .account, .label, .comment, .type, .accessible, .generic, .isNegative]
        var sets: [AttributeSet] = []
        for order in [names, names.reversed(), Array(names.dropFirst(3) + names.prefix(3))] {
            var set = AttributeSet()
            for name in order { set[name] = .text(name.rawValue) }
            #expect(set.map(\.name) == names.sorted())
            #expect(set.map(\.value) == set.map { .text($0.name.rawValue) })
            sets.append(set)
        }
        #expect(Set(sets).count == 1)
    }

    @Test func aSetReplacesAndRemoves() {
        var set = AttributeSet()
        #expect(set.isEmpty)
        #expect(set[.service] == nil)
        set[.service] = .text("a")
        set[.service] = .text("b")
        set[.account] = .text("c")
        #expect(set.count == 2)
        #expect(set[.service] == .text("b"))
        set[.label] = nil
        #expect(set.count == 2)
        set[.service] = nil
        #expect(set.map(\.name) == [.account])
        set[.account] = nil
        #expect(set == AttributeSet())
    }

    @Test func aSetAgreesWithADictionary() {
        let names = (0..<26).map { AttributeName(rawValue: String(UnicodeScalar(UInt8(97 + $0)))) }
        var set = AttributeSet()
        var model: [AttributeName: AttributeValue] = [:]
        for step in 0..<2000 {
            let name = names[(step &* 7919) % 26]
            let value: AttributeValue? = step % 3 == 0 ? nil : .integer(Int64(step))
            set[name] = value
            model[name] = value
            #expect(set[name] == model[name])
        }
        #expect(Dictionary(uniqueKeysWithValues: set.map { ($0.name, $0.value) }) == model)
        #expect(set.map(\.name) == model.keys.sorted())
    }

    @Test(arguments: ItemClass.allCases)
    func aSchemaNamesEachAttributeOnce(_ itemClass: ItemClass) {
        let schema = AttributeSchema.schema(of: itemClass)
        let names = schema.all.map(\.name)
        #expect(Set(names).count == names.count)
        for attribute in schema.all {
            #expect(schema.form(of: attribute.name) == attribute.form)
            #expect(schema.isPrimaryKey(attribute.name) == schema.primaryKey.contains(attribute))
        }
        #expect(schema.form(of: AttributeName(rawValue: "nonesuch")) == nil)
        #expect(schema.form(of: .accessible) == .text)
    }

    @Test func primaryKeysAreThoseOfTheContract() {
        func key(_ itemClass: ItemClass) -> [AttributeName] {
            AttributeSchema.schema(of: itemClass).primaryKey.map(\.name)
        }
        #expect(key(.genericPassword) == [.service, .account])
        #expect(
            key(.internetPassword) == [
                .server, .protocol, .port, .path, .account, .authenticationType, .securityDomain,
            ]
        )
        #expect(
            key(.key) == [.keyClass, .keyType, .keySizeInBits, .effectiveKeySize, .applicationTag, .applicationLabel]
        )
        #expect(key(.certificate) == [.certificateType, .issuer, .serialNumber])
        #expect(key(.identity).isEmpty)
    }

    @Test func accessGroupsAreComparedByTheirBytes() {
        let groups = [AccessGroup(rawValue: Self.composed), AccessGroup(rawValue: Self.decomposed)]
        #expect(!(groups[0] == groups[1]))
        #expect(groups[0] != groups[1], "‘!=’ must be the opposite of ‘==’.")
        #expect(Set(groups).count == 2)
        #expect(AccessGroup.keychainGroup(teamID: "T", nameID: "n").rawValue == "T.n")
        #expect(AccessGroup.appGroupID("group.x").rawValue == "group.x")
        #expect("\(AccessGroup.default)" == "default")
    }
}

/// What a name at run time can bring, past what the compiler sees.
@Suite struct AttributeValidationTests {
    private let driver = MemoryDriver()
    private var keychain: Keychain { Keychain(driver: driver) }

    private func refusal(_ change: (inout SecItemQuery<GenericPassword>) -> Void) -> KeychainError.Code? {
        var query = SecItemQuery<GenericPassword>.credential(for: "s")
        change(&query)
        let stored = #expect(throws: KeychainError.self) { try keychain.store("x", query: query) }
        #expect(driver.callCount == 0, "It reached the store.")
        #expect(stored?.operation == .store)
        return stored?.code
    }

    @Test func attributesOfAnotherClassAreRefused() {
        #expect(refusal { $0[.server] = .text("h") } == .invalidParameter)
        #expect(refusal { $0[AttributeName(rawValue: "nonesuch")] = .text("h") } == .invalidParameter)
        #expect(throws: KeychainError.Code.invalidParameter.error) {
            var query = SecItemQuery<SecKey>()
            query[.account] = .text("bob")
            _ = try keychain.contains(query)
        }
    }

    @Test func valuesOfAnotherFormAreRefused() {
        #expect(refusal { $0[.account] = .integer(1) } == .invalidParameter)
        #expect(refusal { $0[.account] = .data(Data("bob".utf8)) } == .invalidParameter)
        #expect(refusal { $0[.isInvisible] = .text("true") } == .invalidParameter)
    }

    @Test func nulAndSizesAreRefused() {
        #expect(refusal { $0.account = "a\0b" } == .invalidParameter)
        #expect(refusal { $0.label = "\0" } == .invalidParameter)
        #expect(refusal { $0.accessGroup = AccessGroup(rawValue: "g\0") } == .invalidParameter)
        #expect(refusal { $0.comment = String(repeating: "x", count: 65_537) } == .dataTooLarge)
        #expect(refusal { $0.generic = Data(count: 65_537) } == .dataTooLarge)
    }

    @Test func largestAttributesAreTaken() throws {
        var query = SecItemQuery<GenericPassword>.credential(for: "s")
        query.comment = String(repeating: "x", count: 65_536)
        query.generic = Data(repeating: 0, count: 65_536)
        try keychain.store("x", query: query)
        #expect(try keychain.contains(query))
    }

    @Test(arguments: [-1, 65_536, Int.max])
    func portsOutOfRangeAreRefused(_ port: Int) {
        var query = SecItemQuery<InternetPassword>()
        query.server = "h"
        query.port = port
        #expect(throws: KeychainError.Code.invalidParameter.error) { try keychain.store("x", query: query) }
        #expect(throws: KeychainError.Code.invalidParameter.error) { _ = try keychain.contains(query) }
    }

    @Test func policiesAreNotWrittenAsAttributes() throws {
        #expect(refusal { $0[.accessible] = .text("akpu") } == .invalidParameter)
        #expect(refusal { $0[.accessControl] = .integer(1) } == .invalidParameter)
        try keychain.store("x", query: .credential(for: "s"))
        for (name, value) in [(AttributeName.accessible, AttributeValue.text("akpu")), (.accessControl, .integer(1))] {
            var changes = SecItemUpdate<GenericPassword>()
            changes.set(name, to: value)
            #expect(throws: KeychainError.Code.invalidParameter.error) {
                try keychain.update(.credential(for: "s"), changes)
            }
            changes.set(name, to: nil)
            #expect(throws: KeychainError.Code.invalidParameter.error) {
                try keychain.update(.credential(for: "s"), changes)
            }
        }
    }

    @Test func policiesCanBeSearchedFor() throws {
        try keychain.store("x", query: .credential(for: "s"))
        var query = SecItemQuery<GenericPassword>()
        query[.accessible] = .text(AccessPolicy.Accessibility.afterFirstUnlock.rawValue)
        #expect(try keychain.contains(query))
        query[.accessible] = .text(AccessPolicy.Accessibility.whenUnlocked.rawValue)
        #expect(try !keychain.contains(query))
    }

    @Test func updatesAreHeldToTheClass() throws {
        try keychain.store("x", query: .credential(for: "s"))
        let updates: [(AttributeName, AttributeValue?)] = [
            (.server, .text("h")), (.account, .integer(1)), (.account, .text("\0")), (.port, nil),
        ]
        for (name, value) in updates {
            var changes = SecItemUpdate<GenericPassword>()
            changes.set(name, to: value)
            #expect(throws: KeychainError.Code.invalidParameter.error) {
                try keychain.update(.credential(for: "s"), changes)
            }
        }
        #expect(driver.records.first?.modificationDate == driver.records.first?.creationDate)
    }
}
