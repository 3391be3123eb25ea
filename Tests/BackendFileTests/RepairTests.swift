// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import KeychainSodium
    import Testing

    @testable import BackendFile

    /// What is left of a damaged file: found, told and saved.
    struct RepairTests {
        private let scratch = Scratch()
        private var repaired: String { "\(scratch.folder)/repaired.keychain" }

        /// Makes a file with a number of items, one commit each, and gives the end of each commit.
        private func makeFile(_ count: Int) throws -> [Int] {
            let driver = try scratch.driver()
            var ends = [FileLayout.regionSize]
            for number in 0..<count {
                try driver.add("\(number)", "value \(number)")
                ends.append(try scratch.bytes().count)
            }
            return ends
        }

        private func value(_ number: Int) -> Data { Data("value \(number)".utf8) }

        private func damage(_ offset: Int) throws {
            var bytes = try scratch.bytes()
            bytes[offset] ^= 0x20
            try scratch.put(bytes)
        }

        private func accounts(_ records: [ItemRecord]) -> [String] {
            records.compactMap { if case .text(let account)? = $0.attributes[.account] { account } else { nil } }
                .sorted()
        }

        /// Everything that has to hold of a damaged file, whatever the damage.
        private func expectRefusal(at offset: Int, _ comment: Comment) throws {
            let before = try scratch.bytes()
            let driver = try scratch.driver()
            let list = #expect(throws: KeychainError.self) { try driver.contents() }
            #expect(list?.code == .corrupt, comment)
            let writes = [
                failure { () throws(KeychainError) in try driver.add("new", "x") },
                failure { () throws(KeychainError) in try driver.compact(keyCall) },
                failure { () throws(KeychainError) in try driver.addKey(.material(passphrase("x")), keyCall) },
                failure { () throws(KeychainError) in try driver.rotate([.material(passphrase("x"))], keyCall) },
            ]
            for error in writes {
                #expect(error?.code == .corrupt, comment)
                #expect(error?.message.contains("at byte \(offset)") == true, "\(error?.message ?? "")")
            }
            #expect(try scratch.bytes() == before)
        }

        private func failure(_ body: () throws(KeychainError) -> Void) -> KeychainError? {
            do throws(KeychainError) {
                try body()
                return nil
            } catch {
                return error
            }
        }

        private func repair() throws -> FileReport {
            let before = try scratch.bytes()
            let report = try scratch.driver().repair(to: repaired, keyCall)
            #expect(try scratch.bytes() == before, "The damaged file is not changed.")
            #expect(try scratch.driver(repaired).check(keyCall).isWhole)
            try scratch.driver(repaired).add("new", "x")
            return report
        }

        @Test func aWholeFileIsWholeAndSavedAsItIs() throws {
            _ = try makeFile(5)
            let report = try scratch.driver().check(keyCall)
            #expect(report.isWhole && report.itemCount == 5 && !report.isIncomplete)
            #expect(report.lost.isEmpty && report.doubtful.isEmpty && report.mendable.isEmpty)
            let before = try scratch.driver().all()
            #expect(try repair().itemCount == 5)
            #expect(try scratch.driver(repaired).all().filter { accounts([$0]) != ["new"] } == before)
        }

        @Test(arguments: 0..<5) func aDamagedRecordLosesItsItemAlone(number: Int) throws {
            let ends = try makeFile(5)
            try damage(ends[number] + FileLayout.frameHeadSize + 10)
            try expectRefusal(at: ends[number], "record \(number)")
            let driver = try scratch.driver()
            for other in 0..<5 where other != number {
                let isLast = number == 4
                if isLast {
                    // Nothing behind it says what it was about: it may have removed any of them.
                    #expect(code { () throws(KeychainError) in _ = try driver.value(of: "\(other)") } == .corrupt)
                } else {
                    #expect(try driver.value(of: "\(other)") == value(other))
                }
            }
            #expect(code { () throws(KeychainError) in _ = try driver.value(of: "\(number)") } == .corrupt)
            let report = try driver.check(keyCall)
            #expect(report.isIncomplete && report.itemCount == 4)
            #expect(report.damages.map(\.offset) == [UInt64(ends[number])])
            #expect(report.damages.map(\.count) == [UInt64(ends[number + 1] - ends[number])])
            #expect(accounts(report.doubtful).count == (number == 4 ? 4 : 0))
            #expect(report.lost.isEmpty, "Nothing is known of it.")
            #expect(try repair().itemCount == 4)
            var expected = ["new": Data("x".utf8)]
            for other in 0..<5 where other != number { expected["\(other)"] = value(other) }
            #expect(try scratch.driver(repaired).contents() == expected)
        }

        @Test func aDamagedChangeMakesItsItemDoubtful() throws {
            let driver = try scratch.driver()
            let bob = try driver.add("bob", "old")
            try driver.add("carol", "y")
            let start = try scratch.bytes().count
            try driver.replace(bob, Data("new".utf8))
            try driver.add("dave", "z")
            try damage(start + FileLayout.frameHeadSize)
            try expectRefusal(at: start, "change")
            let fresh = try scratch.driver()
            #expect(code { () throws(KeychainError) in _ = try fresh.value(of: "bob") } == .corrupt)
            #expect(try fresh.value(of: "carol") == Data("y".utf8))
            let report = try repair()
            #expect(accounts(report.doubtful) == ["bob"])
            #expect(report.itemCount == 3)
            #expect(try scratch.driver(repaired).value(of: "bob") == Data("old".utf8), "The last state that is intact.")
        }

        @Test func aDamagedValueLosesItsItemAlone() throws {
            let ends = try makeFile(5)
            try damage(ends[3] - 1)
            let driver = try scratch.driver()
            #expect(try driver.all().count == 5, "What describes the items is intact.")
            #expect(try driver.value(of: "1") == value(1))
            #expect(code { () throws(KeychainError) in _ = try driver.value(of: "2") } == .corrupt)
            let report = try driver.check(keyCall)
            #expect(accounts(report.lost) == ["2"] && report.itemCount == 4 && !report.isWhole)
            let sealed = UInt64(FileLayout.paddedSize(7) + Sodium.tagSize)
            #expect(report.damages.map(\.offset) == [UInt64(ends[3]) - sealed])
            #expect(report.damages.map(\.count) == [sealed])
            // What cannot be read is not thrown away either: the rewrite fails, and the file stays.
            let before = try scratch.bytes()
            #expect(code { () throws(KeychainError) in try driver.compact(keyCall) } == .corrupt)
            #expect(try scratch.bytes() == before)
            #expect(accounts(try repair().lost) == ["2"])
            #expect(try Set(scratch.driver(repaired).contents().keys) == ["0", "1", "3", "4", "new"])
        }

        @Test func aHoleOfZerosIsReadAFewTimesAndNotOncePerByte() throws {
            let ends = try makeFile(1)
            try scratch.driver().add("large", String(repeating: "x", count: 400_000))
            let hole = ends.last!..<(try scratch.bytes().count)
            try scratch.driver().add("after", "x")
            var bytes = try scratch.bytes()
            bytes.replaceSubrange(hole, with: Data(count: hole.count))
            try scratch.put(bytes)
            let files = CountingFiles()
            let report = try scratch.driver(system: files).check(keyCall)
            #expect(!report.isWhole)
            #expect(files.read < 4 * bytes.count)
        }

        @Test func aTailThatWasCutOffMakesEverythingDoubtful() throws {
            let ends = try makeFile(5)
            for length in [ends[3], ends[3] + 1, ends[4] - 1] {
                let whole = try scratch.bytes()
                try scratch.put(whole.prefix(length))
                try expectRefusal(at: length, "cut at \(length)")
                let report = try repair()
                #expect(report.damages.map(\.finding) == ["it was cut off"])
                #expect(accounts(report.doubtful) == ["0", "1", "2"] && report.isIncomplete)
                #expect(try Set(scratch.driver(repaired).contents().keys) == ["0", "1", "2", "new"])
                try FileManager.default.removeItem(atPath: repaired)
                try scratch.put(whole)
            }
        }

        @Test func withoutMarksEverythingIsDoubtfulAndSaved() throws {
            _ = try makeFile(5)
            var bytes = try scratch.bytes()
            for start in FileLayout.marks {
                bytes.replaceSubrange(start..<start + FileLayout.markSize, with: Data(repeating: 0, count: 80))
            }
            try scratch.put(bytes)
            try expectRefusal(at: FileLayout.marks[0], "no marks")
            let report = try repair()
            #expect(report.itemCount == 5 && accounts(report.doubtful).count == 5 && report.isIncomplete)
            #expect(try scratch.driver(repaired).contents().count == 6)
        }

        @Test func somethingInTheUnusedPartOfTheHeadLosesNothing() throws {
            _ = try makeFile(3)
            let place = FileLayout.marks[1] + FileLayout.markSize
            try damage(place + 7)
            #expect(try scratch.driver().contents().count == 3)
            #expect(code { () throws(KeychainError) in try scratch.driver().add("new", "x") } == .corrupt)
            let report = try repair()
            #expect(report.damages.map(\.offset) == [UInt64(place)])
            #expect(report.lost.isEmpty && report.doubtful.isEmpty && !report.isIncomplete && report.itemCount == 3)
        }

        @Test func aDamagedCopyIsMendable() throws {
            _ = try makeFile(3)
            for place in FileLayout.headerCopies + FileLayout.marks {
                try damage(place + 20)
                let report = try scratch.driver().check(keyCall)
                #expect(report.mendable.map(\.offset) == [UInt64(place)], "\(place)")
                #expect(report.damages.isEmpty && !report.isWhole && report.itemCount >= 3)
                // A copy of the head is mended by the next write, a mark by one of the next two.
                for _ in 0..<2 { try scratch.driver().add(UUID().uuidString, "x") }
                #expect(try scratch.driver().check(keyCall).isWhole, "\(place)")
            }
        }

        @Test func theRepairedFileOpensWithTheSameKeys() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            try driver.addKey(.material(passphrase("second")), keyCall)
            try driver.addKey(.material(passphrase("third")), keyCall)
            try driver.removeKey(1, keyCall)
            try damage(try scratch.bytes().count - 1)
            _ = try scratch.driver(key: passphrase("third")).repair(to: repaired, keyCall)
            #expect(try scratch.driver(repaired).keySlots() == driver.keySlots())
            _ = try scratch.driver(repaired).all()
            _ = try scratch.driver(repaired, key: passphrase("third")).all()
            #expect(
                code { () throws(KeychainError) in
                    _ = try scratch.driver(repaired, key: passphrase("second")).all()
                } == .authenticationFailed
            )
        }

        @Test func nothingIsWrittenOver() throws {
            _ = try makeFile(2)
            try scratch.put(Data("mine".utf8), at: repaired)
            for target in [repaired, scratch.path] {
                #expect(
                    code { () throws(KeychainError) in _ = try scratch.driver().repair(to: target, keyCall) }
                        == .duplicateItem
                )
            }
            #expect(try scratch.bytes(repaired) == Data("mine".utf8))
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain", "repaired.keychain"])
        }

        @Test func aRepairThatFailsLeavesNothing() throws {
            _ = try makeFile(2)
            let wrong = try scratch.driver(key: passphrase("wrong"))
            #expect(code { () throws(KeychainError) in _ = try wrong.check(keyCall) } == .authenticationFailed)
            #expect(
                code { () throws(KeychainError) in _ = try wrong.repair(to: repaired, keyCall) }
                    == .authenticationFailed
            )
            let cancelled = CallContext(.update)
            cancelled.cancel()
            #expect(
                code { () throws(KeychainError) in _ = try scratch.driver().repair(to: repaired, cancelled) }
                    == .cancelled
            )
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain"])
            try scratch.put(Data(repeating: 7, count: 20_000))
            #expect(code { () throws(KeychainError) in _ = try scratch.driver().check(keyCall) } == .corrupt)
            let missing = try scratch.driver("\(scratch.folder)/missing")
            #expect(code { () throws(KeychainError) in _ = try missing.check(keyCall) } == .unavailable)
            #expect(code { () throws(KeychainError) in _ = try missing.keySlots() } == .unavailable)
            #expect(code { () throws(KeychainError) in try missing.compact(keyCall) } == .unavailable)
        }
    }
#endif
