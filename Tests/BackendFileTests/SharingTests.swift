// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import Synchronization
    import Testing

    @testable import BackendFile

    /// Several drivers, threads and processes on one file, and a file that changes under an open store.
    struct SharingTests {
        private let scratch = Scratch()

        @Test func twoDriversSeeEachOther() throws {
            let (one, two) = (try scratch.driver(), try scratch.driver())
            #expect(try two.all() == [])
            let bob = try one.add("bob", "1")
            #expect(try two.contents() == ["bob": Data("1".utf8)])
            try two.replace(bob, Data("2".utf8))
            #expect(try one.contents() == ["bob": Data("2".utf8)])
            try one.remove(bob)
            #expect(try two.all() == [])
            try two.add("carol", "3")
            try one.add("dave", "4")
            #expect(try two.contents() == ["carol": Data("3".utf8), "dave": Data("4".utf8)])
            #expect(try one.contents() == two.contents())
        }

        @Test func aReaderKeepsItsViewWhileOthersWriteAndCompact() throws {
            let (one, two) = (try scratch.driver(), try scratch.driver())
            let bob = try one.add("bob", "old")
            try one.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                try two.replace(bob, Data("new".utf8))
                try one.add("carol", "x")
                try two.compact(CallContext(.store))
                #expect(try reader.records(RecordSelection()) == [bob])
                #expect(try reader.value(of: bob).data == Data("old".utf8))
            }
            #expect(try one.contents() == ["bob": Data("new".utf8), "carol": Data("x".utf8)])
        }

        @Test func writersExcludeEachOtherAlsoWithoutTheLockFile() throws {
            let (one, two) = (try scratch.driver(), try scratch.driver())
            try one.add("bob", "x")
            let short = CallContext(.store, timeout: .milliseconds(50))
            try one.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                #expect(unlink("\(scratch.folder)/.a.keychain.lock") == 0)
                #expect(code { () throws(KeychainError) in try two.write(short) { _ in } } == .busy)
                try writer.commit([.insert(passwordRecord("carol"), SecureBytes(Data("y".utf8)))])
            }
            try two.add("dave", "z")
            #expect(try one.contents().count == 3)
        }

        @Test func aFileThatIsNewOrRewrittenIsHeldByItsWriterToo() throws {
            let (one, two) = (try scratch.driver(), try scratch.driver())
            let short = CallContext(.store, timeout: .milliseconds(50))
            try one.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                try writer.commit([.insert(passwordRecord("bob"), SecureBytes(Data("x".utf8)))])
                #expect(unlink("\(scratch.folder)/.a.keychain.lock") == 0)
                #expect(code { () throws(KeychainError) in try two.write(short) { _ in } } == .busy)
            }
            try two.add("carol", "y")
            #expect(try one.contents().count == 2)
        }

        @Test func aWriterSeesItsOwnCommitsAndReadersSeeWholeOnes() throws {
            let driver = try scratch.driver()
            try driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                for number in 0..<3 {
                    try writer.commit([.insert(passwordRecord("\(number)"), SecureBytes([UInt8(number)]))])
                    #expect(try writer.records(RecordSelection()).count == number + 1)
                    #expect(try driver.all().count == number + 1)
                }
            }
            #expect(try scratch.driver().all().count == 3)
        }

        @Test func threadsOfOneDriverLoseNothing() throws {
            let driver = try scratch.driver()
            let others = (0..<2).map { _ in try? scratch.driver() }.compactMap { $0 }
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                var seen = 0
                for number in 0..<25 {
                    do throws(KeychainError) {
                        let target = thread % 3 == 0 ? driver : others[thread % 2]
                        try target.add("\(thread)-\(number)", "value \(thread)-\(number)")
                        let contents = try driver.contents()
                        if contents.count < seen || contents["\(thread)-\(number)"] == nil {
                            failures.withLock { $0.append("went back") }
                        }
                        seen = contents.count
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            #expect(failures.withLock { $0 } == [])
            let contents = try scratch.driver().contents()
            #expect(contents.count == 200)
            #expect(contents.allSatisfy { $0.value == Data("value \($0.key)".utf8) })
        }

        @Test func processesThatStoreDistinctItemsLoseNone() throws {
            let tools = try (0..<8).map { try Tool(["store", scratch.path, scratch.keyFile, "p\($0)", "200"]) }
            for tool in tools {
                let result = try tool.finish()
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.lines.count == 200)
            }
            let contents = try scratch.driver().contents()
            #expect(contents.count == 1600)
            #expect(contents.allSatisfy { $0.value == Data("value of \($0.key)".utf8) })
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain", "key"])
        }

        @Test func processesThatStoreOneItemAgreeOnWhoIsFirst() throws {
            for round in 0..<3 {
                let path = "\(scratch.folder)/\(round).keychain"
                let tools = try (0..<8).map { _ in try Tool(["add", path, scratch.keyFile, "bob"]) }
                let lines = try tools.map { try $0.finish().lines }
                #expect(lines.filter { $0 == ["added"] }.count == 1)
                #expect(lines.filter { $0 == ["duplicate"] }.count == 7)
            }
        }

        @Test func processesThatCreateTheFileTogetherLoseNothing() throws {
            for round in 0..<3 {
                let path = "\(scratch.folder)/new/\(round)/a.keychain"
                let tools = try (0..<8).map { try Tool(["add", path, scratch.keyFile, "p\($0)"]) }
                for tool in tools { #expect(try tool.finish().lines == ["added"]) }
                #expect(try scratch.driver(path).all().count == 8)
            }
        }

        @Test func aWriterThatWaitsInVainSaysWhoIsWriting() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let other = try scratch.driver()
            try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                do throws(KeychainError) {
                    let call = CallContext(.store, timeout: .milliseconds(50))
                    try other.write(call) { (_) throws(KeychainError) in }
                    Issue.record("Two writers at once")
                } catch {
                    #expect(error.code == .busy)
                    #expect(error.message.contains("\(getpid())"))
                }
                #expect(try other.contents() == ["bob": Data("x".utf8)])
            }
        }

        @Test func aCancelledCallCommitsNothing() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let call = CallContext(.store)
            let code = code { () throws(KeychainError) in
                try driver.write(call) { (writer) throws(KeychainError) in
                    call.cancel()
                    try writer.commit([.insert(passwordRecord("carol"), SecureBytes([]))])
                }
            }
            #expect(code == .cancelled)
            #expect(try scratch.driver().all().count == 1)
        }

        // A file that changes under an open store.

        @Test func aFileThatVanishedIsNotAnEmptyOne() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let backup = try scratch.bytes()
            try FileManager.default.removeItem(atPath: scratch.path)
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == .unavailable)
            #expect(code { () throws(KeychainError) in try driver.add("carol", "x") } == .unavailable)
            #expect(!FileManager.default.fileExists(atPath: scratch.path))
            try scratch.put(backup)
            #expect(try driver.contents() == ["bob": Data("x".utf8)])
        }

        @Test func aFolderThatVanishedIsNotAnEmptyStore() throws {
            let folder = "\(scratch.folder)/gone"
            let driver = try scratch.driver("\(folder)/a.keychain")
            try driver.add("bob", "x")
            try FileManager.default.removeItem(atPath: folder)
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == .unavailable)
            #expect(code { () throws(KeychainError) in try driver.add("carol", "x") } == .unavailable)
        }

        @Test(arguments: [true, false])
        func aBackupThatIsPutBackIsWhatCounts(inPlace: Bool) throws {
            let driver = try scratch.driver()
            try driver.add("old", "x")
            let backup = try scratch.bytes()
            try driver.add("new", "x")
            #expect(try driver.all().count == 2)
            try restore(backup, inPlace: inPlace)
            #expect(try driver.contents() == ["old": Data("x".utf8)])
            try driver.add("newer", "y")
            #expect(try driver.contents() == ["old": Data("x".utf8), "newer": Data("y".utf8)])
            #expect(try scratch.driver().contents() == driver.contents())
        }

        @Test(arguments: [true, false])
        func anotherStoreInTheSamePlaceIsUnlockedAnew(inPlace: Bool) throws {
            let other = "\(scratch.folder)/other.keychain"
            try scratch.driver(other).add("theirs", "x")
            let driver = try scratch.driver()
            try driver.add("mine", "x")
            try restore(try scratch.bytes(other), inPlace: inPlace)
            #expect(try driver.contents() == ["theirs": Data("x".utf8)])
            let locked = "\(scratch.folder)/locked.keychain"
            try scratch.driver(locked, key: passphrase("x")).add("locked", "x")
            try restore(try scratch.bytes(locked), inPlace: inPlace)
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == .authenticationFailed)
            #expect(code { () throws(KeychainError) in try driver.add("x", "x") } == .authenticationFailed)
        }

        @Test(arguments: [true, false])
        func damageUnderAnOpenStoreIsNoticedEachTimeUntilItIsMended(inPlace: Bool) throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let whole = try scratch.bytes()
            for bytes in [whole.prefix(whole.count - 1), Data(), Data("not a keychain".utf8)] {
                try restore(bytes, inPlace: inPlace)
                for _ in 0..<3 {
                    #expect(code { () throws(KeychainError) in _ = try driver.all() } == .corrupt)
                    #expect(code { () throws(KeychainError) in try driver.add("x", "x") } == .corrupt)
                }
                #expect(try scratch.bytes() == bytes)
            }
            try restore(whole, inPlace: inPlace)
            #expect(try driver.contents() == ["bob": Data("x".utf8)])
        }

        @Test func aCommitThatFailedAfterOthersSawItIsForgotten() throws {
            let (writer, reader) = (try scratch.driver(), try scratch.driver())
            try writer.add("bob", "x")
            let before = try scratch.bytes()
            try writer.add("carol", "x")
            // As a reader finds it between the record and its mark.
            var unmarked = try scratch.bytes()
            let marks = FileLayout.marks[0]..<FileLayout.regionSize
            unmarked.replaceSubrange(marks, with: before[marks])
            try restore(unmarked, inPlace: true)
            #expect(try reader.all().count == 2)
            // The record could not be made durable: its writer takes it back, and another one commits instead.
            try restore(before, inPlace: true)
            #expect(try reader.contents() == ["bob": Data("x".utf8)])
            try restore(unmarked, inPlace: true)
            #expect(try reader.all().count == 2)
            try restore(before, inPlace: true)
            try scratch.driver().add("david", "x")
            #expect(try reader.contents().keys.sorted() == ["bob", "david"])
            try reader.add("erin", "x")
            #expect(try scratch.driver().contents().keys.sorted() == ["bob", "david", "erin"])
        }

        private func restore(_ bytes: Data, inPlace: Bool) throws {
            guard inPlace else {
                let path = "\(scratch.folder)/backup"
                try scratch.put(bytes, at: path)
                #expect(rename(path, scratch.path) == 0)
                return
            }
            let file = try FileDescriptor(scratch.path, O_RDWR, action: "test")
            try file.cut(at: UInt64(bytes.count))
            try file.write([UInt8](bytes), at: 0)
        }
    }
#endif
