// SPDX-License-Identifier: MIT
#if File
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainSodium
    import Synchronization
    import Testing

    @testable import BackendFile

    /// Several passphrases and keys for one file.
    struct KeySlotTests {
        private let bench: KeyBench
        private let one = ["bob": Data("x".utf8)]

        init() throws {
            bench = try KeyBench()
        }

        @Test func aStoreThatDoesNotLastKeepsNoKey() throws {
            let driver = try bench.driver(.environment("ONE"), registry: DriverRegistry([.memory]))
            let source = KeySource.store(StoreURL(driver: .memory, path: "\(UUID())"))
            try driver.add("bob", "x")
            let before = try bench.scratch.bytes()
            #expect(code { () throws(KeychainError) in try driver.addKey(source, keyCall) } == .invalidParameter)
            #expect(
                code { () throws(KeychainError) in try driver.changeKey(0, to: source, keyCall) } == .invalidParameter
            )
            #expect(code { () throws(KeychainError) in try driver.rotate([source], keyCall) } == .invalidParameter)
            #expect(try bench.scratch.bytes() == before)
            let new = try bench.driver(source, path: "\(bench.scratch.folder)/new", registry: DriverRegistry([.memory]))
            #expect(code { () throws(KeychainError) in try new.add("bob", "x") } == .invalidParameter)
            #expect(!FileManager.default.fileExists(atPath: "\(bench.scratch.folder)/new"))
        }

        @Test(arguments: 0..<6)
        func everyKindOfSourceCanBeAddedAndRemoved(number: Int) throws {
            let source = bench.sources[number]
            try bench.driver(.material(passphrase("owner"))).add("bob", "x")
            let owner = try bench.driver(.material(passphrase("owner")))
            let before = try bench.body
            let slot = try owner.addKey(source, keyCall)
            #expect(slot.number == 1)
            #expect(try owner.keySlots().map(\.number) == [0, 1])
            #expect(try bench.driver(source).contents() == one)
            #expect(bench.failure(of: .material(passphrase("owner"))) == nil)
            #expect(try bench.body == before, "Nothing but the head was written.")
            try bench.driver(source).removeKey(0, keyCall)
            #expect(bench.failure(of: .material(passphrase("owner"))) == .authenticationFailed)
            #expect(try bench.driver(source).contents() == one)
            try owner.addKey(.material(passphrase("owner again")), keyCall)
            try owner.removeKey(1, keyCall)
            #expect(bench.failure(of: source) == .authenticationFailed)
            #expect(try bench.driver(.material(passphrase("owner again"))).contents() == one)
            #expect(try bench.body == before)
        }

        @Test(arguments: 0..<6)
        func everyKindOfSourceCanMakeAFileAndTakeThePlaceOfAnother(number: Int) throws {
            let source = bench.sources[number]
            try bench.driver(source).add("bob", "x")
            #expect(try bench.driver(source).contents() == one)
            let before = try bench.body
            let driver = try bench.driver(source)
            try driver.changeKey(0, to: .environment("TWO"), keyCall)
            #expect(bench.failure(of: source) == .authenticationFailed)
            #expect(try bench.driver(.environment("TWO")).contents() == one)
            try bench.driver(.environment("TWO")).changeKey(0, to: source, keyCall)
            #expect(bench.failure(of: .environment("TWO")) == .authenticationFailed)
            #expect(try bench.driver(source).contents() == one)
            #expect(try bench.body == before)
        }

        @Test(arguments: 0..<6)
        func everyKindOfSourceUnlocksAFileThatWasEncryptedAnew(number: Int) throws {
            let source = bench.sources[number]
            let owner = try bench.driver(.material(passphrase("owner")))
            try owner.add("bob", "x")
            try owner.rotate([source], keyCall)
            #expect(bench.failure(of: .material(passphrase("owner"))) == .authenticationFailed)
            #expect(try bench.driver(source).contents() == one)
            #expect(try owner.contents() == one)
            try bench.driver(source).rotate([source, .environment("TWO")], keyCall)
            #expect(try bench.driver(source).contents() == one)
            #expect(try bench.driver(.environment("TWO")).usedKey(keyCall)?.slot == 1)
        }

        @Test func aPersonIsAskedForANewPassphraseAsForANewOne() throws {
            try bench.driver(.environment("ONE")).add("bob", "x")
            let prompt = CountingPrompt("second passphrase")
            let driver = try bench.driver(.environment("ONE"), prompt: prompt)
            try driver.addKey(.prompt, keyCall)
            try driver.changeKey(1, to: .prompt, keyCall)
            try driver.rotate([.environment("ONE"), .prompt], keyCall)
            #expect(prompt.asked == [true, true, true])
            #expect(bench.failure(of: .environment("TWO")) == nil)
            let silent = CallContext(.update, interaction: .never)
            #expect(code { () throws(KeychainError) in try driver.addKey(.prompt, silent) } == .interactionNotAllowed)
            #expect(prompt.asked.count == 3)
        }

        @Test func rotatingLeavesNoWayForAnOldKey() throws {
            try bench.driver(.environment("ONE")).add("bob", "x")
            let driver = try bench.driver(.environment("ONE"))
            // The credential's passphrase is in a file as well, and opens one slot.
            let credential = KeySource.file("\(bench.scratch.folder)/credentials/db-key")
            for source in bench.sources.dropFirst() where source != credential { try driver.addKey(source, keyCall) }
            let old = try bench.scratch.bytes()
            let master = try SealedFile(driver.place).header.masterKey(passphrase("first passphrase")).master
            try driver.rotate([.environment("TWO"), .credential("db-key")], keyCall)
            #expect(try driver.keySlots().map(\.number) == [0, 1])
            #expect(try driver.keySlots().map(\.source) == [nil, .credential("db-key")])
            for source in bench.sources where source != .credential("db-key") && source != credential {
                #expect(bench.failure(of: source) == .authenticationFailed, "\(source)")
            }
            #expect(try bench.driver(.environment("TWO")).contents() == one)
            #expect(try bench.driver(.credential("db-key")).contents() == one)
            #expect(try driver.contents() == one)
            let sealed = try SealedFile(driver.place)
            #expect(!sealed.isAuthentic(StoreKeys(master: master)), "The master key is another one.")
            #expect(try sealed.header.masterKey(passphrase("second passphrase")).master != master)
            // Not one sealed piece is as it was.
            let frames = old.dropFirst(FileLayout.regionSize)
            #expect(try bench.scratch.bytes().range(of: frames.suffix(48)) == nil)
        }

        @Test func rotatingNeedsOneToFifteenSources() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            let before = try bench.scratch.bytes()
            for sources in [[], Array(repeating: KeySource.environment("TWO"), count: 16)] {
                #expect(
                    code { () throws(KeychainError) in try driver.rotate(sources, keyCall) } == .invalidParameter
                )
            }
            #expect(
                code { () throws(KeychainError) in try driver.rotate([.environment("NONE")], keyCall) } == .unavailable
            )
            #expect(try bench.scratch.bytes() == before)
            try driver.rotate(Array(repeating: .keyFile(bench.scratch.keyFile), count: 15), keyCall)
            #expect(try driver.keySlots().count == 15)
        }

        @Test func theLastSlotStays() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            let before = try bench.scratch.bytes()
            #expect(code { () throws(KeychainError) in try driver.removeKey(0, keyCall) } == .unsupported)
            for number in [1, 14, 15, -1, .max] {
                #expect(code { () throws(KeychainError) in try driver.removeKey(number, keyCall) } == .invalidParameter)
                #expect(
                    code { () throws(KeychainError) in
                        try driver.changeKey(number, to: .environment("TWO"), keyCall)
                    } == .invalidParameter
                )
            }
            #expect(try bench.scratch.bytes() == before)
        }

        @Test func thereAreFifteenSlotsAndNoneAfterThem() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            for number in 1..<15 {
                #expect(try driver.addKey(.material(passphrase("\(number)")), keyCall).number == number)
            }
            let before = try bench.scratch.bytes()
            let prompt = CountingPrompt("x")
            let full = try bench.driver(.environment("ONE"), prompt: prompt)
            for source in [KeySource.prompt, .store(StoreURL(driver: .memory, path: "keys"))] {
                #expect(code { () throws(KeychainError) in try full.addKey(source, keyCall) } == .unsupported)
            }
            #expect(prompt.asked == [], "No one is asked for what cannot be used.")
            #expect(bench.memory.records.isEmpty, "Nor is a key left in another store.")
            #expect(try bench.scratch.bytes() == before)
            for number in 1..<15 { #expect(bench.failure(of: .material(passphrase("\(number)"))) == nil) }
            // The place of one that was removed is used again.
            try driver.removeKey(7, keyCall)
            #expect(bench.failure(of: .material(passphrase("7"))) == .authenticationFailed)
            #expect(try driver.addKey(.environment("TWO"), keyCall).number == 7)
        }

        @Test func aSlotCostsTheSameInALargeFile() throws {
            let driver = try bench.driver(.environment("ONE"))
            for number in 0..<50 { try driver.add("\(number)", String(repeating: "x", count: 2000)) }
            let disk = CountingFiles()
            let counted = try FileDriver(
                path: bench.path,
                options: StoreOptions(keySource: .environment("ONE")),
                environment: bench.environment,
                cost: .minimal,
                system: disk
            )
            let before = try bench.body
            #expect(before.count > 100_000)
            _ = try counted.all()
            try counted.addKey(.environment("TWO"), keyCall)
            try counted.changeKey(1, to: .keyFile(bench.scratch.keyFile), keyCall)
            try counted.removeKey(1, keyCall)
            // Two copies of the head for each change, whatever the file contains.
            #expect(disk.written == 3 * 2 * FileLayout.pageSize)
            #expect(try bench.body == before)
        }

        @Test func whatWasRemovedIsNotLeftInTheHead() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            try driver.addKey(.environment("TWO"), keyCall)
            let slot = try #require(try SealedFile(driver.place).header.keySlots().first { $0.number == 1 }?.slot)
            #expect(try bench.scratch.bytes().range(of: Data(slot.wrapped)) != nil)
            try driver.removeKey(1, keyCall)
            #expect(try bench.scratch.bytes().range(of: Data(slot.wrapped)) == nil)
        }

        // Others at work.

        @Test func anOpenDriverGoesOnWhenSlotsChange() throws {
            let mine = try bench.driver(.environment("ONE"))
            try mine.add("bob", "x")
            let other = try bench.driver(.environment("ONE"))
            try other.addKey(.environment("TWO"), keyCall)
            try other.removeKey(0, keyCall)
            // Its passphrase is no longer one of the file's, and it was asked for it already.
            #expect(try mine.contents() == one)
            try mine.add("carol", "y")
            #expect(try other.contents().count == 2)
            #expect(bench.failure(of: .environment("ONE")) == .authenticationFailed)
            #expect(try bench.driver(.environment("TWO")).contents().count == 2)
        }

        @Test func anOpenProcessGoesOnWhenSlotsChange() throws {
            let driver = try bench.driver(.keyFile(bench.scratch.keyFile))
            try driver.add("bob", "x")
            let tool = try Tool(["store", bench.path, bench.scratch.keyFile, "item", "100"])
            #expect(tool.line() == "item-0")
            try driver.addKey(.environment("ONE"), keyCall)
            try bench.driver(.environment("ONE")).removeKey(0, keyCall)
            let result = try tool.finish()
            #expect(result.status == 0, "\(result.errors)")
            #expect(try bench.driver(.environment("ONE")).contents().count == 101)
            #expect(try bench.driver(.environment("ONE")).keySlots().map(\.number) == [1])
        }

        @Test func anOpenDriverIsAskedAnewAfterARotation() throws {
            let prompt = ChangingPrompt(["first passphrase", "second passphrase"])
            try bench.driver(.environment("ONE")).add("bob", "x")
            let asked = try bench.driver(.prompt, prompt: prompt)
            let named = try bench.driver(.environment("ONE"))
            #expect(try asked.contents() == one)
            #expect(try named.contents() == one)
            #expect(prompt.count == 1)
            try bench.driver(.environment("ONE")).rotate([.environment("TWO")], keyCall)
            #expect(try asked.contents() == one)
            #expect(prompt.count == 2)
            #expect(code { () throws(KeychainError) in _ = try named.contents() } == .authenticationFailed)
            #expect(code { () throws(KeychainError) in try named.add("carol", "y") } == .authenticationFailed)
            try asked.add("carol", "y")
            #expect(try bench.driver(.environment("TWO")).contents().count == 2)
        }

        @Test func aDriverThatWasOpenBeforeKeepsTheNewSlotsWhenItCompacts() throws {
            let stale = try bench.driver(.environment("ONE"))
            let gone = try stale.add("gone", "x")
            try stale.add("bob", "x")
            let other = try bench.driver(.environment("ONE"))
            try other.addKey(.environment("TWO"), keyCall)
            try other.removeKey(0, keyCall)
            try stale.remove(gone)
            try stale.compact(keyCall)
            #expect(bench.failure(of: .environment("ONE")) == .authenticationFailed)
            #expect(try bench.driver(.environment("TWO")).contents() == one)
            #expect(try stale.keySlots().map(\.number) == [1])
            #expect(try SealedFile(stale.place).header.generation == 3)
            // And when it changes slots itself.
            let staler = try bench.driver(.environment("TWO"))
            _ = try staler.all()
            try other.addKey(.environment("ONE"), keyCall)
            try staler.addKey(.keyFile(bench.scratch.keyFile), keyCall)
            #expect(try other.keySlots().map(\.number) == [0, 1, 2])
        }

        @Test func rotatingKeepsWhatOthersHaveStoredMeanwhile() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            try bench.driver(.environment("ONE")).add("carol", "y")
            try driver.rotate([.environment("TWO")], keyCall)
            #expect(try bench.driver(.environment("TWO")).contents().count == 2)
            #expect(try driver.contents().count == 2)
        }

        @Test func theSlotsSurviveATornCopyOfTheHead() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            let old = try bench.scratch.bytes()
            try driver.addKey(.environment("TWO"), keyCall)
            let new = try bench.scratch.bytes()
            #expect(old.count == new.count)
            // Every state between the two: in each copy old, new, or new up to a sector and old from there on.
            for first in 0...8 {
                for second in 0...8 {
                    // A copy is only begun when the other one is whole: the old one, or the new one.
                    guard [0, 8].contains(first) || [0, 8].contains(second) else { continue }
                    var bytes = old
                    for (copy, sectors) in [(0, first), (1, second)] {
                        let start = FileLayout.headerCopies[copy]
                        let range = start..<start + sectors * 512
                        bytes.replaceSubrange(range, with: new[range])
                    }
                    try bench.scratch.put(bytes)
                    #expect(try bench.driver(.environment("ONE")).contents() == one)
                    let isChanged = first == 8 || second == 8
                    let expected: KeychainError.Code? = isChanged ? nil : .authenticationFailed
                    #expect(bench.failure(of: .environment("TWO")) == expected, "\(first) \(second)")
                    let item = try bench.driver(.environment("ONE")).add("new", "x")
                    let head = try bench.scratch.bytes().prefix(FileLayout.marks[0])
                    #expect(head == (isChanged ? new : old).prefix(FileLayout.marks[0]), "The next writer mends it.")
                    try bench.driver(.environment("ONE")).remove(item)
                }
            }
        }

        // Where the key is found.

        @Test func hintsAreFollowedWhereNoSourceIsNamed() throws {
            try bench.driver(.environment("ONE")).add("bob", "x")
            let driver = try bench.driver(.environment("ONE"))
            try driver.addKey(.credential("db-key"), keyCall)
            #expect(try bench.driver(nil).contents() == one)
            try driver.removeKey(1, keyCall)
            #expect(bench.failure(of: nil) == .interactionNotAllowed)
            try driver.addKey(.store(StoreURL(driver: .memory, path: "keys")), keyCall)
            #expect(try bench.driver(nil).contents() == one)
            #expect(try driver.keySlots().map(\.source) == [nil, .store(StoreURL(driver: .memory, path: "keys"))])
            #expect(try bench.driver(nil).usedKey(keyCall)?.slot == 1)
            // What else is said where the secret is stays unsaid.
            for source in [KeySource.environment("TWO"), .file("\(bench.scratch.folder)/credentials/db-key")] {
                #expect(try driver.addKey(source, keyCall).source == nil)
            }
        }

        @Test func aNamedSourceCountsBeforeAHint() throws {
            try bench.driver(.credential("db-key")).add("bob", "x")
            #expect(bench.failure(of: nil) == nil)
            #expect(bench.failure(of: .environment("TWO")) == .authenticationFailed)
            let environment = bench.environment.merging(["KEYCHAIN_KEY": "env:TWO"]) { $1 }
            #expect(bench.failure(of: nil, environment: environment) == .authenticationFailed)
        }

        @Test func aHintThatCannotBeFollowedGivesItsErrorOrWayToThePrompt() throws {
            try bench.driver(.credential("db-key")).add("bob", "x")
            try bench.driver(nil).addKey(.environment("ONE"), keyCall)
            try FileManager.default.removeItem(atPath: "\(bench.scratch.folder)/credentials/db-key")
            #expect(bench.failure(of: nil) == .unavailable)
            let prompt = CountingPrompt("first passphrase")
            #expect(try bench.driver(nil, prompt: prompt).contents() == one)
            #expect(prompt.asked == [false])
            let silent = try bench.driver(nil, prompt: prompt)
            let call = CallContext(.retrieve, interaction: .never)
            #expect(
                code { () throws(KeychainError) in
                    try silent.read(call) { (reader) throws(KeychainError) in
                        _ = try reader.records(RecordSelection())
                    }
                } == .unavailable
            )
            // A wrong credential is as good as none.
            try bench.scratch.put(Data("other".utf8), at: "\(bench.scratch.folder)/credentials/db-key")
            #expect(bench.failure(of: nil) == .authenticationFailed)
            #expect(try bench.driver(nil, prompt: prompt).contents() == one)
            // Without credentials of its own, a process has nothing to follow.
            #expect(bench.failure(of: nil, environment: [:]) == .interactionNotAllowed)
        }

        @Test func ifOneHintCannotBeFollowedAnotherIs() throws {
            try bench.driver(.store(StoreURL(driver: .memory, path: "keys"))).add("bob", "x")
            try bench.driver(nil).addKey(.credential("db-key"), keyCall)
            bench.memory.inject(.locked)
            #expect(try bench.driver(nil).contents() == one)
        }

        @Test func anotherStoreKeepsAKeyForEachSlot() throws {
            let source = KeySource.store(StoreURL(driver: .memory, path: "keys"))
            try bench.driver(source).add("bob", "x")
            try bench.driver(source).addKey(source, keyCall)
            #expect(bench.memory.records.count == 2)
            try bench.driver(source).removeKey(0, keyCall)
            #expect(try bench.driver(source).contents() == one)
            // Without a registry nothing can be opened, and without the item nothing is found.
            let alone = try FileDriver(
                path: bench.path,
                options: StoreOptions(keySource: source),
                environment: bench.environment
            )
            #expect(code { () throws(KeychainError) in _ = try alone.all() } == .unsupported)
            try Keychain(driver: bench.memory).removeAll()
            #expect(bench.failure(of: source) == .authenticationFailed)
        }

        @Test func aStoreThatFailsToKeepTheKeyMakesNoSlot() throws {
            let source = KeySource.store(StoreURL(driver: .memory, path: "keys"))
            try bench.driver(.environment("ONE")).add("bob", "x")
            let before = try bench.scratch.bytes()
            bench.memory.inject(.failing(.outOfSpace))
            let driver = try bench.driver(.environment("ONE"))
            #expect(code { () throws(KeychainError) in try driver.addKey(source, keyCall) } == .outOfSpace)
            #expect(try bench.scratch.bytes() == before)
            let new = try bench.driver(source, path: "\(bench.scratch.folder)/new.keychain")
            #expect(code { () throws(KeychainError) in try new.add("bob", "x") } == .outOfSpace)
            #expect(!FileManager.default.fileExists(atPath: "\(bench.scratch.folder)/new.keychain"))
        }

        @Test func filesThatNameEachOtherLeadInNoCircle() throws {
            let environment = bench.environment
            let paths = ["a", "b"].map { "\(bench.scratch.folder)/\($0).keychain" }
            let registry = DriverRegistry([.file(environment: environment)])
            let drivers = try paths.map { try bench.driver(.environment("ONE"), path: $0, registry: registry) }
            for driver in drivers { try driver.add("bob", "x") }
            // One may keep the key of the other.
            let inside = registry.replacing(paths[1], with: drivers[1])
            try bench.driver(.environment("ONE"), path: paths[0], registry: inside).addKey(
                .store(StoreURL(driver: .file, path: paths[1])),
                keyCall
            )
            #expect(try bench.driver(nil, path: paths[0], registry: inside).contents() == one)
            // Itself it may not.
            #expect(
                code { () throws(KeychainError) in
                    try drivers[0].addKey(.store(StoreURL(driver: .file, path: paths[0])), keyCall)
                } == .invalidParameter
            )
            try bench.driver(
                .environment("ONE"),
                path: paths[1],
                registry: registry.replacing(paths[0], with: drivers[0])
            ).addKey(.store(StoreURL(driver: .file, path: paths[0])), keyCall)
            for path in paths {
                let lost = try bench.driver(nil, path: path, registry: registry)
                #expect(code { () throws(KeychainError) in _ = try lost.contents() } == .unsupported)
            }
        }

        // Choosing one.

        @Test func aWeakPassphraseIsToldOnceAndTaken() throws {
            let told = Mutex<[String]>([])
            let notice: @Sendable (String) -> Void = { text in told.withLock { $0.append(text) } }
            let driver = try bench.driver(.environment("WEAK"), weaknessNotice: notice)
            try driver.create(keyCall)
            #expect(told.withLock { $0 } == ["it is shorter than 12 bytes"])
            #expect(try bench.driver(.environment("WEAK"), weaknessNotice: notice).contents() == [:])
            #expect(told.withLock(\.count) == 1, "Unlocking says nothing.")
            // Another passphrase than the file has, and no better one.
            let other = KeySource.material(passphrase("hunter3"))
            try driver.addKey(other, keyCall)
            try driver.changeKey(1, to: .environment("WEAK"), keyCall)
            try driver.rotate([.environment("WEAK"), .keyFile(bench.scratch.keyFile)], keyCall)
            #expect(told.withLock(\.count) == 4)
            try driver.addKey(.environment("ONE"), keyCall)
            #expect(told.withLock(\.count) == 4)
            let path = "\(bench.scratch.folder)/new.keychain"
            try bench.driver(.environment("WEAK"), path: path, weaknessNotice: notice).add("bob", "x")
            #expect(told.withLock(\.count) == 5)
        }
    }

    /// Gives another passphrase each time.
    private final class ChangingPrompt: PassphrasePrompt {
        private let texts: [String]
        private let calls = Mutex(0)

        init(_ texts: [String]) {
            self.texts = texts
        }

        var count: Int { calls.withLock { $0 } }

        func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
            let number = calls.withLock { calls in
                defer { calls += 1 }
                return calls
            }
            return SecureBytes(Data(texts[number].utf8))
        }
    }

    extension DriverRegistry {
        /// The same with a driver that is open already in the place of one path.
        fileprivate func replacing(_ path: String, with driver: FileDriver) -> DriverRegistry {
            DriverRegistry([
                DriverRegistration(
                    identifier: .file,
                    summary: "",
                    priority: nil,
                    probe: { _ in .available("") },
                    open: { (_, _) throws(KeychainError) in driver }
                )
            ])
        }
    }
#endif
