// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension Bench {
    /// Keychains to migrate between: two groups of the store, and the store and another one both ways.
    fileprivate func migrations() -> [(name: String, source: Keychain, target: Keychain)] {
        let scratch = { Keychain(driver: ScratchDriver(), accessGroup: AccessGroup(rawValue: "scratch")) }
        return [
            ("between groups", inGroup("source"), inGroup("target")),
            ("to another store", inGroup("out"), scratch()),
            ("from another store", scratch(), inGroup("in")),
        ]
    }

    /// One item of each class, two of one, and one that is marked for synchronization.
    fileprivate func fill(_ keychain: Keychain) throws {
        try keychain.store("generic", query: SecItemQuery<GenericPassword>.full)
        try keychain.store("other", query: password("s", "a"), accessPolicy: AccessPolicy(.whenUnlocked))
        try keychain.store("marked", query: password("s", "a").synchronizable(true))
        try keychain.store("internet", query: SecItemQuery<InternetPassword>.full)
        try keychain.store("key", query: SecItemQuery<SecKey>.full)
        try keychain.store("certificate", query: SecItemQuery<SecCertificate>.full)
    }
}

/// An item without what is new in a copy.
private struct Content: Hashable {
    let itemClass: ItemClass
    let isSynchronizable: Bool
    let attributes: AttributeSet
    let value: Data?
}

private func contents(_ keychain: Keychain) throws -> Set<Content> {
    Set(
        try snapshot(keychain).map {
            Content(
                itemClass: $0.itemClass,
                isSynchronizable: $0.isSynchronizable,
                attributes: $0.attributes,
                value: $0.value
            )
        }
    )
}

extension ConformanceSuite {
    static let migration = CheckList.make(.migration) { list in
        list.add("A migration brings every item of every class, with all that it has") { bench in
            for (name, source, target) in bench.migrations() {
                try bench.fill(source)
                let before = try snapshot(source)
                let summary = try Keychain.migrate(from: source, to: target)
                try expectEqual(summary.migrated, 6, "All were counted, \(name)")
                try expect(try contents(target) == contents(source), "All are there, \(name)")
                try expect(try snapshot(source) == before, "The originals stay, \(name)")
            }
        }
        list.add("A migration that removes the originals leaves none") { bench in
            for (name, source, target) in bench.migrations() {
                try bench.fill(source)
                let before = try contents(source)
                try Keychain.migrate(from: source, to: target, removingOriginals: true)
                try expect(try contents(target) == before, "All are there, \(name)")
                try expectEqual(try snapshot(source).count, 0, "None is here, \(name)")
            }
        }
        list.add("An empty source is itemNotFound, and a keychain into itself is nothing to do") { bench in
            let target = Keychain(driver: ScratchDriver())
            try bench.expectRefused(.itemNotFound, from: .migrate, "Nothing there") {
                try Keychain.migrate(from: bench.keychain, to: target)
            }
            try bench.fill(bench.keychain)
            let before = try snapshot(bench.keychain)
            for scope in [MigrationScope.group, .everyGroup] {
                let summary = try Keychain.migrate(
                    from: bench.keychain,
                    to: bench.keychain,
                    scope: scope,
                    removingOriginals: true
                )
                try expectEqual(summary, MigrationSummary(), "Nothing was done")
            }
            try expect(try snapshot(bench.keychain) == before, "It is as it was")
        }
        list.add("An item whose key is taken is treated as was said") { bench in
            for conflict in MigrationConflict.allCases {
                let source = Keychain(driver: ScratchDriver())
                let target = bench.inGroup("target-\(conflict)")
                try source.store("new", query: password("s", "taken").with(.label, .text("new")))
                try source.store("free", query: password("s", "free"))
                try target.store("old", query: password("s", "taken").with(.label, .text("old")))
                if conflict == .fail || conflict == .failIfDifferent {
                    try bench.expectRefused(.duplicateItem, from: .migrate, "fail", in: target) {
                        try Keychain.migrate(from: source, to: target, ifExists: conflict, removingOriginals: true)
                    }
                    try expectEqual(try snapshot(source).count, 2, "Nor is anything removed")
                    continue
                }
                let summary = try Keychain.migrate(
                    from: source,
                    to: target,
                    ifExists: conflict,
                    removingOriginals: true
                )
                let isSkipped = conflict == .skip
                try expectEqual(summary.migrated, isSkipped ? 1 : 2, "Migrated, \(conflict)")
                try expectEqual(summary.skipped, isSkipped ? 1 : 0, "Skipped, \(conflict)")
                let taken = password("s", "taken")
                let value = bytes(isSkipped ? "old" : "new")
                try expectValue(try bench.value(taken, in: target), value, "The value, \(conflict)")
                try expectEqual(
                    try target.info(for: taken)?.label,
                    conflict == .replace ? "new" : "old",
                    "The label, \(conflict)"
                )
                try expectEqual(try snapshot(source).count, isSkipped ? 1 : 0, "What is left, \(conflict)")
            }
        }
        list.add("What is there with the same value can stay as it is") { bench in
            let source = Keychain(driver: ScratchDriver())
            try source.store("same", query: password("s", "taken").with(.label, .text("new")))
            try source.store("free", query: password("s", "free"))
            try bench.keychain.store("same", query: password("s", "taken").with(.label, .text("old")))
            let before = try bench.keychain.info(for: password("s", "taken"))
            let summary = try Keychain.migrate(from: source, to: bench.keychain, ifExists: .failIfDifferent)
            try expect(summary.migrated == 1 && summary.skipped == 1, "One was new: \(summary)")
            try expect(try bench.keychain.info(for: password("s", "taken")) == before, "The other one is as it was")
            let again = try Keychain.migrate(from: source, to: bench.keychain, ifExists: .failIfDifferent)
            try expect(again.migrated == 0 && again.skipped == 2, "Nothing is new: \(again)")
        }
        list.add("A transform changes items and leaves some out") { bench in
            let source = Keychain(driver: ScratchDriver())
            try source.store("1", query: password("old", "a"))
            try source.store("2", query: password("old", "b"))
            try source.store("3", query: password("old", "c"))
            let summary = try Keychain.migrate(from: source, to: bench.keychain) { (item) throws(KeychainError) in
                guard item.attributes[.account] != .text("b") else { return nil }
                var item = item
                item.attributes[.service] = .text("new")
                item.value = SecureBytes(bytes("changed"))
                item.accessPolicy = AccessPolicy(.whenUnlocked)
                item.isSynchronizable = true
                return item
            }
            try expectEqual(summary.leftOut, 1, "Left out")
            let query = password("new").synchronizable(true)
            try expectEqual(try bench.keychain.infoAll(for: query).compactMap(\.account), ["a", "c"], "The others")
            try expectValue(try bench.value(query), bytes("changed"), "The value")
            try expect(try bench.keychain.info(for: query)?.accessPolicy == AccessPolicy(.whenUnlocked), "The policy")
        }
        list.add("What a transform throws, or may not make, ends the migration before anything is written") { bench in
            let source = Keychain(driver: ScratchDriver())
            try source.store("1", query: password("s", "a"))
            try source.store("2", query: password("s", "b"))
            try bench.expectRefused(.decode, from: .migrate, "It throws") {
                try Keychain.migrate(from: source, to: bench.keychain, removingOriginals: true) {
                    (item) throws(KeychainError) in
                    if item.attributes[.account] == .text("b") { throw KeychainError(.decode, "No.") }
                    return item
                }
            }
            let changes: [@Sendable (inout MigrationItem) -> Void] = [
                { $0.attributes[.server] = .text("no attribute of the class") },
                { $0.attributes[.account] = .text("a\0") },
                { $0.attributes[.accessible] = .text("ak") },
                { $0.accessGroup = AccessGroup(rawValue: "a\0") },
                { $0.accessPolicy = AccessPolicy(.whenUnlocked, options: .or) },
            ]
            for (number, change) in changes.enumerated() {
                try bench.expectRefused(.invalidParameter, from: .migrate, "Change \(number)") {
                    try Keychain.migrate(from: source, to: bench.keychain) { (item) throws(KeychainError) in
                        var item = item
                        change(&item)
                        return item
                    }
                }
            }
            try bench.expectRefused(.duplicateItem, from: .migrate, "Two items with one key") {
                try Keychain.migrate(from: source, to: bench.keychain, ifExists: .skip) {
                    (item) throws(KeychainError) in
                    var item = item
                    item.attributes[.account] = .text("same")
                    return item
                }
            }
            try expectEqual(try snapshot(source).count, 2, "The source is as it was")
        }
        list.add("Items of ThisDeviceOnly policies are left out of a migration to another store, unread") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store(
                "stays",
                query: password("s", "a"),
                accessPolicy: AccessPolicy(.whenUnlockedThisDeviceOnly)
            )
            try expectThrows(.unsupported, from: .migrate, "None may leave") {
                try Keychain.migrate(from: keychain, to: Keychain(driver: ScratchDriver()))
            }
            try expectEqual(spy.count(.value), 0, "It was not read")
            try keychain.store("goes", query: password("s", "b"))
            let target = Keychain(driver: ScratchDriver())
            let summary = try Keychain.migrate(from: keychain, to: target, removingOriginals: true)
            try expect(summary.migrated == 1 && summary.keptOnDevice == 1, "Both are counted")
            try expectEqual(spy.count(.value), 1, "One was read")
            try expectEqual(try keychain.infoAll(for: password("s")).compactMap(\.account), ["a"], "It stays")
            try expectEqual(
                try Keychain.migrate(from: bench.keychain, to: bench.inGroup("other")).migrated,
                1,
                "It may go into another group"
            )
        }
        list.add("The items of every group stay in their groups") { bench in
            let source = Keychain(driver: ScratchDriver())
            let groups = ["one", "two"].map { bench.inGroup($0) }
            for keychain in groups {
                let group = source.with { $0.accessGroup = keychain.accessGroup }
                try group.store(keychain.accessGroup.rawValue, query: password("s"))
            }
            let stranger = source.with { $0.accessGroup = AccessGroup(rawValue: "stranger") }
            try expectThrows(.itemNotFound, from: .migrate, "None is in the group") {
                try Keychain.migrate(from: stranger, to: bench.keychain)
            }
            let one = source.with { $0.accessGroup = groups[0].accessGroup }
            let aside = try Keychain.migrate(from: one, to: Keychain(driver: ScratchDriver()))
            try expect(aside.migrated == 1 && aside.inOtherGroups == 1, "What is in other groups is counted")
            let summary = try Keychain.migrate(from: source, to: bench.keychain, scope: .everyGroup)
            try expectEqual(summary.migrated, 2, "Both")
            for keychain in groups {
                let value = bytes(keychain.accessGroup.rawValue)
                try expectValue(try bench.value(password("s"), in: keychain), value, "In its group")
            }
            try expectEqual(try snapshot(bench.keychain).count, 0, "None in the keychain's own")
        }
        list.add("Progress goes forward through every phase to its end") { bench in
            for number in 0..<70 { try bench.keychain.store("v", query: password("s", "\(number)")) }
            let progress = ProgressLog()
            try Keychain.migrate(
                from: bench.keychain,
                to: Keychain(driver: ScratchDriver()),
                removingOriginals: true,
                progress: progress.add
            )
            try progress.expect([.reading, .storing, .removing], of: 70)
        }
        list.add("If the originals cannot be removed the copies are taken back") { bench in
            let (keychain, spy) = bench.spied()
            try bench.fill(keychain)
            let target = Keychain(driver: ScratchDriver())
            let before = try snapshot(bench.keychain)
            spy.fail(at: .commit, with: KeychainError(.readOnly, "Nothing can be removed."))
            try expectThrows(.readOnly, from: .migrate, "The source's own error") {
                try Keychain.migrate(from: keychain, to: target, removingOriginals: true)
            }
            try expectEqual(try snapshot(target).count, 0, "Nothing is left in the target")
            try expect(try snapshot(bench.keychain) == before, "All are where they were")
        }
        list.addAsync("The asynchronous form does the same, and ends with its task") { bench in
            try await bench.keychain.store("v", query: password("s"))
            let target = Keychain(driver: ScratchDriver())
            try await expectEqual(Keychain.migrate(from: bench.keychain, to: target).migrated, 1, "Migrated")
            let source = bench.keychain
            let task = Task { () -> KeychainError.Code? in
                withUnsafeCurrentTask { $0?.cancel() }
                do throws(KeychainError) {
                    try await Keychain.migrate(from: source, to: target)
                    return nil
                } catch {
                    return error.code
                }
            }
            try expectEqual(await task.value, .cancelled, "A cancelled task")
        }
    }
}
