// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@Suite struct RecordTests {
    private func record(
        _ attributes: [AttributeName: AttributeValue] = [:],
        of itemClass: ItemClass = .internetPassword,
        group: String = "",
        synchronizable: Bool = false,
        reference: UUID = UUID(),
        created: Int64 = 0
    ) -> ItemRecord {
        var set = AttributeSet()
        for (name, value) in attributes { set[name] = value }
        return ItemRecord(
            reference: reference,
            itemClass: itemClass,
            accessGroup: group,
            isSynchronizable: synchronizable,
            attributes: set,
            creationDate: ItemDate(microseconds: created),
            modificationDate: ItemDate(microseconds: created)
        )
    }

    private func selection(_ attributes: [AttributeName: AttributeValue], subdomains: Bool = false) -> RecordSelection {
        var set = AttributeSet()
        for (name, value) in attributes { set[name] = value }
        return RecordSelection(attributes: set, matchesSubdomains: subdomains)
    }

    @Test func defaultsOfTheKeyAreDropped() {
        let full = record([.server: .text(""), .port: .integer(0), .path: .text(""), .label: .text("")])
        #expect(full.attributes.map(\.name) == [.label], "An attribute outside of the key is kept as it was set.")
        #expect(full.primaryKey == record().primaryKey)
        #expect(full.primaryKey.hashValue == record().primaryKey.hashValue)
        let key = record([.applicationTag: .data(Data()), .keySizeInBits: .integer(0)], of: .key)
        #expect(key.attributes.isEmpty)
    }

    @Test func everyPartOfTheKeyCounts() {
        let base: [AttributeName: AttributeValue] = [.server: .text("h"), .port: .integer(1)]
        let keys = [
            record(base), record(base, group: "g"), record(base, synchronizable: true), record(of: .genericPassword),
            record([.server: .text("h")]), record([.server: .text("H"), .port: .integer(1)]), record(group: "\u{E9}"),
            record(group: "e\u{301}"), record([.account: .text("\u{E9}")]), record([.account: .text("e\u{301}")]),
        ].map(\.primaryKey)
        #expect(Set(keys).count == keys.count)
    }

    @Test func whatIsNotInTheKeyDoesNotCount() {
        let one = record([.server: .text("h"), .label: .text("a"), .comment: .text("b"), .isInvisible: .boolean(true)])
        #expect(one.primaryKey == record([.server: .text("h")]).primaryKey)
    }

    @Test func recordsAreComparedByTheirBytes() {
        let reference = UUID()
        #expect(record(group: "\u{E9}", reference: reference) != record(group: "e\u{301}", reference: reference))
        var moved = record(reference: reference)
        moved.handle = "/a/e\u{301}"
        var other = moved
        other.handle = "/a/\u{E9}"
        #expect(moved != other)
        #expect(record(reference: reference) == record(reference: reference))
    }

    @Test func recordsAreOrderedByDateThenReference() throws {
        let low = try #require(UUID(uuidString: "00000000-0000-4000-8000-00000000000A"))
        let high = try #require(UUID(uuidString: "F0000000-0000-4000-8000-000000000001"))
        #expect(record(reference: high, created: 1).isOrderedBefore(record(reference: low, created: 2)))
        #expect(!record(reference: low, created: 2).isOrderedBefore(record(reference: high, created: 1)))
        #expect(record(reference: low).isOrderedBefore(record(reference: high)))
        #expect(!record(reference: low).isOrderedBefore(record(reference: low)))
    }

    @Test func aSelectionIsAConjunction() {
        let item = record([.server: .text("h"), .label: .text("l")], group: "g", synchronizable: true)
        #expect(RecordSelection().matches(item))
        #expect(RecordSelection(itemClass: .internetPassword, accessGroup: "g", isSynchronizable: true).matches(item))
        #expect(!RecordSelection(itemClass: .genericPassword).matches(item))
        #expect(!RecordSelection(accessGroup: "").matches(item))
        #expect(!RecordSelection(isSynchronizable: false).matches(item))
        #expect(RecordSelection(reference: item.reference).matches(item))
        #expect(!RecordSelection(reference: UUID()).matches(item))
        #expect(selection([.server: .text("h"), .label: .text("l")]).matches(item))
        #expect(!selection([.server: .text("h"), .label: .text("m")]).matches(item))
        #expect(!RecordSelection(accessGroup: "e\u{301}").matches(record(group: "\u{E9}")))
    }

    @Test func aDefaultMatchesAnAbsentAttributeOfTheKeyOnly() {
        #expect(selection([.path: .text(""), .port: .integer(0)]).matches(record()))
        #expect(!selection([.label: .text("")]).matches(record()))
        #expect(selection([.label: .text("")]).matches(record([.label: .text("")])))
        #expect(!selection([.path: .text("")]).matches(record([.path: .text("/")])))
        #expect(!selection([.service: .text("")]).matches(record()), "Not an attribute of the class.")
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "www.example.com", true),
        ("example.com", "a.b.example.com", true), ("example.com", "badexample.com", false),
        ("example.com", "example.com.evil.org", false), ("example.com", ".example.com", false),
        ("example.com", "WWW.EXAMPLE.COM", false), ("Example.com", "example.com", false),
        ("example.com", "com", false), ("example.com", "", false), ("", "", true), ("", "example.com", false),
        ("", ".", false), ("com", "example.com", true), (".com", "example.com", false), ("::1", "a.::1", true),
    ])
    func subdomains(host: String, server: String, matches: Bool) {
        let item = record([.server: .text(server)])
        #expect(selection([.server: .text(host)], subdomains: true).matches(item) == matches)
        #expect(selection([.server: .text(host)]).matches(item) == (host == server))
    }

    @Test func subdomainsAreOfTheServerOnly() {
        let item = record([.server: .text("h"), .account: .text("a.bob")])
        #expect(!selection([.server: .text("h"), .account: .text("bob")], subdomains: true).matches(item))
    }

    @Test func aSelectionOfAKeyFindsItsItem() throws {
        for itemClass in ItemClass.stored {
            let item = record(of: itemClass, group: "g", synchronizable: true)
            let selection = RecordSelection(item.primaryKey)
            #expect(selection.matches(item))
            #expect(selection.isFullIdentity)
            #expect(try #require(selection.primaryKey) == item.primaryKey)
            for attribute in AttributeSchema.schema(of: itemClass).primaryKey {
                #expect(selection.attributes[attribute.name] == attribute.form.defaultValue)
            }
        }
    }

    @Test func aSelectionWithoutTheWholeKeyHasNone() {
        let whole = RecordSelection(record([.server: .text("h")]).primaryKey)
        #expect(whole.primaryKey != nil)
        for change: (inout RecordSelection) -> Void in [
            { $0.itemClass = nil }, { $0.accessGroup = nil }, { $0.isSynchronizable = nil },
            { $0.matchesSubdomains = true }, { $0.attributes[.port] = nil }, { $0.itemClass = .identity },
        ] {
            var partial = whole
            change(&partial)
            #expect(partial.primaryKey == nil)
            #expect(!partial.isFullIdentity)
        }
    }
}
