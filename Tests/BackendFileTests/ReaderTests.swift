// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import Testing

    @testable import BackendFile

    /// The page about the format suffices: a reader that was written from it alone reads what this library writes, and
    /// refuses what this library refuses.
    struct ReaderTests {
        private let scratch = Scratch()
        private var reader: Reader { Reader(scratch) }

        @Test(arguments: Fixture.allCases)
        func itReadsTheFixtures(fixture: Fixture) throws {
            try scratch.put(fixture.bytes)
            for material in try fixture.materials {
                let answer = try reader.read(material)
                #expect(answer.status == 0, "\(answer.message)")
                #expect(answer.contents == fixture.contents)
                #expect(answer.references == answer.references.sorted { $0.uuidString < $1.uuidString })
            }
            for wrong in [passphrase("removed"), passphrase(""), .key(SecureBytes(Data(repeating: 1, count: 32)))] {
                let answer = try reader.read(wrong)
                #expect(answer.status == 2, "\(answer.message)")
                #expect(answer.contents.isEmpty)
            }
        }

        @Test func itReadsWhatManyOperationsLeave() throws {
            let driver = try scratch.driver()
            try driver.create(CallContext(.open))
            #expect(try reader.read().contents == [:])
            for round in 0..<4 {
                for _ in 0..<60 {
                    try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                        try writer.commit(Self.mutations(of: try writer.records(RecordSelection())))
                    }
                }
                if round == 1 { try driver.compact(CallContext(.store)) }
                let answer = try reader.read()
                #expect(answer.status == 0, "\(answer.message)")
                #expect(try answer.contents == driver.valuesByRecord())
                #expect(answer.contents.count > 5)
            }
        }

        /// One to 20 changes that fit what is there: more than a frame names of the one before it, sometimes.
        private static func mutations(of records: [ItemRecord]) -> [RecordMutation] {
            var rest = records.shuffled()
            return (0..<[1, 1, 1, 2, 20].randomElement()!).map { _ in
                guard Int.random(in: 0..<40) < rest.count, let old = rest.popLast() else {
                    return .insert(randomRecord(), randomValue())
                }
                if Int.random(in: 0..<3) == 0 { return .delete(old) }
                var new = randomRecord()
                new.reference = old.reference
                return .update(old: old, new: new, value: Bool.random() ? nil : randomValue())
            }
        }

        private static func randomValue() -> SecureBytes {
            SecureBytes(Data((0..<[0, 1, 31, 32, 33, 500, 5000].randomElement()!).map { _ in .random(in: 0...255) }))
        }

        /// Two of these never have one primary key.
        private static func randomRecord() -> ItemRecord {
            let itemClass = ItemClass.stored.randomElement()!
            let schema = AttributeSchema.schema(of: itemClass)
            var attributes = AttributeSet()
            for attribute in schema.all where Bool.random() {
                attributes[attribute.name] =
                    switch attribute.form {
                    case .text: .text(["", "ä", "a\u{308}", "\u{10FFFF}\n\"\\", "x"].randomElement()!)
                    case .data: .data(Data((0..<Int.random(in: 0...40)).map { _ in .random(in: 0...255) }))
                    case .integer: .integer([0, 1, -1, .min, .max].randomElement()!)
                    case .boolean: .boolean(.random())
                    }
            }
            return ItemRecord(
                reference: UUID(),
                itemClass: itemClass,
                accessGroup: "group \(UUID())",
                isSynchronizable: .random(),
                attributes: attributes,
                creationDate: ItemDate(microseconds: [0, .min, .max, 1].randomElement()!),
                modificationDate: ItemDate(microseconds: .random(in: .min ... .max))
            )
        }

        @Test func itRefusesWhatIsDamaged() throws {
            let driver = try scratch.driver()
            let one = try driver.add("one", "value 1")
            try driver.replace(one, Data("value 2".utf8))
            try driver.add("two", "value 3")
            let whole = try scratch.bytes()
            let contents = try driver.valuesByRecord()
            let end = whole.count
            let starts = Self.frameStarts(whole)
            let sealed = FileLayout.paddedSize(7) + Sodium.tagSize
            var damages: [(String, Data)] = [
                ("cut by one byte", whole.dropLast()), ("cut in the head", whole.prefix(10_000)), ("empty", Data()),
                ("no header", whole.dropFirst(8192)), ("other magic", Self.changed(whole, at: [0, 4096])),
                ("neither header", Self.changed(whole, at: [100, 4096 + 100])),
                ("neither mark", Self.changed(whole, at: [8192, 12288])),
                ("something behind a mark", Self.changed(whole, at: [8192 + 80])),
                ("something at the end of the marks", Self.changed(whole, at: [16383])),
                ("an unused slot", Self.reheaded(whole) { $0[64 + 14 * 256 + 200] = 1 }),
                ("the generation", Self.reheaded(whole) { $0[63] = 1 }),
                (
                    "the last generation",
                    Self.reheaded(whole) { $0.replaceSubrange(56..<64, with: Array(repeating: 255, count: 8)) }
                ),
                ("the place of the frames", Self.reheaded(whole) { $0[13] = 1 }),
                ("a later version", Self.reheaded(whole) { $0[8] = 2 }),
                ("a slot of too many passes", Self.reheaded(whole) { Self.slot(1, 17, 8192, in: &$0) }),
                ("a slot of too much memory", Self.reheaded(whole) { Self.slot(1, 1, 1 << 31, in: &$0) }),
                ("a slot of no passes", Self.reheaded(whole) { Self.slot(1, 0, 8192, in: &$0) }),
                ("a slot of no memory", Self.reheaded(whole) { Self.slot(1, 1, 8191, in: &$0) }),
                ("a value that is there", Self.changed(whole, at: [end - 1])),
                ("a frame twice", whole[..<starts[1]] + whole[starts[0]...]),
                ("a frame less", whole[..<starts[1]] + whole[starts[2]...]),
            ]
            for start in starts {
                for place in [0, 8, 12, 16, 39, 40, 120] {
                    damages.append(("byte \(place) of frame at \(start)", Self.changed(whole, at: [start + place])))
                }
            }
            for (what, bytes) in damages {
                try scratch.put(bytes)
                let answer = try reader.read()
                #expect(answer.status == 1 && answer.contents.isEmpty, "\(what): \(answer.message)")
                #expect(try isDamaged(), "\(what)")
            }
            let harmless: [(String, Data)] = [
                ("one header", Self.changed(whole, at: [100])), ("the other header", Self.changed(whole, at: [4096])),
                ("one mark", Self.changed(whole, at: [8200])), ("the other mark", Self.changed(whole, at: [12300])),
                ("an unfinished frame", whole + whole[starts[0]..<starts[0] + 150]),
                ("a value that was replaced", Self.changed(whole, at: [starts[1] - sealed])),
            ]
            for (what, bytes) in harmless {
                try scratch.put(bytes)
                let answer = try reader.read()
                #expect(answer.status == 0 && answer.contents == contents, "\(what): \(answer.message)")
            }
            try scratch.put(whole)
            #expect(chmod(scratch.path, 0o640) == 0)
            #expect(try reader.read().status == 1)
        }

        /// What the two say of files that only who has the key can have made, and that break the rules.
        @Test func itAgreesOnFramesThatBreakTheRules() throws {
            let forger = try Forger(scratch)
            let item = passwordRecord("one")
            var other = passwordRecord("one")
            other.attributes[.label] = .text("has the same key")
            let value = SecureBytes(Data("value".utf8))
            func insert(_ record: ItemRecord) -> [RecordOperation] { [RecordOperation(.insert, record)] }
            let forgeries: [(String, isRefused: Bool, [Forger.Frame])] = [
                ("nothing wrong", false, [.init(insert(item), [value])]),
                ("inserted twice", true, [.init(insert(item), [value]), .init(insert(item), [value])]),
                ("one key twice", true, [.init(insert(item), [value]), .init(insert(other), [value])]),
                (
                    "one key twice, and then no more", false,
                    [.init(insert(item) + insert(other) + [RecordOperation(.delete, item)], [value, value])]
                ),
                ("changed, and not there", true, [.init([RecordOperation(.change, item)], [])]),
                ("removed, and not there", true, [.init([RecordOperation(.delete, item)], [])]),
                ("no operations", true, [.init([], [])]),
                ("another sequence", true, [.init(insert(item), [value], sequenceOffset: 1)]),
            ]
            for (what, isRefused, frames) in forgeries {
                for isMarked in [true, false] {
                    try forger.write(frames, isMarked: isMarked)
                    // What does not follow is an unfinished frame, where one may be.
                    let isUnfinished = !isMarked && what == "another sequence"
                    let answer = try reader.read()
                    #expect(
                        answer.status == (isRefused && !isUnfinished ? 1 : 0),
                        "\(what), \(isMarked): \(answer.message)"
                    )
                    #expect(try isDamaged() == (answer.status == 1), "\(what), \(isMarked)")
                }
            }
        }

        /// Whether this library finds damage; what it can vouch for all the same is in DamageTests.
        private func isDamaged() throws -> Bool {
            let driver = try scratch.driver(creation: .never)
            do throws(KeychainError) {
                return try !driver.check(CallContext(.info)).damages.isEmpty
            } catch {
                #expect(error.code == .corrupt || error.code == .unsupported)
                return true
            }
        }

        private static func frameStarts(_ file: Data) -> [Int] {
            var starts: [Int] = []
            var start = FileLayout.regionSize
            while start < file.count {
                starts.append(start)
                start += Int(file[start..<start + 8].withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
            }
            return starts
        }

        private static func changed(_ file: Data, at offsets: [Int]) -> Data {
            var bytes = file
            for offset in offsets { bytes[offset] ^= 0x10 }
            return bytes
        }

        /// The file with another header, whose checksum is right.
        private static func reheaded(_ file: Data, _ change: (inout [UInt8]) -> Void) -> Data {
            var page = [UInt8](file.prefix(FileLayout.headerChecksumStart))
            change(&page)
            page += Sodium.hash(page)
            return Data(page + page) + file.dropFirst(FileLayout.marks[0])
        }

        private static func slot(_ kind: UInt16, _ passes: UInt32, _ memory: UInt64, in page: inout [UInt8]) {
            var writer = ByteWriter()
            writer.append(kind)
            writer.append(UInt16(0))
            writer.append(passes)
            writer.append(memory)
            // The second slot: the first one opens.
            page.replaceSubrange(64 + 256..<64 + 256 + writer.bytes.count, with: writer.bytes)
        }
    }

    /// Makes files that no writer makes.
    private struct Forger {
        /// A frame that is authentic.
        struct Frame {
            let operations: [RecordOperation]
            let values: [SecureBytes]
            let sequenceOffset: UInt64

            init(_ operations: [RecordOperation], _ values: [SecureBytes], sequenceOffset: UInt64 = 0) {
                self.operations = operations
                self.values = values
                self.sequenceOffset = sequenceOffset
            }
        }

        private let scratch: Scratch
        private let header: FileHeader
        private let keys: StoreKeys

        init(_ scratch: Scratch) throws {
            self.scratch = scratch
            try scratch.driver().create(CallContext(.open))
            header = try SealedFile(FilePlace(scratch.path, environment: [:])).header
            keys = StoreKeys(master: try header.masterKey(.key(SecureBytes(Scratch.rawKey))).master)
        }

        /// A frame without operations, which is sealed by hand: no writer of this library can be made to.
        private func emptyFrame(after tip: Tip) -> ([UInt8], Tip) {
            var metadata = ByteWriter()
            metadata.append(tip.chain)
            metadata.append(tip.sequence + 1)
            metadata.pad(to: 64)
            let count = metadata.bytes.count + Sodium.tagSize
            var writer = ByteWriter()
            writer.append(UInt64(FileLayout.frameHeadSize + count))
            writer.append(UInt32(count))
            writer.append(UInt32(0))
            let associated = header.fileID + writer.bytes
            let nonce = Nonce.random()
            nonce.withBytes { writer.append($0) }
            writer.pad(to: FileLayout.frameHeadSize + count)
            var frame = writer.bytes
            frame.withUnsafeMutableBytes { frame in
                metadata.bytes.withUnsafeBytes { metadata in
                    let place = UnsafeMutableRawBufferPointer(rebasing: frame[FileLayout.frameHeadSize...])
                    Sodium.seal(metadata, into: place, nonce: nonce, associated: associated, key: keys.metadata)
                }
            }
            let chained = tip.chain + nonce.withBytes { Array($0) } + frame.suffix(Sodium.tagSize)
            let end = tip.length + UInt64(frame.count)
            return (frame, Tip(length: end, sequence: tip.sequence + 1, chain: Sodium.hash(chained)))
        }

        /// Writes the file anew.
        ///
        /// - Parameters:
        ///   - frames: What is in it.
        ///   - isMarked: Whether the mark is behind the frames, or before them.
        func write(_ frames: [Frame], isMarked: Bool) throws {
            var tip = header.start
            var bytes: [UInt8] = []
            for frame in frames {
                var after = tip
                after.sequence += frame.sequenceOffset
                guard !frame.operations.isEmpty else {
                    (bytes, tip) = emptyFrame(after: tip)
                    continue
                }
                let sealed = try BackendFile.Frame.seal(
                    frame.operations,
                    values: frame.values,
                    after: after,
                    before: .items([]),
                    header: header,
                    keys: keys
                )
                bytes += sealed.bytes
                tip = sealed.frame.tip
            }
            let marked = isMarked ? tip : header.start
            try scratch.put(Data(OpenFile.region(header, keys: keys, tip: marked) + bytes))
        }
    }
#endif
