// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import KeychainSystem
    import Testing

    @testable import BackendSecretService

    @Suite struct LayoutTests {
        private let layout = ItemLayout(scheme: .standard)

        private func stored(_ attributes: LookupAttributes, label: String = "", modified: UInt64 = 0) -> StoredItem {
            StoredItem(
                path: "/c/1",
                attributes: attributes,
                label: label,
                created: 0,
                modified: modified
            )
        }

        @Test func aGenericPasswordHasExactlyTheseAttributes() throws {
            var record = ItemRecord.password(
                "svc",
                "bob",
                group: "team",
                [.comment: .text("c"), .generic: .data(Data([0]))]
            )
            record.creationDate = ItemDate(microseconds: 1_234_567)
            record.modificationDate = record.creationDate
            var attributes = try layout.attributes(of: record, valueCount: 5000)
            record.modificationDate = ItemDate(microseconds: 2_345_678)
            let changed = try layout.attributes(of: record, valueCount: 5000, over: attributes)
            attributes["keychain.modified"] = "2345678"
            #expect(changed == attributes)
            attributes["keychain.modified"] = nil
            #expect(
                attributes == [
                    "service": "svc", "username": "bob", "keychain.class": "genp", "keychain.group": "team",
                    "keychain.sync": "0",
                    "keychain.version": "1", "keychain.reference": record.reference.uuidString,
                    "keychain.created": "1234567",
                    "keychain.length": "8192", "keychain.comment": "c", "keychain.generic": "AA==",
                    "xdg:schema": "org.freedesktop.Secret.Generic",
                ]
            )
        }

        @Test func anInternetPasswordHasAllSharedNames() throws {
            let record = ItemRecord.new(
                .internetPassword,
                [.server: .text("h"), .protocol: .text(ProtocolType.https.rawValue), .path: .text("/a/b")],
                "",
                true
            )
            let attributes = try layout.attributes(of: record, valueCount: 0)
            let shared = [
                "server": "h", "user": "", "protocol": "https", "port": "0", "object": "a/b", "domain": "",
                "authtype": "",
            ]
            for (name, value) in shared { #expect(attributes[name] == value, "\(name)") }
            #expect(attributes["keychain.sync"] == "1")
            #expect(attributes["xdg:schema"] == "org.gnome.keyring.NetworkPassword")
        }

        @Test func keyAttributesOfKeysAreAlwaysPresent() throws {
            let attributes = try layout.attributes(of: .new(.key, [.keySizeInBits: .integer(256)]), valueCount: 0)
            let expected = [
                "keyClass": "", "keyType": "", "keySizeInBits": "256", "effectiveKeySize": "0", "applicationTag": "",
                "applicationLabel": "",
            ]
            for (name, value) in expected { #expect(attributes["keychain.\(name)"] == value, "\(name)") }
            #expect(attributes["keychain.label"] == nil)
        }

        @Test(arguments: ["", "/", "/a", "a", "./a", "/./a", "//a", "a/b", "/a/", "."])
        func pathsAreTheirOwn(path: String) throws {
            let record = ItemRecord.new(.internetPassword, [.server: .text("h"), .path: .text(path)])
            let item = stored(try layout.attributes(of: record, valueCount: 0))
            #expect(layout.record(of: item)?.attributes == record.attributes)
            #expect(path != "/a/b" || item.attributes["object"] == "a/b")
        }

        @Test(arguments: ["htps", "https", "HTTPS", "ftp ", "ftp", "code:x", "xyz9", "htpx", ""])
        func protocolsAreTheirOwn(code: String) throws {
            let record = ItemRecord.new(.internetPassword, [.server: .text("h"), .protocol: .text(code)])
            let item = stored(try layout.attributes(of: record, valueCount: 0))
            #expect(layout.record(of: item)?.attributes == record.attributes)
        }

        @Test func pathsAndProtocolsAreDistinct() throws {
            let paths = ["", "/", "/a", "a", "./a", "/./a", "//a"].map {
                AttributeText.text(of: .text($0), .path, in: .internetPassword)
            }
            #expect(Set(paths).count == paths.count)
            let codes = ["htps", "https", "HTTPS", "code:https", "code:htps"]
                .map { AttributeText.text(of: .text($0), .protocol, in: .internetPassword) }
            #expect(Set(codes).count == codes.count)
        }

        @Test func labels() {
            #expect(layout.shownLabel(.password("svc", "bob")) == "bob on svc")
            #expect(layout.shownLabel(.password("svc", "")) == "svc")
            #expect(layout.shownLabel(.password("", "")) == "generic password")
            #expect(layout.shownLabel(.password("a", "b", [.label: .text("one\ntwo ")])) == "one two")
            #expect(layout.shownLabel(.password("a", "b", [.label: .text(" ")])) == "b on a")
            let space: [AttributeName: AttributeValue] = [
                .server: .text("h"), .protocol: .text("htps"), .port: .integer(8443), .path: .text("/x"),
                .account: .text("bob"),
            ]
            #expect(layout.shownLabel(.new(.internetPassword, space)) == "bob on https://h:8443/x")
            #expect(layout.shownLabel(.new(.key, [.applicationTag: .data(Data("tag".utf8))])) == "tag")
            #expect(layout.shownLabel(.new(.certificate, [:])) == "certificate")
        }

        @Test func aLabelIsTheLastOneThatWasGiven() throws {
            let plain = try layout.attributes(of: .password("svc", "bob"), valueCount: 0)
            let labelled = try layout.attributes(
                of: .password("svc", "bob", [.label: .text("a\nb")]),
                valueCount: 0
            )
            func label(_ attributes: LookupAttributes, _ shown: String) -> AttributeValue? {
                layout.record(of: stored(attributes, label: shown))?.attributes[.label]
            }
            #expect(label(plain, "bob on svc") == nil)
            #expect(label(plain, "") == nil)
            #expect(label(plain, "Renamed") == .text("Renamed"))
            #expect(label(labelled, "a b") == .text("a\nb"))
            #expect(label(labelled, "Renamed") == .text("Renamed"))
        }

        @Test func foreignItemsAreRecognisedByTheirNames() {
            func itemClass(_ attributes: LookupAttributes) -> ItemClass? {
                layout.record(of: stored(attributes))?.itemClass
            }
            #expect(itemClass(["service": "s", "username": "u"]) == .genericPassword)
            #expect(
                itemClass(["service": "s", "username": "u", "application": "Python keyring library"])
                    == .genericPassword
            )
            #expect(itemClass(["service": "s", "account": "u"]) == .genericPassword)
            #expect(itemClass(["server": "s", "user": "u", "protocol": "https"]) == .internetPassword)
            #expect(itemClass(["server": "s", "xdg:schema": "org.gnome.keyring.NetworkPassword"]) == .internetPassword)
            #expect(
                itemClass(["server": "s", "user": "u", "type": "plaintext", "xdg:schema": "org.qt.keychain"]) == nil
            )
            #expect(
                itemClass(["server": "s", "username": "u", "docker_cli": "1", "label": "Docker Credentials"]) == nil
            )
            #expect(itemClass(["service": "s"]) == nil)
            #expect(itemClass(["application": "chrome"]) == nil)
            #expect(itemClass(["service": "s", "username": "u", "keychain.class": "idnt"]) == nil)
            #expect(itemClass([:]) == nil)
        }

        @Test func theReferenceOfAForeignItemIsThatOfItsPath() {
            let reference = ItemLayout.reference(of: "/org/freedesktop/secrets/collection/login/1")
            #expect(reference == ItemLayout.reference(of: "/org/freedesktop/secrets/collection/login/1"))
            #expect(reference != ItemLayout.reference(of: "/org/freedesktop/secrets/collection/login/2"))
            #expect(reference.uuidString.dropFirst(14).first == "5")
            #expect("89AB".contains(reference.uuidString.dropFirst(19).first ?? " "))
        }

        @Test func aForeignItemKeepsItsSpellings() throws {
            let existing: LookupAttributes = [
                "server": "h", "user": "bob", "protocol": "HTTPS", "object": "/x", "port": "0", "extra": "e",
            ]
            var record = try #require(layout.record(of: stored(existing)))
            #expect(try layout.attributes(ofForeign: record, over: existing) == existing)
            record.attributes[.comment] = .text("c")
            record.attributes[.account] = .text("eve")
            var expected = existing
            expected["keychain.comment"] = "c"
            expected["user"] = "eve"
            #expect(try layout.attributes(ofForeign: record, over: existing) == expected)
            let keytar: LookupAttributes = ["service": "s", "account": "u"]
            var other = try #require(layout.record(of: stored(keytar)))
            other.attributes[.account] = .text("v")
            #expect(try layout.attributes(ofForeign: other, over: keytar) == ["service": "s", "account": "v"])
        }

        @Test func attributesAreComparedByBytes() {
            let composed: LookupAttributes = ["\u{E9}": "\u{E9}"]
            let decomposed: LookupAttributes = ["e\u{301}": "e\u{301}"]
            #expect(composed != decomposed)
            #expect(composed["e\u{301}"] == nil)
        }

        @Test func datesAreOfTheServiceExceptForTheCreation() throws {
            var record = ItemRecord.password("s", "u")
            record.creationDate = ItemDate(microseconds: 100_700_000)
            record.modificationDate = record.creationDate
            let attributes = try layout.attributes(of: record, valueCount: 0)
            let same = try #require(layout.record(of: stored(attributes, modified: 100)))
            #expect(same.creationDate == record.creationDate && same.modificationDate == record.creationDate)
            let later = try #require(layout.record(of: stored(attributes, modified: 101)))
            #expect(later.modificationDate == ItemDate(microseconds: 101_000_000))
            // The clock by which a service counts may be a moment behind.
            let behind = try #require(layout.record(of: stored(attributes, modified: 99)))
            #expect(behind.modificationDate == record.creationDate)
        }

        /// KWallet keeps no date of attributes that are set.
        @Test func aChangeThatTheServiceDoesNotDateCounts() throws {
            var record = ItemRecord.password("s", "u")
            record.creationDate = ItemDate(microseconds: 100_700_000)
            record.modificationDate = ItemDate(microseconds: 105_200_000)
            let attributes = try layout.attributes(of: record, valueCount: 0)
            for (seconds, wanted) in [(0, 105_200_000), (100, 105_200_000), (106, 105_200_000), (107, 107_000_000)] {
                let found = try #require(layout.record(of: stored(attributes, modified: UInt64(seconds))))
                #expect(found.modificationDate == ItemDate(microseconds: Int64(wanted)), "\(seconds)")
            }
        }

        @Test func ofTwoInOneSecondTheLaterAddedIsTheNewer() {
            func record(_ path: String, _ microseconds: Int64, _ account: String = "u") -> ItemRecord {
                var record = ItemRecord.password("s", account)
                record.handle = path
                record.modificationDate = ItemDate(microseconds: microseconds)
                return record
            }
            let records = [
                record("/c/9", 100_700_000), record("/c/10", 100_000_000), record("/c/11", 100_000_000, "other"),
            ]
            let separated = SecretServiceReader.separatingTies(records)
            #expect(separated[1].modificationDate > separated[0].modificationDate)
            #expect(separated[0] == records[0] && separated[2] == records[2])
            let apart = [record("/c/9", 101_000_000), record("/c/10", 100_000_000)]
            #expect(SecretServiceReader.separatingTies(apart) == apart)
        }

        @Test func searches() {
            func needles(_ selection: RecordSelection) -> [LookupAttributes] { SearchPlan(selection, layout).needles }
            #expect(
                needles(.password("s", "u")) == [["service": "s", "username": "u"], ["service": "s", "account": "u"]]
            )
            var partial = RecordSelection(itemClass: .genericPassword, accessGroup: "", isSynchronizable: false)
            #expect(needles(partial) == [[:]])
            partial.attributes[.service] = .text("s")
            partial.attributes[.label] = .text("l")
            #expect(needles(partial) == [["service": "s"]])
            partial.accessGroup = "team"
            #expect(
                needles(partial) == [
                    ["service": "s", "keychain.class": "genp", "keychain.group": "team", "keychain.sync": "0"]
                ]
            )
            partial.reference = UUID(uuidString: "6E0F3C52-7D1B-4C61-9B0A-2E4B9D5A7C10")
            #expect(needles(partial) == [["keychain.reference": "6E0F3C52-7D1B-4C61-9B0A-2E4B9D5A7C10"]])
            let server = ItemRecord.new(
                .internetPassword,
                [.server: .text("h"), .path: .text("/x"), .account: .text("u")]
            )
            #expect(
                needles(server.selection) == [
                    ["server": "h", "object": "x", "user": "u"], ["server": "h", "object": "/x", "user": "u"],
                ]
            )
            var subdomains = RecordSelection(itemClass: .internetPassword, accessGroup: "", matchesSubdomains: true)
            subdomains.attributes[.server] = .text("h")
            subdomains.attributes[.account] = .text("u")
            #expect(
                needles(subdomains) == [
                    ["user": "u"], ["xdg:schema": "org.epiphany.FormPassword", "username": "u"],
                ]
            )
            subdomains.attributes = AttributeSet()
            #expect(needles(subdomains) == [[:]])
            let form = ItemRecord.new(
                .internetPassword,
                [
                    .server: .text("h"), .protocol: .text("htps"), .account: .text("u"),
                    .authenticationType: .text("form"),
                ]
            )
            #expect(
                needles(form.selection) == [
                    ["server": "h", "protocol": "https", "user": "u", "authtype": "form"],
                    ["uri": "https://h", "username": "u"],
                ]
            )
            #expect(
                needles(RecordSelection(itemClass: .key, accessGroup: "")) == [
                    ["keychain.group": "", "keychain.class": "keys"]
                ]
            )
        }
    }
#endif
