// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Several writers that do everything a file takes, all killed at once, again and again.
    struct KillTests {
        private let scratch = Scratch()
        private let writerCount = 3

        @Test func noAcknowledgedWriteIsLostByKillsOfSeveralWriters() throws {
            let rounds = Depth.current == .full ? 1_100 : 15
            /// What is known to be in the file: the number in the value of each account.
            var contents: [String: Int] = [:]
            var counts: [Substring: Int] = [:]
            for round in 0..<rounds {
                let writers = try (0..<writerCount).map { writer in
                    let seed = "\(round * writerCount + writer + 1)"
                    return try Tool(["mix", scratch.path, scratch.keyFile, "w\(writer)", seed])
                }
                var allowed = contents.mapValues { Set<Int?>([$0]) }
                for lines in try killed(writers) {
                    for line in lines { counts[line.prefix { $0 != "-" }, default: 0] += 1 }
                    note(lines, in: &allowed)
                }
                contents = try found()
                for (account, numbers) in allowed {
                    #expect(numbers.contains(contents[account]), "round \(round), \(account)")
                }
                #expect(Set(contents.keys).isSubset(of: allowed.keys))
                // The next writer removes what the others left.
                try scratch.driver().write(CallContext(.store)) { (writer) throws(KeychainError) in
                    for record in try writer.records(RecordSelection(attributes: checker)) {
                        try writer.commit([.delete(record)])
                    }
                    try writer.commit([.insert(passwordRecord("checker"), SecureBytes(Data("0 ".utf8)))])
                }
                #expect(try scratch.names() == [".a.keychain.lock", "a.keychain", "key"])
            }
            // All of it was done, and not only tried.
            for verb in ["did put w0", "did remove w1", "did slot"] { #expect(counts[Substring(verb), default: 0] > 0) }
            #expect(try scratch.driver().check(CallContext(.info)).isWhole)
            Attachment.record("\(rounds * writerCount) kills, \(counts)", named: "kills.txt")
        }

        private var checker: AttributeSet {
            var attributes = AttributeSet()
            attributes[.account] = .text("checker")
            return attributes
        }

        /// Kills the writers at some moment and gives what each had printed.
        private func killed(_ writers: [Tool]) throws -> [[String]] {
            var lines = writers.map { _ in [String]() }
            let (chosen, count) = (Int.random(in: 0..<writers.count), Int.random(in: 0...30))
            while lines[chosen].count < count, let line = writers[chosen].line() { lines[chosen].append(line) }
            // Somewhere within what comes after that line, and not always where it begins.
            let moment = ContinuousClock.now + .microseconds(Int.random(in: 0...4_000))
            while ContinuousClock.now < moment { sched_yield() }
            for writer in writers { writer.kill() }
            return try zip(writers, lines).map { (writer, lines) in
                let result = try writer.finish()
                #expect(result.status == SIGKILL, "\(result.errors)")
                return lines + result.lines
            }
        }

        /// Notes what a writer has acknowledged, and what it was about when it was killed.
        private func note(_ lines: [String], in allowed: inout [String: Set<Int?>]) {
            for line in lines {
                let words = line.split(separator: " ")
                guard words.count == 4 else { continue }
                let account = String(words[2])
                let number = words[1] == "put" ? Int(words[3]) : nil
                if words[0] == "did" {
                    allowed[account] = [number]
                } else {
                    allowed[account, default: [nil]].insert(number)
                }
            }
        }

        private func found() throws -> [String: Int] {
            var found: [String: Int] = [:]
            for (account, value) in try scratch.driver().contents() where account != "checker" {
                let text = String(decoding: value, as: UTF8.self)
                let number = text.prefix { $0 != " " }
                #expect(text.dropFirst(number.count + 1).allSatisfy { $0 == "." })
                found[account] = Int(number)
            }
            return found
        }
    }
#endif
