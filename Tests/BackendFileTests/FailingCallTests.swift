// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Synchronization
    import Testing

    @testable import BackendFile

    /// A file system of which one call fails, whichever it is.
    struct FailingCallTests {
        private let scratch = Scratch()

        /// A way to fail, and what the caller is told.
        struct Failure: CustomTestStringConvertible, Sendable {
            let number: Int32
            let code: KeychainError.Code
            let calls: [SimulatedDisk.Call]
            var share = 0.0

            var testDescription: String { "\(code) after \(share)" }
        }

        @Test(arguments: [
            Failure(number: EIO, code: .io, calls: [.look, .open, .make, .write, .cut, .flush, .rename]),
            Failure(number: EIO, code: .io, calls: [.write], share: 0.5),
            Failure(number: EIO, code: .io, calls: [.write], share: 1),
            Failure(number: ENOSPC, code: .outOfSpace, calls: [.make, .write, .flush, .rename]),
            Failure(number: ENOSPC, code: .outOfSpace, calls: [.write], share: 0.6),
            Failure(number: EACCES, code: .accessDenied, calls: [.look, .open, .make, .rename]),
            Failure(number: EROFS, code: .readOnly, calls: [.open, .make, .write, .cut, .flush, .rename]),
        ])
        func aCallThatFailsLosesNothing(failure: Failure) throws {
            let script = CrashScript(path: scratch.path)
            let (moments, expected) = try script.run(usesOneDriver: false)
            var count = 0
            for (number, step) in script.steps.enumerated() {
                let start = try #require(moments.last { $0.acknowledged == number && !$0.isUnderWay })
                let trial = Trial(
                    script: script,
                    start: start.content,
                    step: step,
                    before: expected[number],
                    after: expected[number + 1]
                )
                for (call, kind) in try trial.calls().enumerated() where failure.calls.contains(kind) {
                    for isLasting in Depth.current == .full ? [false, true] : [call.isMultiple(of: 5)] {
                        let fault = SimulatedDisk.Fault(
                            call: call,
                            number: failure.number,
                            share: failure.share,
                            isLasting: isLasting
                        )
                        let story = "‘\(step.name)’, call \(call) (\(kind))\(isLasting ? " and all after it" : "")"
                        do {
                            for finding in try trial.run(fault, failure.code) { Issue.record("\(story): \(finding)") }
                        } catch {
                            Issue.record("\(story): \(error)")
                        }
                        count += 1
                    }
                }
            }
            #expect(count > 10)
            Attachment.record("\(count) failures of \(failure.testDescription)", named: "failing-calls.txt")
        }

        @Test func aWriterThatGoesOnAfterAFailureLosesNothingItWasToldOf() throws {
            let script = CrashScript(path: scratch.path)
            let (moments, expected) = try script.run(usesOneDriver: false)
            let last = script.steps.count - 1
            let start = try #require(moments.last { $0.acknowledged == last && !$0.isUnderWay }).content
            // The first commit rewrites the file, as in the script; the second one comes with the lock still held.
            let value = SecureBytes(Data(repeating: 9, count: 20_000))
            var (call, hasFailed) = (0, true)
            while hasFailed {
                let disk = SimulatedDisk(start)
                let driver = try CrashScript.driver(script.path, on: disk, key: 1)
                let old = try #require(try driver.all().first { $0.attributes[.account] == .text("f") })
                disk.arm(SimulatedDisk.Fault(call: call, number: EIO))
                var items = try #require(expected[last].items)
                try? driver.write(CallContext(.transaction)) { (writer) throws(KeychainError) in
                    if (try? writer.commit([.update(old: old, new: old, value: value)])) != nil {
                        items["f"]?.value = value.data
                    }
                    if (try? writer.commit([.insert(passwordRecord("g"), value)])) != nil {
                        items["g"] = CrashScript.Item(value: value.data)
                    }
                }
                hasFailed = disk.hasFailed
                disk.arm(nil)
                #expect(try script.contents(of: disk).items == items, "call \(call)")
                let content = disk.now
                for names in content.possibleEntries {
                    let inode = names.left[script.path].flatMap { content.inodes[$0] }
                    let left = try script.contents(of: SimulatedDisk(files: [script.path: inode?.durable ?? []]))
                    #expect(left.items == items, "call \(call), \(names.story)")
                }
                call += 1
            }
            #expect(call > 20)
        }

        /// One step of the script on a disk of which one call fails.
        private struct Trial {
            /// Those that end with something that can fail when what they are about is durable.
            private static let twoPhases: Set = [
                "create", "compact", "add a key", "change a key", "remove a key", "rotate",
            ]

            let script: CrashScript
            let start: SimulatedDisk.Content
            let step: CrashScript.Step
            let before: CrashScript.Contents
            let after: CrashScript.Contents

            /// The calls of the step if none fails.
            func calls() throws -> [SimulatedDisk.Call] {
                let (disk, driver) = try opened()
                disk.arm(nil)
                try step.run(driver)
                return disk.calls
            }

            /// Runs the step, and gives what is wrong after it.
            func run(_ fault: SimulatedDisk.Fault, _ code: KeychainError.Code) throws -> [String] {
                var findings: [String] = []
                let (disk, driver) = try opened()
                disk.arm(fault)
                var failure: KeychainError?
                do throws(KeychainError) { try step.run(driver) } catch { failure = error }
                guard disk.hasFailed else { return ["the call was not made"] }
                disk.arm(nil)
                if let failure, failure.code != code { findings.append("it throws \(failure)") }
                let left = try script.contents(of: disk)
                // What failed after the commit was durable is said, and has happened.
                let isHalf = failure != nil && fault.isLasting || Self.twoPhases.contains(step.name)
                let allowed = failure == nil ? [after] : isHalf ? [before, after] : [before]
                guard allowed.contains(left) else { return findings + ["it leaves \(left), failure \(failure as Any)"] }
                // An acknowledged one survives a power cut that follows at once.
                if failure == nil { try findings += check(disk.now, [left], "after the verb") }
                if let items = left.items {
                    if try CrashScript.items(driver) != items { findings.append("the driver sees something else") }
                }
                // After a flush that failed, there may be less on the disk than the next writer sees: cut it off as well.
                let moments = Mutex<[SimulatedDisk.Content]>([])
                if fault.isLasting { disk.observe { content in moments.withLock { $0.append(content) } } }
                try driver.add("next", "x")
                disk.observe(nil)
                var next = left
                if next.items == nil { next = CrashScript.Contents(items: [:], keys: [0]) }
                next.items?["next"] = CrashScript.Item(value: Data("x".utf8))
                if try script.contents(of: disk) != next { findings.append("it cannot go on") }
                if fault.isLasting, left.items != nil {
                    // What was not acknowledged may have happened or not, and so may the next verb until it returns.
                    let possible = allowed.flatMap { contents in
                        var more = contents
                        more.items?["next"] = CrashScript.Item(value: Data("x".utf8))
                        return [contents, more]
                    }
                    for (number, content) in moments.withLock({ $0 }).enumerated() {
                        try findings += check(content, possible, "after change \(number) of the next verb")
                    }
                }
                return try findings + check(disk.now, [next], "after the next verb")
            }

            /// Cuts the power.
            private func check(
                _ content: SimulatedDisk.Content,
                _ expected: [CrashScript.Contents],
                _ moment: String
            ) throws -> [String] {
                var findings: [String] = []
                for names in content.possibleEntries {
                    let number = names.left[script.path]
                    for outcome in number.flatMap({ content.inodes[$0]?.possibleContents(.bounded) }) ?? [] {
                        let cut = SimulatedDisk(files: [script.path: outcome.left])
                        let found = Result { try script.contents(of: cut) }
                        guard let left = try? found.get(), expected.contains(left) else {
                            findings.append("a power cut \(moment) (\(names.story), \(outcome.story)) leaves \(found)")
                            continue
                        }
                    }
                    if number == nil, !expected.contains(CrashScript.Contents()) {
                        findings.append("a power cut \(moment) leaves no file")
                    }
                }
                return Array(findings.prefix(1))
            }

            /// A disk as it was before the step, with a driver that has opened the file.
            private func opened() throws -> (SimulatedDisk, FileDriver) {
                let disk = SimulatedDisk(start)
                let driver = try CrashScript.driver(script.path, on: disk, key: before.keys.min() ?? 0)
                _ = try driver.all()
                return (disk, driver)
            }
        }
    }
#endif
