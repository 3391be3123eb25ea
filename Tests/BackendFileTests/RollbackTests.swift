// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import Testing

    @testable import BackendFile

    /// A former state of the file, put in its place.
    struct RollbackTests {
        private let scratch = Scratch()
        private let home: String

        init() throws {
            home = "\(scratch.folder)/home"
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        }

        private var seen: String { "\(home)/.local/state/swift-keychain/seen" }

        private func driver(
            _ path: String? = nil,
            detectsRollback: Bool = true,
            environment: [String: String]? = nil,
            system: any FileSystem = SystemFiles()
        ) throws(KeychainError) -> FileDriver {
            try FileDriver(
                path: path ?? scratch.path,
                options: StoreOptions(
                    keySource: .material(.key(SecureBytes(Scratch.rawKey))),
                    creation: .ifMissing,
                    detectsRollback: detectsRollback
                ),
                environment: environment ?? ["HOME": home],
                cost: .minimal,
                system: system
            )
        }

        private func failure(_ driver: FileDriver) -> KeychainError.Code? {
            code { () throws(KeychainError) in _ = try driver.contents() }
        }

        /// Writes over the file, which stays the same one to the system.
        private func overwrite(_ bytes: Data) throws {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: bytes)
            try file.close()
        }

        @Test func aFileThatHasVanishedIsNoEmptyStoreAndIsNotMadeAnewInSilence() throws {
            try driver().add("bob", "x")
            let backup = try scratch.bytes()
            try FileManager.default.removeItem(atPath: scratch.path)
            #expect(failure(try driver()) == .unavailable)
            #expect(code { () throws(KeychainError) in try driver().add("bob", "y") } == .unavailable)
            #expect(!FileManager.default.fileExists(atPath: scratch.path))
            #expect(try driver(detectsRollback: false).contents() == [:])
            #expect(try driver("\(scratch.folder)/other.keychain").contents() == [:])
            // Put back, it is the same store; made anew on purpose, another one.
            try scratch.put(backup)
            #expect(try driver().contents() == ["bob": Data("x".utf8)])
            try FileManager.default.removeItem(atPath: scratch.path)
            try driver().create(CallContext(.open))
            try driver().add("carol", "y")
            #expect(try driver().contents() == ["carol": Data("y".utf8)])
        }

        @Test func aFormerStateIsRefusedByWhoHasItOpenAndByOthers() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            let backup = try scratch.bytes()
            try mine.add("carol", "y")
            let current = try scratch.bytes()
            for put in [{ try scratch.put(backup) }, { try overwrite(backup) }] {
                try put()
                for driver in [mine, try driver()] {
                    #expect(failure(driver) == .rolledBack)
                    #expect(code { () throws(KeychainError) in try driver.add("dave", "z") } == .rolledBack)
                    #expect(code { () throws(KeychainError) in _ = try driver.value(of: "bob") } == .rolledBack)
                    #expect(code { () throws(KeychainError) in try driver.compact(keyCall) } == .rolledBack)
                    #expect(code { () throws(KeychainError) in try driver.removeKey(0, keyCall) } == .rolledBack)
                }
                #expect(try scratch.bytes() == backup, "It is left as it is.")
                try scratch.put(current)
                #expect(try mine.contents().count == 2, "And the right one is taken again.")
                #expect(try driver().contents().count == 2)
            }
        }

        @Test func removingTheRecordAcceptsTheFormerState() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            let backup = try scratch.bytes()
            try mine.add("carol", "y")
            try scratch.put(backup)
            let error = #expect(throws: KeychainError.self) { try driver().contents() }
            let record = try #require(
                FileManager.default.contentsOfDirectory(atPath: seen).first.map { "\(seen)/\($0)" }
            )
            #expect(error?.message.contains("‘\(record)’") == true, "It says what to remove.")
            #expect(error?.message.contains("change 1 instead of 2") == true)
            try FileManager.default.removeItem(atPath: record)
            #expect(try driver().contents().count == 1)
            #expect(try mine.contents().count == 1)
            // Who had it open remembers from now on again.
            try mine.add("dave", "z")
            #expect(FileManager.default.fileExists(atPath: record))
            try scratch.put(backup)
            #expect(failure(try driver()) == .rolledBack)
        }

        @Test func aFormerStateIsCheckedAndWhatIsSavedOfItIsAcceptedInItsPlace() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            try mine.add("carol", "y")
            #expect(try mine.check(keyCall).rollback == nil)
            let backup = try scratch.bytes()
            try mine.addKey(.material(passphrase("later")), keyCall)
            for number in 0..<3 { try mine.add("\(number)", "z") }
            try scratch.put(backup)
            for (number, driver) in [mine, try driver()].enumerated() {
                let report = try driver.check(keyCall)
                #expect(report.rollback?.code == .rolledBack && !report.isWhole)
                #expect(report.damages.isEmpty && report.itemCount == 2)
                #expect(failure(driver) == .rolledBack, "Nothing is accepted by that.")
                let saved = "\(scratch.folder)/saved \(number)"
                #expect(try driver.repair(to: saved, keyCall).rollback != nil)
                #expect(try scratch.bytes() == backup)
                try scratch.put(try scratch.bytes(saved))
                #expect(try self.driver().contents().count == 2)
                #expect(try mine.check(keyCall).isWhole)
                try mine.add("new \(number)", "x")
                #expect(try self.driver().contents().count == 3)
                try scratch.put(backup)
                #expect(failure(try self.driver()) == .rolledBack, "What it was saved from stays a former state.")
            }
            // What is damaged as well is found.
            try scratch.put(backup.dropLast() + [backup[backup.count - 1] ^ 1])
            let report = try driver().check(keyCall)
            #expect(report.rollback != nil && report.lost.count == 1 && report.itemCount == 1)
        }

        @Test func aCopyElsewhereIsAFileOfItsOwn() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            let copy = "\(scratch.folder)/copy.keychain"
            try scratch.put(try scratch.bytes(), at: copy)
            try mine.add("carol", "y")
            #expect(try driver(copy).contents().count == 1)
            try driver(copy).add("dave", "z")
            #expect(try driver().contents().count == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: seen).count == 2)
        }

        @Test func anotherStoreInThePlaceIsNoFormerState() throws {
            let mine = try driver()
            for number in 0..<5 { try mine.add("\(number)", "x") }
            try FileManager.default.removeItem(atPath: scratch.path)
            try driver().create(CallContext(.open))
            try driver().add("new", "x")
            #expect(try driver().contents().count == 1)
        }

        @Test func compactingRepairingAndRotatingAreNoStepBack() throws {
            let mine = try driver()
            let gone = try mine.add("gone", "x")
            try mine.add("bob", "x")
            try mine.remove(gone)
            try mine.compact(keyCall)
            #expect(try driver().contents().count == 1)
            let repaired = "\(scratch.folder)/repaired.keychain"
            _ = try driver().repair(to: repaired, keyCall)
            try scratch.put(try scratch.bytes(repaired))
            #expect(try driver().contents().count == 1)
            #expect(try mine.contents().count == 1)
            let backup = try scratch.bytes()
            try mine.rotate([.material(.key(SecureBytes(Scratch.rawKey)))], keyCall)
            #expect(try driver().contents().count == 1)
            try scratch.put(backup)
            #expect(failure(try driver()) == .rolledBack)
        }

        @Test func formerKeySlotsAreAFormerState() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            try mine.addKey(.material(passphrase("wrong hands")), keyCall)
            let backup = try scratch.bytes()
            // Another process that has not looked at the head since.
            let other = try driver()
            _ = try other.all()
            try mine.removeKey(1, keyCall)
            try other.add("carol", "y")
            #expect(try driver().contents().count == 2)
            // The head alone, whose generation is all that tells.
            var bytes = try scratch.bytes()
            bytes.replaceSubrange(0..<FileLayout.marks[0], with: backup.prefix(FileLayout.marks[0]))
            try scratch.put(bytes)
            let error = #expect(throws: KeychainError.self) { try driver().contents() }
            #expect(error?.code == .rolledBack)
            #expect(error?.message.contains("state 2 of its key slots instead of 3") == true)
        }

        @Test func aFormerStateDoesNotPassByBeingDamaged() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            let backup = try scratch.bytes()
            try mine.add("carol", "y")
            for place in [FileLayout.marks[0] + 200, backup.count - 1, FileLayout.regionSize + 60] {
                var bytes = backup
                bytes[place] ^= 1
                try scratch.put(bytes)
                let fresh = try driver()
                #expect(code { () throws(KeychainError) in _ = try fresh.value(of: "bob") } == .rolledBack, "\(place)")
            }
            try scratch.put(backup.dropLast(20))
            #expect(failure(try driver()) == .rolledBack)
        }

        @Test func aFileThatLostItsEndIsDamagedAndNotOld() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            try mine.add("carol", "y")
            try scratch.put(try scratch.bytes().dropLast(20))
            #expect(failure(try driver()) == .corrupt)
            #expect(try driver().check(keyCall).damages.map(\.finding) == ["it was cut off"])
        }

        @Test func whoDoesNotAskIsNotTold() throws {
            let mine = try driver()
            try mine.add("bob", "x")
            let backup = try scratch.bytes()
            try mine.add("carol", "y")
            try scratch.put(backup)
            #expect(try driver(detectsRollback: false).contents().count == 1)
            #expect(try driver(environment: [:]).contents().count == 1)
            #expect(failure(try driver()) == .rolledBack)
        }

        @Test func aHomeThatCannotBeWrittenIsNoHindrance() throws {
            try scratch.put(Data(), at: "\(scratch.folder)/file")
            // Not a HOME that is empty or relative: then it is the account's own folder, which no test touches.
            for environment in [[:], ["HOME": "\(scratch.folder)/file"], ["XDG_STATE_HOME": "/proc/nothing"]] {
                let path = "\(scratch.folder)/\(UUID().uuidString)"
                try driver(path, environment: environment).add("bob", "x")
                #expect(try driver(path, environment: environment).contents().count == 1)
            }
        }

        @Test func aRecordThatIsGarbageIsNoHindrance() throws {
            try driver().add("bob", "x")
            let record = try #require(FileManager.default.contentsOfDirectory(atPath: seen).first)
            var status = stat()
            #expect(stat("\(seen)/\(record)", &status) == 0 && status.st_mode & 0o777 == 0o600)
            let own = try SealedFile(FilePlace(scratch.path, environment: [:])).header.storeID
            for garbage in ["", "garbage", "a b c", "\u{0}"].map({ Data($0.utf8) })
                + [Data(own + [UInt8](repeating: 0xFF, count: 16))]
            {
                try garbage.write(to: URL(fileURLWithPath: "\(seen)/\(record)"))
                let saved = "\(scratch.folder)/\(UUID())"
                #expect(try driver().repair(to: saved, keyCall).isWhole)
                #expect(try driver(saved).contents().count >= 1)
                #expect(try driver().contents().count >= 1)
                try driver().add(UUID().uuidString, "x")
                #expect(try Data(contentsOf: URL(fileURLWithPath: "\(seen)/\(record)")).starts(with: own))
            }
        }

        /// Another process may make the file, and leave its record, between the look for the one and that for the other.
        @Test(arguments: 1...8) func aFileThatIsMadeMeanwhileHasNotVanished(look: Int) throws {
            try driver().add("a", "x")
            let late = LateFiles(path: scratch.path, hiddenAt: look)
            let reader = try driver(system: late)
            #expect(failure(reader) == nil)
            try reader.add("b", "x")
            #expect(try driver().contents().count == 2)
        }

        @Test(.timeLimit(.minutes(5))) func manyWritersNeverSeeAFormerState() throws {
            let tools = try (0..<4).map {
                try Tool(["churn", scratch.path, scratch.keyFile, "writer \($0)", "60"], home: home)
            }
            let mine = try driver()
            for number in 0..<40 {
                #expect(failure(try driver()) == nil)
                try mine.add("mine \(number)", "x")
                if number % 10 == 9 { try mine.compact(keyCall) }
            }
            for tool in tools {
                let result = try tool.finish()
                #expect(result.status == 0, "\(result.errors)")
            }
            #expect(try driver().contents().count == 80)
            #expect(try FileManager.default.contentsOfDirectory(atPath: seen).count == 1)
        }
    }
#endif
