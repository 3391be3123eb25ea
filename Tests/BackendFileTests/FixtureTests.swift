// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Files that version 1 has written, kept for good: every later version reads them, and means the same.
    struct FixtureTests {
        private let scratch = Scratch()

        @Test(arguments: Fixture.allCases)
        func aFileOfVersionOneMeansTheSame(fixture: Fixture) throws {
            try scratch.put(fixture.bytes)
            for material in try fixture.materials {
                #expect(try scratch.driver(key: material, creation: .never).valuesByRecord() == fixture.contents)
            }
            for (number, material) in try fixture.materials.enumerated() {
                try scratch.driver(key: material, creation: .never).add("new \(number)", "x")
            }
            let count = try fixture.contents.count + fixture.materials.count
            #expect(try scratch.driver(key: #require(fixture.materials.first)).all().count == count)
        }

        @Test func aCredentialIsFoundByItsHint() throws {
            try Data("\(Fixture.text)\n".utf8).write(to: URL(fileURLWithPath: "\(scratch.folder)/db-key"))
            for fixture in [Fixture.credential, .slots] {
                try scratch.put(fixture.bytes)
                let driver = try FileDriver(
                    path: scratch.path,
                    options: StoreOptions(),
                    environment: ["CREDENTIALS_DIRECTORY": scratch.folder]
                )
                #expect(try driver.keySlots().map(\.source).contains(.credential("db-key")))
                #expect(try driver.valuesByRecord() == fixture.contents)
            }
        }

        @Test func aKeyInAnotherStoreIsFoundByItsHint() throws {
            try scratch.put(Fixture.store.bytes)
            let header = try SealedFile(FilePlace(scratch.path, environment: [:])).header
            let slot = try #require(header.keySlots().first?.slot)
            // As docs/FileFormat.md has it.
            var attributes = AttributeSet()
            attributes[.service] = .text("swift-keychain file key")
            attributes[.account] = .text("\(header.storeID.hexadecimal)-\(slot.salt.hexadecimal)")
            let other = try scratch.driver("\(scratch.folder)/other.keychain")
            try other.add(
                ItemRecord(
                    reference: UUID(),
                    itemClass: .genericPassword,
                    accessGroup: "",
                    isSynchronizable: false,
                    attributes: attributes,
                    creationDate: ItemDate(microseconds: 1),
                    modificationDate: ItemDate(microseconds: 1)
                ),
                Data(contentsOf: Fixture.url("version-1-store.key"))
            )
            let registration = DriverRegistration(
                identifier: "memory",
                summary: "stands for the store that the slot names",
                priority: nil,
                probe: { _ in .available("") },
                open: { url, _ in
                    #expect(url == StoreURL(driver: "memory", path: "keys"))
                    return other
                }
            )
            let driver = try FileDriver(
                path: scratch.path,
                options: StoreOptions(registry: DriverRegistry([registration])),
                environment: [:]
            )
            #expect(try driver.valuesByRecord() == Fixture.store.contents)
        }

        @Test func aSlotThatWasRemovedOrChangedOpensNothing() throws {
            try scratch.put(Fixture.slots.bytes)
            for text in ["removed", "before it was changed"] {
                let driver = try scratch.driver(key: passphrase(text), creation: .never)
                #expect(code { () throws(KeychainError) in _ = try driver.all() } == .authenticationFailed)
            }
            let header = try SealedFile(FilePlace(scratch.path, environment: [:])).header
            #expect(try header.keySlots().map(\.number) == [1, 2, 3])
            #expect(header.generation == 6)
        }

        @Test func theRewrittenFileGoesOnCounting() throws {
            try scratch.put(Fixture.compacted.bytes)
            let header = try SealedFile(FilePlace(scratch.path, environment: [:])).header
            #expect(header.firstSequence == 5)
        }
    }
#endif
