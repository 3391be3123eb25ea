// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    struct RoundTripTests {
        private let scratch = Scratch()

        @Test(arguments: [
            Data(), Data([0]), Data("s3cret".utf8), Data("a\nb\n".utf8), Data([0xFF, 0xFE, 0, 0x80]),
            Data(repeating: 0x61, count: 31), Data(repeating: 0x61, count: 32), Data(repeating: 0x61, count: 33),
            Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }), Data(repeating: 7, count: 8 << 20),
        ])
        func everyValueComesBackToTheByte(value: Data) throws {
            let record = try scratch.driver().add(passwordRecord("bob"), value)
            for driver in [try scratch.driver(), try scratch.driver()] {
                let read = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                    try reader.value(of: record).data
                }
                #expect(read == value)
            }
        }

        @Test func everyAttributeComesBack() throws {
            var attributes = AttributeSet()
            attributes[.server] = .text("höst.example 🔑")
            attributes[.port] = .integer(-8443)
            attributes[.label] = .text("")
            attributes[.isInvisible] = .boolean(true)
            attributes[.isNegative] = .boolean(false)
            attributes[.generic] = .data(Data([0, 255, 10]))
            attributes[AttributeName(rawValue: "someLaterName")] = .data(Data())
            let record = ItemRecord(
                reference: UUID(),
                itemClass: .internetPassword,
                accessGroup: "grüße",
                isSynchronizable: true,
                attributes: attributes,
                creationDate: ItemDate(microseconds: -1),
                modificationDate: ItemDate(microseconds: .max)
            )
            try scratch.driver().add(record, Data("x".utf8))
            #expect(try scratch.driver().all() == [record])
        }

        @Test func aKeyAttributeWithItsDefaultIsTheSameAsNone() throws {
            var record = passwordRecord("")
            record.attributes[.account] = .text("")
            let driver = try scratch.driver()
            try driver.add(record, Data())
            let key = passwordRecord("").primaryKey
            for driver in [driver, try scratch.driver()] {
                #expect(try driver.all(RecordSelection(key)).map(\.reference) == [record.reference])
                #expect(try driver.all().first?.attributes[.account] == nil)
            }
        }

        @Test func updatesKeepTheReferenceAndTheValueUnlessOneIsGiven() throws {
            let driver = try scratch.driver()
            let old = try driver.add("bob", "one")
            var new = old
            new.attributes[.account] = .text("alice")
            new.modificationDate = ItemDate(microseconds: 5)
            try driver.write(CallContext(.update)) { (writer) throws(KeychainError) in
                try writer.commit([.update(old: old, new: new, value: nil)])
                #expect(try writer.records(RecordSelection()) == [new])
                #expect(try writer.value(of: new).data == Data("one".utf8))
            }
            for driver in [driver, try scratch.driver()] {
                #expect(try driver.all() == [new])
                #expect(try driver.contents() == ["alice": Data("one".utf8)])
            }
            try driver.replace(new, Data("two".utf8))
            #expect(try scratch.driver().contents() == ["alice": Data("two".utf8)])
            try driver.remove(new)
            #expect(try scratch.driver().all() == [])
        }

        @Test func oneCommitMayExchangeTheKeysOfTwoItems() throws {
            let driver = try scratch.driver()
            let one = try driver.add("one", "1")
            let two = try driver.add("two", "2")
            var (newOne, newTwo) = (one, two)
            newOne.attributes[.account] = .text("two")
            newTwo.attributes[.account] = .text("one")
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                try writer.commit([
                    .update(old: one, new: newOne, value: nil), .update(old: two, new: newTwo, value: nil),
                ])
            }
            for driver in [driver, try scratch.driver()] {
                #expect(try driver.contents() == ["one": Data("2".utf8), "two": Data("1".utf8)])
            }
        }

        @Test func aTransactionIsOneCommit() throws {
            let driver = try scratch.driver()
            let gone = try driver.add("gone", "x")
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                let mutations = (0..<100).map {
                    RecordMutation.insert(passwordRecord("a\($0)"), SecureBytes([UInt8($0)]))
                }
                try writer.commit(mutations + [.delete(gone)])
            }
            let contents = try scratch.driver().contents()
            #expect(contents.count == 100)
            #expect(contents["a42"] == Data([42]))
        }

        @Test func mutationsThatDoNotFitChangeNothing() throws {
            let driver = try scratch.driver()
            let record = try driver.add("bob", "one")
            let before = try scratch.bytes()
            let mutations: [[RecordMutation]] = [
                [.insert(record, SecureBytes([]))],
                [.insert(passwordRecord("bob"), SecureBytes([]))],
                [.insert(passwordRecord("x"), SecureBytes([])), .insert(passwordRecord("x"), SecureBytes([]))],
                [.delete(passwordRecord("carol"))],
                [.update(old: passwordRecord("carol"), new: passwordRecord("carol"), value: SecureBytes([]))],
                [.delete(record), .delete(record)],
            ]
            for mutation in mutations {
                let code = code { () throws(KeychainError) in
                    try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                        try writer.commit(mutation)
                    }
                }
                #expect(code == .internal)
            }
            #expect(try scratch.bytes() == before)
            #expect(try driver.contents() == ["bob": Data("one".utf8)])
        }

        @Test func aValueBeyondTheLimitIsRefused() throws {
            let driver = try scratch.driver()
            let value = SecureBytes(count: driver.maximumValueSize + 1) { _ in }
            let code = code { () throws(KeychainError) in
                try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                    try writer.commit([.insert(passwordRecord("x"), value)])
                }
            }
            #expect(code == .dataTooLarge)
            #expect(try driver.all() == [])
        }

        @Test func selectionsFindByReferenceKeyAndAttributes() throws {
            let driver = try scratch.driver()
            let bob = try driver.add(passwordRecord("bob", label: "L"), Data())
            let carol = try driver.add("carol", "")
            #expect(try driver.all(RecordSelection(reference: carol.reference)) == [carol])
            #expect(try driver.all(RecordSelection(itemClass: .key, reference: carol.reference)) == [])
            #expect(try driver.all(RecordSelection(bob.primaryKey)) == [bob])
            var byLabel = RecordSelection()
            byLabel.attributes[.label] = .text("L")
            #expect(try driver.all(byLabel) == [bob])
            var keyAndLabel = RecordSelection(carol.primaryKey)
            keyAndLabel.attributes[.label] = .text("L")
            #expect(try driver.all(keyAndLabel) == [])
            #expect(try driver.all(RecordSelection(itemClass: .genericPassword)).count == 2)
        }

        @Test func aSubdomainIsFoundThoughTheWholeKeyIsGiven() throws {
            var attributes = AttributeSet()
            attributes[.server] = .text("www.example.com")
            let record = ItemRecord(
                reference: UUID(),
                itemClass: .internetPassword,
                accessGroup: "",
                isSynchronizable: false,
                attributes: attributes,
                creationDate: ItemDate(microseconds: 1),
                modificationDate: ItemDate(microseconds: 1)
            )
            let driver = try scratch.driver()
            try driver.add(record, Data())
            var asked = record
            asked.attributes[.server] = .text("example.com")
            var selection = RecordSelection(asked.primaryKey)
            #expect(try driver.all(selection) == [])
            selection.matchesSubdomains = true
            #expect(try driver.all(selection) == [record])
        }
    }
#endif
