// SPDX-License-Identifier: MIT
#if File
    import BackendMemory
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Which slot is whose, and that none is lost unasked.
    struct SlotOwnerTests {
        private let bench: KeyBench

        init() throws {
            bench = try KeyBench()
        }

        @Test func theSlotsThatASourceOpensAreTold() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            #expect(try driver.keySlots().map(\.opens) == [nil])
            let store = KeySource.store(StoreURL(driver: .memory, path: "keys"))
            for source in [.keyFile(bench.scratch.keyFile), store, .credential("db-key"), store] {
                try driver.addKey(source, keyCall)
            }
            // By who has nothing but the file.
            let stranger = try bench.driver(nil)
            for (source, numbers) in [
                (KeySource.environment("ONE"), [0]), (.keyFile(bench.scratch.keyFile), [1]), (store, [2, 4]),
                (.credential("db-key"), [3]), (.file("\(bench.scratch.folder)/credentials/db-key"), [3]),
            ] {
                let slots = try stranger.keySlots(openedBy: source, keyCall)
                #expect(slots.map(\.number) == [0, 1, 2, 3, 4])
                #expect(slots.filter { $0.opens == true }.map(\.number) == numbers, "\(source)")
                #expect(slots.allSatisfy { $0.opens != nil })
            }
            let wrong = try stranger.keySlots(openedBy: .environment("TWO"), keyCall)
            #expect(wrong.allSatisfy { $0.opens == false })
            #expect(
                code { () throws(KeychainError) in _ = try stranger.keySlots(openedBy: .environment("NO"), keyCall) }
                    == .unavailable
            )
        }

        @Test func aKeyThatOpensASlotIsNotAddedAgain() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            for source in [KeySource.keyFile(bench.scratch.keyFile), .credential("db-key")] {
                try driver.addKey(source, keyCall)
            }
            let before = try bench.scratch.bytes()
            let prompt = CountingPrompt("first passphrase")
            let asked = try bench.driver(.environment("ONE"), prompt: prompt)
            for (source, number) in [
                (KeySource.prompt, 0), (.material(.key(SecureBytes(Scratch.rawKey))), 1),
                (.file("\(bench.scratch.folder)/credentials/db-key"), 2), (.credential("db-key"), 2),
            ] {
                let error = #expect(throws: KeychainError.self) { try asked.addKey(source, keyCall) }
                #expect(error?.code == .duplicateItem)
                #expect(error?.message.contains("key slot \(number) already") == true, "\(source)")
            }
            #expect(prompt.asked == [true], "A person is asked once, as for a new passphrase.")
            #expect(try bench.scratch.bytes() == before)
        }

        @Test func aSlotThatIsAddedDuringARotationIsNotLostUnasked() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            let other = try bench.driver(.environment("ONE"))
            _ = try other.all()
            var seen: [[Int]] = []
            let refusal = KeychainError(.unsupported, "refused")
            let rotate = { () throws(KeychainError) in
                try driver.rotate([.environment("ONE")], keyCall) { (slots) throws(KeychainError) in
                    seen.append(slots.map(\.number))
                    guard slots.count == 1 else { throw refusal }
                    // At the first look nobody is kept out.
                    if seen.count == 1 { try other.addKey(.environment("TWO"), keyCall) }
                }
            }
            #expect(code(rotate) == .unsupported)
            #expect(seen == [[0], [0, 1]])
            #expect(try other.keySlots().map(\.number) == [0, 1])
            #expect(bench.failure(of: .environment("TWO")) == nil)
        }

        @Test func noSlotIsAddedBetweenTheLastLookAndTheNewFile() throws {
            let driver = try bench.driver(.environment("ONE"))
            try driver.add("bob", "x")
            let other = try bench.driver(.environment("ONE"))
            _ = try other.all()
            var looks = 0
            try driver.rotate([.environment("ONE")], keyCall) { (_) throws(KeychainError) in
                looks += 1
                guard looks == 2 else { return }
                let hurried = CallContext(.update, timeout: .milliseconds(50), interaction: .never)
                let failure = code { () throws(KeychainError) in try other.addKey(.environment("TWO"), hurried) }
                #expect([.busy, .timedOut].contains(failure), "The lock is held.")
            }
            #expect(looks == 2)
            #expect(bench.failure(of: .environment("TWO")) == .authenticationFailed)
            try other.addKey(.environment("TWO"), keyCall)
            #expect(bench.failure(of: .environment("TWO")) == nil)
        }
    }
#endif
