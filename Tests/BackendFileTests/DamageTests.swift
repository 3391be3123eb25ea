// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem
    import Testing

    @testable import BackendFile

    /// A file that is not as it was written: never a wrong value, never a loss without an error, never a crash.
    struct DamageTests {
        private let scratch = Scratch()

        /// A file in which every kind of operation occurs.
        private func fixture(_ path: String? = nil) throws -> [String: Data] {
            let driver = try scratch.driver(path)
            let one = try driver.add(passwordRecord("one", label: "First"), Data("value 1".utf8))
            let gone = try driver.add("gone", "value 2")
            var changed = one
            changed.attributes[.label] = .text("Second")
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                try writer.commit([
                    .update(old: one, new: changed, value: nil), .delete(gone),
                    .insert(passwordRecord("three"), SecureBytes(Data("value 3".utf8))),
                ])
            }
            try driver.replace(changed, Data("value 4".utf8))
            return ["one": Data("value 4".utf8), "three": Data("value 3".utf8)]
        }

        /// The bytes of the fixture that may be damaged without an error, since nothing is lost with them.
        ///
        /// Those that are there twice, and the sealed values that were replaced or removed.
        private func harmless(_ file: Data) -> IndexSet {
            var harmless = IndexSet(0..<FileLayout.marks[0])
            for start in FileLayout.marks { harmless.formUnion(IndexSet(start..<start + FileLayout.markSize)) }
            var end = FileLayout.regionSize
            for frame in frames(file).prefix(2) {
                end += frame.count
                harmless.formUnion(IndexSet(end - FileLayout.paddedSize(7) - Sodium.tagSize..<end))
            }
            return harmless
        }

        @Test(arguments: 0..<8)
        func noFlippedBitPassesUnnoticed(bit: Int) throws {
            let expected = try fixture()
            let whole = try [UInt8](scratch.bytes())
            let harmless = try harmless(scratch.bytes())
            let file = try FileDescriptor(scratch.path, O_RDWR, action: "test")
            var wrong: [String] = []
            var damaged = 0
            // Every bit of what is used; of the zeros in the head, which are checked as one piece, one bit of each byte.
            let offsets = whole.indices.filter {
                $0 >= FileLayout.regionSize || whole[$0] != 0 || $0 % 8 == bit
            }
            for offset in offsets {
                try file.write([whole[offset] ^ (1 << UInt8(bit))], at: UInt64(offset))
                // In the unused part of the head nothing is lost either, and no one writes all the same.
                let isReadable = harmless.contains(offset) || offset < FileLayout.regionSize
                let driver = try fresh()
                do throws(KeychainError) {
                    let contents = try driver.contents()
                    if !isReadable || contents != expected { wrong.append("\(offset): read") }
                } catch {
                    if isReadable || error.code != .corrupt { wrong.append("\(offset): \(error)") }
                }
                for (account, value) in expected where !isReadable {
                    do throws(KeychainError) {
                        if try driver.value(of: account) != value { wrong.append("\(offset): \(account)") }
                    } catch {
                        if error.code != .corrupt { wrong.append("\(offset): \(error)") }
                    }
                }
                // A value is only looked at when it is asked for; all other damage keeps writers away.
                if !harmless.contains(offset), try !driver.check(CallContext(.info)).damages.isEmpty { damaged += 1 }
                try file.write([whole[offset]], at: UInt64(offset))
            }
            #expect(wrong == [])
            #expect(damaged == offsets.count { !harmless.contains($0) }, "The check finds them all.")
            #expect(try [UInt8](scratch.bytes()) == whole)
            #expect(try scratch.driver().contents() == expected)
        }

        private func fresh() throws(KeychainError) -> FileDriver {
            try FileDriver(
                path: scratch.path,
                options: StoreOptions(keySource: .material(.key(SecureBytes(Scratch.rawKey)))),
                environment: [:],
                cost: .minimal
            )
        }

        @Test func noCutPassesUnnoticed() throws {
            _ = try fixture()
            let whole = try scratch.bytes()
            var wrong: [Int] = []
            // Every length among the records, and a sample of those in the head.
            let lengths = Array(stride(from: 0, to: FileLayout.regionSize, by: 61))
            for length in lengths + Array(FileLayout.regionSize..<whole.count) {
                try scratch.put(whole.prefix(length))
                let read = code { () throws(KeychainError) in _ = try fresh().contents() }
                let write = code { () throws(KeychainError) in try fresh().add("x", "x") }
                if read != .corrupt || write != .corrupt { wrong.append(length) }
                #expect(try scratch.bytes().count == length)
            }
            #expect(wrong == [])
        }

        @Test func whatAKilledWriterLeftIsPassedOverAndCutOff() throws {
            let driver = try scratch.driver()
            try driver.add("one", "1")
            let before = try scratch.bytes()
            try driver.add("two", "2")
            let frame = try scratch.bytes().dropFirst(before.count)
            for length in stride(from: 0, to: frame.count, by: 7) {
                for garbage in [Data(frame.prefix(length)), Data(repeating: 0, count: length)] {
                    try scratch.put(before + garbage)
                    let reader = try scratch.driver()
                    #expect(try reader.contents() == ["one": Data("1".utf8)])
                    #expect(try scratch.bytes() == before + garbage)
                    try scratch.driver().add("three", "3")
                    #expect(try reader.contents() == ["one": Data("1".utf8), "three": Data("3".utf8)])
                    #expect(try scratch.driver().contents().count == 2)
                }
            }
        }

        @Test func aCompleteRecordThatIsNotMarkedCounts() throws {
            let driver = try scratch.driver()
            var marks = [try scratch.driver().create(CallContext(.open), thenRead: scratch)]
            for number in 0..<6 {
                try driver.add("\(number)", "x")
                marks.append(try [UInt8](scratch.bytes())[FileLayout.marks[0]..<FileLayout.regionSize])
            }
            let whole = try scratch.bytes()
            for mark in marks {
                for torn in [nil, 0, 1] as [Int?] {
                    var bytes = whole
                    bytes.replaceSubrange(FileLayout.marks[0]..<FileLayout.regionSize, with: mark)
                    // One of the two marks is torn as well, if the other one is there.
                    let other = torn.map { FileLayout.marks[1 - $0] }
                    if let torn, let other, bytes[other..<other + 8].contains(where: { $0 != 0 }) {
                        let start = FileLayout.marks[torn]
                        bytes.replaceSubrange(
                            start..<start + FileLayout.markSize,
                            with: Data(repeating: 0x55, count: 80)
                        )
                    }
                    try scratch.put(bytes)
                    #expect(try scratch.driver().contents().count == 6)
                    try scratch.driver().add("new", "x")
                    #expect(try scratch.driver().contents().count == 7)
                    // The next mark may be torn too: the one before it has to be there still.
                    for start in FileLayout.marks {
                        var once = try scratch.bytes()
                        once.replaceSubrange(
                            start..<start + FileLayout.markSize,
                            with: Data(repeating: 0xAA, count: 80)
                        )
                        try scratch.put(once, at: "\(scratch.folder)/b.keychain")
                        #expect(try scratch.driver("\(scratch.folder)/b.keychain").contents().count == 7)
                    }
                }
            }
        }

        @Test func withoutAnyMarkNothingIsTakenOnTrust() throws {
            _ = try fixture()
            var bytes = try scratch.bytes()
            for start in FileLayout.marks {
                bytes.replaceSubrange(start..<start + FileLayout.markSize, with: Data(repeating: 0, count: 80))
            }
            try scratch.put(bytes)
            #expect(code { () throws(KeychainError) in _ = try fresh().contents() } == .corrupt)
        }

        @Test func aDamagedCopyOfTheHeadIsMendedByTheNextWriter() throws {
            let expected = try fixture()
            for copy in FileLayout.headerCopies {
                let before = try scratch.bytes()
                var bytes = before
                bytes.replaceSubrange(
                    copy..<copy + FileLayout.pageSize,
                    with: Data(repeating: 0, count: FileLayout.pageSize)
                )
                try scratch.put(bytes)
                #expect(try scratch.driver().contents() == expected)
                #expect(try scratch.bytes() == bytes)
                let driver = try scratch.driver()
                try driver.remove(try driver.add("new", "x"))
                let head = 0..<FileLayout.marks[0]
                #expect(try scratch.bytes()[head] == before[head])
            }
        }

        /// The frames of a file; their lengths are in clear.
        private func frames(_ file: Data) -> [Data] {
            var rest = [UInt8](file.dropFirst(FileLayout.regionSize))
            var frames: [Data] = []
            while rest.count >= 8 {
                let count = Int(rest.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
                frames.append(Data(rest.prefix(count)))
                rest.removeFirst(count)
            }
            return frames
        }

        @Test func recordsCannotBeMovedDroppedDoubledOrMixed() throws {
            let other = "\(scratch.folder)/other.keychain"
            for path in [scratch.path, other] {
                let driver = try scratch.driver(path)
                for number in 0..<4 { try driver.add("\(number)", "value") }
            }
            let whole = try scratch.bytes()
            let head = whole.prefix(FileLayout.regionSize)
            let mine = frames(whole)
            let others = frames(try scratch.bytes(other))
            #expect(mine.count == 4)
            // The first follows nothing, and names no items of the one before.
            #expect(Set(mine.dropFirst().map(\.count)).count == 1)
            let forgeries: [[Data]] = [
                [mine[1], mine[0], mine[2], mine[3]],
                [mine[0], mine[2], mine[1], mine[3]],
                [mine[0], mine[0], mine[2], mine[3]],
                [mine[0], mine[1], mine[3]],
                [mine[1], mine[2], mine[3]],
                [mine[0], mine[1], mine[2], mine[2]],
                [mine[0], others[1], mine[2], mine[3]],
                others,
            ]
            for forgery in forgeries {
                try scratch.put(head + forgery.reduce(Data(), +))
                #expect(code { () throws(KeychainError) in _ = try fresh().contents() } == .corrupt)
            }
            // After the mark, where an unfinished record may be, they are no records either.
            for forgery in [mine + [mine[0]], mine + [mine[3]], mine + [others[3]]] {
                try scratch.put(head + forgery.reduce(Data(), +))
                #expect(try fresh().contents().count == 4)
            }
        }

        @Test func valuesCannotBeExchanged() throws {
            let driver = try scratch.driver()
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                try writer.commit([
                    .insert(passwordRecord("a"), SecureBytes(Data("1".utf8))),
                    .insert(passwordRecord("b"), SecureBytes(Data("2".utf8))),
                ])
            }
            let first = try driver.all()[0]
            try driver.replace(first, Data("3".utf8))
            let whole = try scratch.bytes()
            let sealed = FileLayout.paddedSize(1) + Sodium.tagSize
            let frames = frames(whole)
            let firstEnd = FileLayout.regionSize + frames[0].count
            let places = [firstEnd - 2 * sealed, firstEnd - sealed, whole.count - sealed]
            for (one, two) in [(0, 1), (0, 2), (1, 2)] {
                var bytes = whole
                let (one, two) = (places[one]..<places[one] + sealed, places[two]..<places[two] + sealed)
                bytes.replaceSubrange(one, with: whole[two])
                bytes.replaceSubrange(two, with: whole[one])
                try scratch.put(bytes)
                #expect(try scratch.driver().all().count == 2)
                #expect(code { () throws(KeychainError) in _ = try fresh().contents() } == .corrupt)
            }
        }

        @Test(arguments: [
            DerivationCost(operations: 17, memory: 8192), DerivationCost(operations: 1, memory: 2 << 30),
            DerivationCost(operations: .max, memory: .max), DerivationCost(operations: 1, memory: 1 << 62),
        ])
        func aHeaderThatAsksForTooMuchIsRefusedBeforeAnyoneIsAsked(cost: DerivationCost) throws {
            try scratch.driver(key: passphrase("x")).add("bob", "x")
            try forgeSlots { slot in
                slot.replaceSubrange(4..<8, with: cost.operations.littleEndianBytes)
                slot.replaceSubrange(8..<16, with: cost.memory.littleEndianBytes)
            }
            try expectRefusal(.unsupported)
        }

        @Test func manySlotsThatAskForTooMuchTogetherAreRefused() throws {
            try scratch.driver(key: passphrase("x")).add("bob", "x")
            try forgeSlots(all: true) { slot in
                slot.replaceSubrange(4..<8, with: UInt32(2).littleEndianBytes)
                slot.replaceSubrange(8..<16, with: UInt64(1 << 30).littleEndianBytes)
            }
            try expectRefusal(.unsupported)
        }

        @Test func whatAKeySlotAsksForMeansNothing() throws {
            try scratch.driver().add("bob", "x")
            try forgeSlots(all: true) { $0.replaceSubrange(4..<16, with: Data(repeating: 0xFF, count: 12)) }
            #expect(code { () throws(KeychainError) in _ = try fresh().all() } == .authenticationFailed)
        }

        @Test func aHeaderThatAsksForNothingIsDamaged() throws {
            try scratch.driver(key: passphrase("x")).add("bob", "x")
            try forgeSlots { $0.replaceSubrange(4..<16, with: Data(repeating: 0, count: 12)) }
            try expectRefusal(.corrupt)
        }

        @Test func aHeaderThatWasChangedWithoutTheKeyIsDamaged() throws {
            try scratch.driver().add("bob", "x")
            // A slot that is not used: all is well for who does not know the key.
            try forgeSlots { $0[$0.startIndex + 200] = 1 }
            #expect(code { () throws(KeychainError) in _ = try fresh().all() } == .corrupt)
        }

        private func expectRefusal(_ expected: KeychainError.Code) throws {
            let before = try scratch.bytes()
            let prompt = CountingPrompt("x")
            let driver = try FileDriver(
                path: scratch.path,
                options: StoreOptions(keySource: .prompt, prompt: prompt),
                environment: [:]
            )
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == expected)
            #expect(prompt.asked == [])
            #expect(try scratch.bytes() == before)
        }

        /// Changes key slots in both copies of the head, and makes the checksums right.
        private func forgeSlots(all: Bool = false, _ change: (inout Data) -> Void) throws {
            var bytes = try scratch.bytes()
            for copy in FileLayout.headerCopies {
                let first = copy + FileLayout.slotsStart
                var slot = Data(bytes[first..<first + FileLayout.slotSize])
                change(&slot)
                for number in 0..<(all ? FileLayout.slotCount : 1) {
                    let start = first + number * FileLayout.slotSize
                    bytes.replaceSubrange(start..<start + FileLayout.slotSize, with: slot)
                }
                let end = copy + FileLayout.headerChecksumStart
                bytes.replaceSubrange(end..<end + 32, with: Sodium.hash([UInt8](bytes[copy..<end])))
            }
            try scratch.put(bytes)
        }
    }

    extension FileDriver {
        /// Creates the file, and gives its marks.
        fileprivate func create(_ call: CallContext, thenRead scratch: Scratch) throws -> ArraySlice<UInt8> {
            try create(call)
            return try [UInt8](scratch.bytes())[FileLayout.marks[0]..<FileLayout.regionSize]
        }
    }
#endif
