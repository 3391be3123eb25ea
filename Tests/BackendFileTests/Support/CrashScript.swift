// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI
    import KeychainSodium
    import Synchronization

    @testable import BackendFile

    /// One of everything that writes to a keychain file, and what the file contains after each.
    struct CrashScript {
        /// What can be seen of a file.
        struct Contents: Hashable, Sendable {
            /// The items with label and value, by account; nil if there is no file.
            var items: [String: Item]?
            /// Which of ``CrashScript/keys`` open it.
            var keys: Set<Int> = []
        }

        /// What can be seen of an item.
        struct Item: Hashable, Sendable {
            var value: Data
            var label: String?
        }

        /// One verb.
        struct Step: Sendable {
            let name: String
            let run: @Sendable (FileDriver) throws(KeychainError) -> Void
            let expect: @Sendable (inout Contents) -> Void
        }

        /// What the file is unlocked with at one time or another.
        static let keys = (0..<4).map { Data(repeating: UInt8($0 + 1), count: 32) }

        /// The source of one of the keys.
        static func source(_ number: Int) -> KeySource { .material(.key(SecureBytes(keys[number]))) }

        let steps: [Step]
        let path: String

        init(path: String) {
            self.path = path
            let records = ["a", "b", "c", "d", "e", "f"].reduce(into: [:]) { $0[$1] = passwordRecord($1) }
            steps = Self.items(records) + Self.upkeep + Self.more(records)
        }

        private static func items(_ records: [String: ItemRecord]) -> [Step] {
            [
                Step(name: "create") { (driver) throws(KeychainError) in
                    try driver.create(CallContext(.open))
                } expect: {
                    $0 = Contents(items: [:], keys: [0])
                },
                put(records, "add", "a", Data("small".utf8)), put(records, "add", "b", Data()),
                put(records, "add", "c", Data(repeating: 0xC0, count: 3000)),
                put(records, "replace", "a", Data("other".utf8)),
                put(records, "replace with more", "a", Data(repeating: 0xA1, count: 9000)),
                change(records, "change", ["b"]) { (records, writer) throws(KeychainError) in
                    var new = records[0]
                    new.attributes[.label] = .text("label")
                    try writer.commit([.update(old: records[0], new: new, value: nil)])
                } expect: {
                    $0["b"]?.label = "label"
                },
                change(records, "remove", ["c"]) { (records, writer) throws(KeychainError) in
                    try writer.commit([.delete(records[0])])
                } expect: {
                    $0["c"] = nil
                },
                change(records, "do several", ["d", "a", "b", "e"]) { (records, writer) throws(KeychainError) in
                    try writer.commit([
                        .insert(records[0], SecureBytes(Data(repeating: 0xD0, count: 700))),
                        .update(old: records[1], new: records[1], value: SecureBytes(Data("third".utf8))),
                        .delete(records[2]), .insert(records[3], SecureBytes(Data([0]))),
                    ])
                } expect: {
                    $0["d"] = Item(value: Data(repeating: 0xD0, count: 700))
                    $0["a"] = Item(value: Data("third".utf8))
                    $0["b"] = nil
                    $0["e"] = Item(value: Data([0]))
                },
            ]
        }

        private static let upkeep: [Step] = [
            Step(name: "compact") { (driver) throws(KeychainError) in
                try driver.compact(CallContext(.store))
            } expect: { _ in
            },
            Step(name: "add a key") { (driver) throws(KeychainError) in
                try driver.addKey(source(1), CallContext(.store))
            } expect: {
                $0.keys = [0, 1]
            },
            Step(name: "change a key") { (driver) throws(KeychainError) in
                try driver.changeKey(0, to: source(2), CallContext(.store))
            } expect: {
                $0.keys = [1, 2]
            },
            Step(name: "remove a key") { (driver) throws(KeychainError) in
                try driver.removeKey(1, CallContext(.store))
            } expect: {
                $0.keys = [2]
            },
            Step(name: "rotate") { (driver) throws(KeychainError) in
                try driver.rotate([source(3), source(1)], CallContext(.store))
            } expect: {
                $0.keys = [1, 3]
            },
        ]

        private static func more(_ records: [String: ItemRecord]) -> [Step] {
            // The last of these finds more garbage than contents, and the file is rewritten by itself.
            [put(records, "add again", "f", Data(repeating: 1, count: 20_000))]
                + (2...5).map { put(records, "replace \($0)", "f", Data(repeating: UInt8($0), count: 20_000)) }
        }

        private static func put(_ records: [String: ItemRecord], _ name: String, _ account: String, _ value: Data)
            -> Step
        {
            change(records, "\(name) \(account)", [account]) { (records, writer) throws(KeychainError) in
                let isThere = try !writer.records(RecordSelection(records[0].primaryKey)).isEmpty
                try writer.commit([
                    isThere
                        ? .update(old: records[0], new: records[0], value: SecureBytes(value))
                        : .insert(records[0], SecureBytes(value))
                ])
            } expect: {
                $0[account] = Item(value: value)
            }
        }

        private static func change(
            _ records: [String: ItemRecord],
            _ name: String,
            _ accounts: [String],
            run: @escaping @Sendable ([ItemRecord], any RecordWriter) throws(KeychainError) -> Void,
            expect: @escaping @Sendable (inout [String: Item]) -> Void
        ) -> Step {
            let chosen = accounts.compactMap { records[$0] }
            return Step(name: name) { (driver) throws(KeychainError) in
                try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in try run(chosen, writer) }
            } expect: { contents in
                var items = contents.items ?? [:]
                expect(&items)
                contents.items = items
            }
        }
    }

    extension CrashScript {
        /// What was on the disk at a moment of the script.
        struct Moment: Sendable {
            let content: SimulatedDisk.Content
            /// How many steps had returned.
            let acknowledged: Int
            /// Whether the next one was under way.
            let isUnderWay: Bool
        }

        /// Runs the script, and gives what was on the disk after each change.
        ///
        /// - Parameter usesOneDriver: Whether one driver takes all steps, or each has one of its own, as with processes.
        func run(usesOneDriver: Bool) throws -> (moments: [Moment], expected: [Contents]) {
            let disk = SimulatedDisk()
            let moments = Mutex<[Moment]>([Moment(content: disk.now, acknowledged: 0, isUnderWay: false)])
            var expected = [Contents()]
            var driver = try Self.driver(path, on: disk, key: 0)
            for (number, step) in steps.enumerated() {
                disk.observe { content in
                    moments.withLock { $0.append(Moment(content: content, acknowledged: number, isUnderWay: true)) }
                }
                try step.run(driver)
                disk.observe(nil)
                moments.withLock { $0.append(Moment(content: disk.now, acknowledged: number + 1, isUnderWay: false)) }
                var contents = expected[number]
                step.expect(&contents)
                expected.append(contents)
                if !usesOneDriver { driver = try Self.driver(path, on: disk, key: contents.keys.min() ?? 0) }
            }
            return (moments.withLock { $0 }, expected)
        }

        /// A driver on a simulated disk.
        static func driver(_ path: String, on disk: SimulatedDisk, key: Int) throws(KeychainError) -> FileDriver {
            try FileDriver(
                path: path,
                options: StoreOptions(keySource: source(key), creation: .ifMissing),
                environment: [:],
                cost: .minimal,
                system: disk
            )
        }

        /// What can be seen of the file on a disk.
        func contents(of disk: SimulatedDisk) throws(KeychainError) -> Contents {
            let place = try FilePlace(path, system: disk, environment: [:])
            guard try place.status() != nil else { return Contents() }
            let header = try SealedFile(place).header
            var keys: Set<Int> = []
            for number in Self.keys.indices {
                do throws(KeychainError) {
                    _ = try header.masterKey(.key(SecureBytes(Self.keys[number])))
                    keys.insert(number)
                } catch  where error.code == .authenticationFailed {}
            }
            return Contents(items: try Self.items(try Self.driver(path, on: disk, key: keys.min() ?? 0)), keys: keys)
        }

        /// The items that a driver finds.
        static func items(_ driver: FileDriver) throws(KeychainError) -> [String: Item] {
            try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                var items: [String: Item] = [:]
                for record in try reader.records(RecordSelection()) {
                    guard case .text(let account)? = record.attributes[.account] else { continue }
                    let label: String? = if case .text(let text)? = record.attributes[.label] { text } else { nil }
                    items[account] = Item(value: try reader.value(of: record).data, label: label)
                }
                return items
            }
        }
    }
#endif
