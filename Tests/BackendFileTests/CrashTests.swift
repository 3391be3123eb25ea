// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Writers that are killed, and disks that are full.
    struct CrashTests {
        private let scratch = Scratch()

        @Test func noAcknowledgedStoreIsLostByAKill() throws {
            var acknowledged: Set<String> = []
            for round in 0..<30 {
                let tool = try Tool(["store", scratch.path, scratch.keyFile, "r\(round)", "100000"])
                acknowledged.formUnion(try killed(tool, after: Int.random(in: 0...40)))
                let contents = try scratch.driver().contents()
                #expect(acknowledged.isSubset(of: Set(contents.keys)))
                #expect(contents.allSatisfy { $0.value == Data("value of \($0.key)".utf8) })
                // At most the one that was under way has come through without having been acknowledged.
                #expect(contents.count <= acknowledged.count + round + 1)
            }
            #expect(acknowledged.count > 30)
        }

        @Test func noAcknowledgedReplacementIsLostByAKillWhileTheFileIsRewritten() throws {
            var rewritten: Set<Data> = []
            for _ in 0..<30 {
                let tool = try Tool(["churn", scratch.path, scratch.keyFile, "x", "100000"])
                var newest: [String: Int] = [:]
                for line in try killed(tool, after: Int.random(in: 0...120)) {
                    let words = line.split(separator: " ")
                    newest[String(words[0])] = Int(words[1])
                }
                let contents = try scratch.driver().contents()
                for (account, number) in newest {
                    let text = String(decoding: contents[account] ?? Data(), as: UTF8.self)
                    // What was under way when it was killed may have come through: of each account, that is ten more.
                    let found = text.split(separator: " ").first.flatMap { Int($0) }
                    #expect(found == number || found == number + 10, "\(account): \(number)")
                }
                for account in contents.keys {
                    let text = String(decoding: contents[account] ?? Data(), as: UTF8.self)
                    #expect(text.hasSuffix(String(repeating: ".", count: 2000)))
                }
                if let bytes = try? scratch.bytes() { rewritten.insert(bytes[32..<48]) }
                #expect(contents.count >= newest.count)
            }
            // The file was rewritten again and again.
            #expect(rewritten.count > 5)
            try scratch.driver().add("last", "x")
            #expect(try scratch.names() == [".a.keychain.lock", "a.keychain", "key"])
        }

        /// Kills a writer after some lines and gives all that it had printed.
        private func killed(_ tool: Tool, after count: Int) throws -> [String] {
            var lines: [String] = []
            while lines.count < count, let line = tool.line() { lines.append(line) }
            tool.kill()
            let result = try tool.finish()
            #expect(result.status == SIGKILL, "\(result.errors)")
            return lines + result.lines
        }

        @Test func leftoversOfAKilledWriterAreRemovedByTheNext() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let leftover = "\(scratch.folder)/.a.keychain.tmp-0123456789abcdef"
            try scratch.put(Data("ciphertext of a value that was removed".utf8), at: leftover)
            try scratch.put(Data("of another file".utf8), at: "\(scratch.folder)/.b.keychain.tmp-1")
            #expect(try driver.all().count == 1)
            #expect(FileManager.default.fileExists(atPath: leftover))
            try driver.add("carol", "x")
            #expect(try scratch.names() == [".a.keychain.lock", ".b.keychain.tmp-1", "a.keychain"])
        }

        @Test func aFullDiskLosesNothing() throws {
            try scratch.driver().add("first", "x")
            let blocks = 40
            let limited = ["bash", "-c", "ulimit -f \(blocks); exec \"$@\"", "bash"]
            let result = try Tool.run(["store", scratch.path, scratch.keyFile, "p", "100000"], wrapper: limited)
            #expect(result.status == 1)
            #expect(result.errors.contains("outOfSpace"), "\(result.errors)")
            #expect(result.lines.count > 10)
            let contents = try scratch.driver().contents()
            #expect(Set(contents.keys) == Set(result.lines + ["first"]))
            // What had been written of the record that did not fit is gone again.
            let sealed = try SealedFile(FilePlace(scratch.path, environment: [:]))
            let master = try sealed.header.masterKey(.key(SecureBytes(Scratch.rawKey))).master
            let store = try StoreFile(sealed, keys: StoreKeys(master: master))
            #expect(try scratch.bytes().count == Int(store.file.tip.length))
            try scratch.driver().add("later", "x")
            #expect(try scratch.driver().all().count == contents.count + 1)
        }

        @Test func aDiskThatIsFullAtOnceLeavesNoFile() throws {
            let limited = ["bash", "-c", "ulimit -f 8; exec \"$@\"", "bash"]
            let result = try Tool.run(["add", scratch.path, scratch.keyFile, "p"], wrapper: limited)
            #expect(result.status == 1)
            #expect(result.errors.contains("outOfSpace"), "\(result.errors)")
            #expect(try scratch.names() == [".a.keychain.lock", "key"])
        }
    }
#endif
