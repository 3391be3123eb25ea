// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Synchronization
    import Testing

    @testable import BackendFile

    struct ObservationTests {
        private let scratch = Scratch()

        /// Waits until the store is seen to satisfy a condition after some report of a change.
        private final class Reports: Sendable {
            private let semaphore = DispatchSemaphore(value: 0)
            private let number = Mutex(0)

            /// How many reports there were.
            var count: Int { number.withLock { $0 } }

            func report() {
                number.withLock { $0 += 1 }
                semaphore.signal()
            }

            /// Whether the condition came true with one of the reports of the next seconds.
            func reach(_ condition: () throws -> Bool) rethrows -> Bool {
                let end = DispatchTime.now() + 20
                while semaphore.wait(timeout: end) == .success {
                    if try condition() { return true }
                }
                return false
            }
        }

        @Test func changesOfThisAndOfOtherProcessesAreReported() throws {
            let driver = try scratch.driver()
            let reports = Reports()
            let observation = try driver.observeChanges { reports.report() }
            defer { observation.cancel() }
            let bob = try driver.add("bob", "x")
            #expect(try reports.reach { try driver.all().count == 1 })
            #expect(try Tool.run(["add", scratch.path, scratch.keyFile, "carol"]).lines == ["added"])
            #expect(try reports.reach { try driver.all().count == 2 })
            try scratch.driver().remove(bob)
            #expect(try reports.reach { try driver.all().count == 1 })
            try scratch.driver().compact(CallContext(.store))
            #expect(try reports.reach { try scratch.bytes().count > 0 })
            try FileManager.default.removeItem(atPath: scratch.path)
            #expect(reports.reach { code { () throws(KeychainError) in _ = try driver.all() } == .unavailable })
        }

        @Test func aFileWhoseFoldersAreYetToBeMadeIsWatched() throws {
            let path = "\(scratch.folder)/one/two/three/a.keychain"
            let driver = try scratch.driver(path)
            let reports = Reports()
            let observation = try driver.observeChanges { reports.report() }
            defer { observation.cancel() }
            #expect(try Tool.run(["add", path, scratch.keyFile, "bob"]).lines == ["added"])
            #expect(try reports.reach { try driver.all().count == 1 })
            #expect(try Tool.run(["add", path, scratch.keyFile, "carol"]).lines == ["added"])
            #expect(try reports.reach { try driver.all().count == 2 })
            // The folder goes and comes back.
            let aside = "\(scratch.folder)/aside"
            #expect(rename("\(scratch.folder)/one/two/three", aside) == 0)
            #expect(reports.reach { code { () throws(KeychainError) in _ = try driver.all() } == .unavailable })
            #expect(rename(aside, "\(scratch.folder)/one/two/three") == 0)
            #expect(reports.reach { (try? driver.all().count) == 2 })
            #expect(try Tool.run(["add", path, scratch.keyFile, "dave"]).lines == ["added"])
            #expect(try reports.reach { try driver.all().count == 3 })
        }

        @Test func aCommitIsOneReportHoweverManyChangesOfTheFileItIs() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let reports = Reports()
            let observation = try driver.observeChanges { reports.report() }
            defer { observation.cancel() }
            for number in 1...10 {
                let before = reports.count
                if number.isMultiple(of: 2) {
                    try driver.add("own\(number)", "x")
                } else {
                    let name = "other\(number)"
                    #expect(try Tool.run(["add", scratch.path, scratch.keyFile, name]).lines == ["added"])
                }
                #expect(reports.reach { reports.count > before })
            }
            #expect(reports.count == 10)
        }

        @Test func whoHasStoppedIsNotToldAnyMoreAndOthersAre() throws {
            let driver = try scratch.driver()
            let (one, two) = (Reports(), Reports())
            let first = try driver.observeChanges { one.report() }
            let second = try driver.observeChanges { two.report() }
            try driver.add("bob", "x")
            #expect(one.reach { true })
            first.cancel()
            first.cancel()
            // A report may be under way; the thread has ended it when it has begun another one.
            let seen = two.count
            try driver.add("carol", "x")
            #expect(two.reach { two.count > seen })
            try driver.add("dave", "x")
            #expect(two.reach { two.count > seen + 1 })
            let after = one.count
            let last = two.count
            try driver.add("dora", "x")
            #expect(two.reach { two.count > last })
            #expect(one.count == after)
            second.cancel()
            // A new observation starts anew.
            let third = try driver.observeChanges { one.report() }
            defer { third.cancel() }
            try driver.add("erin", "x")
            #expect(one.reach { one.count > after })
        }

        @Test func theThreadEndsWithTheLastObservation() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let before = try watchCount()
            for _ in 0..<20 {
                let observation = try driver.observeChanges {}
                observation.cancel()
            }
            // The threads end in their own time; the descriptor goes with each.
            let end = ContinuousClock.now + .seconds(20)
            while try watchCount() > before && ContinuousClock.now < end { sched_yield() }
            #expect(try watchCount() <= before)
        }

        /// How many watches this process has on the test's folder.
        private func watchCount() throws -> Int {
            var status = stat()
            #expect(stat(scratch.folder, &status) == 0)
            let inode = "ino:\(String(status.st_ino, radix: 16)) "
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").filter { name in
                let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
                return text?.contains(inode) == true
            }.count
        }
    }
#endif
