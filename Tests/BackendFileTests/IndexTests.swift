// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// How records are found, against the plainest way to find them.
    struct IndexTests {
        private let scratch = Scratch()

        @Test func aTableForgetsExactlyWhatIsRemoved() {
            var table = HashTable()
            var expected: [(hash: UInt64, number: Int)] = []
            // Few hashes, near each other and at the end of the table, so that slots are taken by others.
            var hashes: [UInt64] = [.max]
            for start in 0..<4 as Range<UInt64> {
                for step in 0..<3 as Range<UInt64> { hashes.append((start << 62) | (step << 32)) }
            }
            var generator = SystemRandomNumberGenerator()
            for number in 0..<2_000 {
                if expected.count < 40 || Bool.random(using: &generator) {
                    let hash = hashes.randomElement(using: &generator) ?? 0
                    table.insert(hash, number)
                    expected.append((hash, number))
                } else {
                    let gone = expected.remove(at: Int.random(in: 0..<expected.count, using: &generator))
                    table.remove(gone.hash, gone.number)
                    #expect(table.first(gone.hash) { $0 == gone.number } == nil)
                }
            }
            for (hash, number) in expected { #expect(table.first(hash) { $0 == number } == number) }
        }

        @Test func chainsForgetExactlyWhatIsRemoved() {
            var chains = AttributeChains()
            var expected: [UInt64: Set<Int>] = [:]
            for number in 0..<500 {
                let hash = UInt64(number % 7) << 40
                chains.insert(number, hash)
                expected[hash, default: []].insert(number)
            }
            for number in (0..<500).shuffled().prefix(400) {
                let hash = UInt64(number % 7) << 40
                chains.remove(number, hash)
                expected[hash]?.remove(number)
                #expect(Set(chains.entries(hash)) == expected[hash])
            }
        }

        /// Whatever was stored, changed and removed in between, and whoever reads, each selection finds what a look at every
        /// record finds.
        @Test func selectionsFindWhatALookAtEveryRecordFinds() throws {
            let texts = ["", "a", "b", "ä", "a\u{308}"]
            func attributes(_ names: [AttributeName]) -> AttributeSet {
                var attributes = AttributeSet()
                for name in names { attributes[name] = .text(texts.randomElement() ?? "") }
                return attributes
            }
            let writer = try scratch.driver()
            let reader = try scratch.driver()
            var model: [UUID: ItemRecord] = [:]
            for step in 0..<400 {
                let record = ItemRecord(
                    reference: UUID(),
                    itemClass: .genericPassword,
                    accessGroup: step % 5 == 0 ? "group" : "",
                    isSynchronizable: false,
                    attributes: attributes([.service, .account, .label]),
                    creationDate: ItemDate(microseconds: Int64(step)),
                    modificationDate: ItemDate(microseconds: Int64(step))
                )
                let holder = model.values.first { $0.primaryKey == record.primaryKey }
                let victim = model.values.randomElement()
                try writer.write(CallContext(.store)) { (writer) throws(KeychainError) in
                    if let victim, step % 3 == 0 {
                        try writer.commit([.delete(victim)])
                        model[victim.reference] = nil
                    } else if var holder {
                        holder.attributes[.label] = record.attributes[.label]
                        try writer.commit([.update(old: holder, new: holder, value: nil)])
                        model[holder.reference] = holder
                    } else {
                        try writer.commit([.insert(record, SecureBytes(Data("value".utf8)))])
                        model[record.reference] = record
                    }
                }
                let names: [[AttributeName]] = [[], [.service], [.account], [.label], [.label, .account]]
                for names in names + [[.service, .account]] {
                    let selection = RecordSelection(
                        itemClass: .genericPassword,
                        accessGroup: step % 2 == 0 ? "" : nil,
                        isSynchronizable: false,
                        attributes: attributes(names)
                    )
                    let expected = model.values.filter(selection.matches)
                    for driver in [writer, reader] {
                        let found = try driver.read(CallContext(.info)) { (reader) throws(KeychainError) in
                            try reader.records(selection).filter(selection.matches)
                        }
                        #expect(found.count == expected.count)
                        #expect(Set(found) == Set(expected))
                    }
                }
            }
            #expect(model.count > 5)
        }
    }
#endif
