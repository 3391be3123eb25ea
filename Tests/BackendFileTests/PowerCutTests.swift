// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import Synchronization
    import Testing

    @testable import BackendFile

    /// A power cut after each change of the disk, and all that it may leave.
    struct PowerCutTests {
        private let scratch = Scratch()

        @Test(arguments: [true, false])
        func noAcknowledgedWriteIsLostByAPowerCut(usesOneDriver: Bool) throws {
            let script = CrashScript(path: scratch.path)
            let (moments, expected) = try script.run(usesOneDriver: usesOneDriver)
            // The rewrites put a file in the place of another one four times: created, twice on demand, by itself.
            #expect(Set(moments.compactMap { $0.content.entries[script.path] }).count == 4)
            var checker = PowerCutChecker(script, nestedStride: Depth.current == .full ? 5 : 40)
            for (number, moment) in moments.enumerated() {
                let step = script.steps[min(moment.acknowledged, script.steps.count - 1)].name
                // Once it is under way, a step may have happened or not.
                let allowed = expected[moment.acknowledged...(moment.acknowledged + (moment.isUnderWay ? 1 : 0))]
                checker.check(moment.content, Array(allowed), "change \(number), ‘\(step)’")
            }
            #expect(checker.failures == [])
            #expect(checker.stateCount > 300)
            #expect(checker.nestedCount > 100)
            Attachment.record("\(checker.stateCount) states, \(checker.nestedCount) nested", named: "power-cut.txt")
        }
    }

    /// Opens what a power cut may have left, and goes on from there.
    private struct PowerCutChecker {
        private let script: CrashScript
        private let nestedStride: Int
        /// The hashes of the states that were looked at.
        private var known: Set<Int> = []
        private(set) var stateCount = 0
        private(set) var nestedCount = 0
        /// The first failures: one mistake has many consequences.
        private(set) var failures: [String] = []

        /// What tells a state from others.
        private static func identity(_ files: [String: [UInt8]], _ allowed: [CrashScript.Contents]) -> Int {
            var hasher = Hasher()
            for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
                hasher.combine(path)
                // Not the array: that would be one call for each byte.
                bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            }
            hasher.combine(allowed)
            return hasher.finalize()
        }

        init(_ script: CrashScript, nestedStride: Int) {
            self.script = script
            self.nestedStride = nestedStride
        }

        /// Looks at every state that a power cut may leave of a disk.
        mutating func check(
            _ content: SimulatedDisk.Content,
            _ allowed: [CrashScript.Contents],
            _ moment: String,
            isNested: Bool = false
        ) {
            for names in content.possibleEntries {
                let number = names.left[script.path]
                let outcomes = number.flatMap { content.inodes[$0]?.possibleContents(isNested ? .bounded : .current) }
                for outcome in outcomes ?? [Outcome(left: [], story: "no file")] where failures.count < 5 {
                    var files = names.left.compactMapValues { content.inodes[$0]?.bytes }
                    files[script.path] = number == nil ? nil : outcome.left
                    guard known.insert(Self.identity(files, allowed)).inserted else { continue }
                    let story = "\(moment), \(names.story), \(outcome.story)"
                    do {
                        try check(files, allowed, story, isNested: isNested)
                    } catch {
                        failures.append("\(story): \(error)")
                    }
                }
            }
        }

        private mutating func check(
            _ files: [String: [UInt8]],
            _ allowed: [CrashScript.Contents],
            _ story: String,
            isNested: Bool
        ) throws {
            if isNested { nestedCount += 1 } else { stateCount += 1 }
            let disk = SimulatedDisk(files: files)
            var contents = try script.contents(of: disk)
            guard allowed.contains(contents) else {
                return failures.append("\(story): \(contents.items?.keys.sorted() ?? []), keys \(contents.keys)")
            }
            // The next writer mends what there is to mend, and may be cut off as well.
            let before = contents
            let account = isNested ? "one more" : "next"
            let isSample = !isNested && stateCount.isMultiple(of: nestedStride)
            let moments = Mutex<[SimulatedDisk.Content]>([])
            if isSample { disk.observe { content in moments.withLock { $0.append(content) } } }
            try CrashScript.driver(script.path, on: disk, key: contents.keys.min() ?? 0).add(account, "x")
            disk.observe(nil)
            contents.items = contents.items ?? [:]
            contents.items?[account] = CrashScript.Item(value: Data("x".utf8))
            if before.items == nil { contents.keys = [0] }
            guard try script.contents(of: disk) == contents else {
                return failures.append("\(story): wrong after the next write")
            }
            guard disk.names(in: scratchFolder) == [String(script.path.dropFirst(scratchFolder.count + 1))] else {
                return failures.append("\(story): left over after the next write: \(disk.names(in: scratchFolder))")
            }
            var created = before
            if before.items == nil { created = CrashScript.Contents(items: [:], keys: [0]) }
            for (number, content) in moments.withLock({ $0 }).enumerated() {
                check(content, [before, created, contents], "\(story); then change \(number)", isNested: true)
            }
            if isSample { check(disk.now, [contents], "\(story); then after the write", isNested: true) }
        }

        private var scratchFolder: String {
            String(script.path[..<(script.path.lastIndex(of: "/") ?? script.path.startIndex)])
        }
    }
#endif
