// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    struct CompactionTests {
        private let scratch = Scratch()

        @Test func nothingIsLostAndOldCiphertextIsGone() throws {
            let driver = try scratch.driver(key: passphrase("pw"))
            var expected: [String: Data] = [:]
            var records: [String: ItemRecord] = [:]
            for number in 0..<50 {
                let value = Data((0..<number * 10).map { _ in UInt8.random(in: 0...255) })
                records["\(number)"] = try driver.add(passwordRecord("\(number)", label: "L\(number)"), value)
                expected["\(number)"] = value
            }
            let old = try scratch.bytes()
            for number in 0..<25 {
                guard let record = records["\(number)"] else { continue }
                if number.isMultiple(of: 2) {
                    try driver.remove(record)
                    expected["\(number)"] = nil
                } else {
                    try driver.replace(record, Data("new".utf8))
                    expected["\(number)"] = Data("new".utf8)
                }
            }
            let before = try driver.all()
            let reader = try scratch.driver(key: passphrase("pw"))
            #expect(try reader.contents() == expected)
            try driver.compact(CallContext(.store))
            for driver in [driver, reader, try scratch.driver(key: passphrase("pw"))] {
                #expect(try driver.all() == before)
                #expect(try driver.contents() == expected)
            }
            // No piece of the old records is in the new file.
            let new = try scratch.bytes()
            let pieces = Set(stride(from: FileLayout.regionSize, to: old.count - 16, by: 1).map { old[$0..<$0 + 16] })
            let found = (FileLayout.regionSize..<new.count - 16).filter { pieces.contains(new[$0..<$0 + 16]) }
            #expect(found == [])
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain"])
            try driver.add("more", "x")
            #expect(try reader.all().count == before.count + 1)
        }

        @Test func itHappensByItselfWhenMostOfTheFileIsGarbage() throws {
            let driver = try scratch.driver()
            let value = Data(repeating: 1, count: 8000)
            let kept = try driver.add(passwordRecord("kept"), value)
            var largest = 0
            for number in 0..<100 {
                try driver.replace(kept, value + Data([UInt8(number)]))
                largest = max(largest, try scratch.bytes().count)
            }
            // Never more than what is there, as much garbage and the 64 KiB that are not worth it.
            #expect(largest < FileLayout.regionSize + 3 * 9000 + 65_536 + 9000)
            #expect(try scratch.driver().contents() == ["kept": value + Data([99])])
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain"])
        }

        @Test func anEmptiedStoreBecomesSmall() throws {
            let driver = try scratch.driver()
            var records: [ItemRecord] = []
            for number in 0..<10 {
                records.append(try driver.add(passwordRecord("\(number)"), Data(repeating: 0, count: 9000)))
            }
            for record in records { try driver.remove(record) }
            let before = UInt64(try scratch.bytes().count)
            let sizes = try driver.compact(CallContext(.store))
            #expect(sizes.before == before && sizes.after == UInt64(FileLayout.regionSize))
            #expect(try scratch.bytes().count == FileLayout.regionSize)
            #expect(try scratch.driver().all() == [])
            try scratch.driver().add("bob", "x")
            #expect(try driver.contents() == ["bob": Data("x".utf8)])
        }

        @Test func manyItemsAreSpreadOverSeveralFrames() throws {
            let driver = try scratch.driver()
            let value = SecureBytes(count: 300_000) { $0.initializeMemory(as: UInt8.self, repeating: 7) }
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                try writer.commit((0..<20).map { .insert(passwordRecord("\($0)"), value) })
            }
            try driver.compact(CallContext(.store))
            let contents = try scratch.driver().contents()
            #expect(contents.count == 20)
            #expect(contents.values.allSatisfy { $0 == value.data })
        }

        @Test func aDamagedValueStopsItAndTheFileStays() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            try driver.add("carol", "y")
            var bytes = try scratch.bytes()
            bytes[bytes.count - 1] ^= 1
            try scratch.put(bytes)
            let reopened = try scratch.driver()
            #expect(try reopened.all().count == 2)
            #expect(code { () throws(KeychainError) in try reopened.compact(CallContext(.store)) } == .corrupt)
            #expect(try scratch.bytes() == bytes)
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain"])
        }

        @Test func aRewriteThatFailsDoesNotFailTheCommit() throws {
            let driver = try scratch.driver()
            let damaged = try driver.add("damaged", "x")
            let kept = try driver.add(passwordRecord("kept"), Data(repeating: 1, count: 9000))
            var bytes = try scratch.bytes()
            let first = bytes[FileLayout.regionSize..<FileLayout.regionSize + 8]
            let frame = first.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
            // The last byte of the first item's value.
            bytes[FileLayout.regionSize + frame - 1] ^= 1
            try scratch.put(bytes)
            let reopened = try scratch.driver()
            let view = try reopened.all()
            #expect(view.count == 2)
            #expect(
                code { () throws(KeychainError) in
                    _ = try reopened.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                        try reader.value(of: damaged)
                    }
                } == .corrupt
            )
            #expect(try reopened.check(keyCall).stuckByteCount == 0, "There is nothing to clear away yet.")
            for number in 0..<40 { try reopened.replace(kept, Data(repeating: UInt8(number), count: 9000)) }
            let report = try reopened.check(keyCall)
            #expect(report.lost.map(\.reference) == [damaged.reference] && report.itemCount == 1)
            let length = UInt64(try scratch.bytes().count)
            #expect(report.stuckByteCount > 39 * 9000 && report.stuckByteCount < length)
            let contents = try scratch.driver().read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                try reader.value(of: kept).data
            }
            #expect(contents == Data(repeating: 39, count: 9000))
            // It is made up for when the item is stored anew.
            try reopened.replace(damaged, Data("y".utf8))
            #expect(try reopened.check(keyCall).isWhole)
            for number in 0..<60 { try reopened.replace(kept, Data(repeating: UInt8(number), count: 9000)) }
            #expect(try scratch.bytes().count < 150_000)
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain"])
        }

        @Test func aMissingFileCannotBeRewritten() throws {
            let driver = try scratch.driver()
            #expect(code { () throws(KeychainError) in try driver.compact(CallContext(.store)) } == .unavailable)
        }

        @Test func paddingHidesLengthsAndCostsLittle() {
            #expect(FileLayout.paddedSize(0) == 32)
            #expect(FileLayout.paddedSize(32) == 32)
            #expect(FileLayout.paddedSize(33) == 64)
            #expect(FileLayout.paddedSize(256) == 256)
            #expect(FileLayout.paddedSize(257) == 288)
            #expect(FileLayout.paddedSize(1 << 26) == 1 << 26)
            for count in stride(from: 300, to: 2_000_000, by: 997) {
                let padded = FileLayout.paddedSize(count)
                #expect(padded >= count && padded - count <= count / 8)
            }
        }
    }
#endif
