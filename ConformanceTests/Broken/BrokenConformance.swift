// SPDX-License-Identifier: MIT

import KeychainAPI
import KeychainConformance
import Testing

/// Proves that the suite can fail: for each flaw, the checks that must notice it do.
///
/// Some rules a driver cannot break, because the library keeps them before or after it asks the driver: what is
/// refused as invalid, decoding, the text of errors, what is asked of a person. Of those, each family has at least
/// one check here that a driver's flaw reaches; the rest is proved by the unit tests of the library itself.
@Suite("Broken drivers", .serialized) struct BrokenConformance {
    /// What must fail for a flaw, by the checks' names.
    static let noticed: [(flaw: Flaw, checks: [String])] = [
        (
            .forgetsKeys,
            [
                "store(.fail) is the default", "A value never makes two items different",
                "Of racing store(.fail) of one key exactly one succeeds, the others throw duplicateItem",
                "Random verbs agree with the reference model, sequence 1",
                "Uniqueness holds between two open instances",
            ]
        ),
        (
            .dropsTheMark,
            [
                "A generic password that is synchronizable is a second item",
                "With synchronizable any a query means local and synchronizable items",
                "removeAll removes the local items of every class in the group",
            ]
        ),
        (
            .foldsCase,
            ["Upper and lower case are two items: accounts", "Equality knows no wildcards, prefixes or cases"]
        ),
        (.composesText, ["Composed and decomposed spellings are two items: accounts"]),
        (.trimsText, ["Blanks around a text count: accounts"]),
        (
            .leaksGroups,
            [
                "A generic password in another access group is a second item",
                "An access group in the query stands in for the keychain's own",
                "removeAll removes the local items of every class in the group",
            ]
        ),
        (
            .losesUpdates,
            [
                "store(.replaceValue) leaves one item, with the new value",
                "update changes every match and says how many", "A transaction does all of its verbs",
                "copy(.replace) replaces the target's attributes", "Racing updates of different attributes all survive",
                "Reopened, the store knows of every change and removal",
            ]
        ),
        (
            .losesAnAttribute,
            [
                "A generic password keeps every attribute",
                "A generic password is found by comment alone, and not by another comment",
            ]
        ),
        (.inventsAnAttribute, ["A generic password can be stored without any attribute"]),
        (
            .losesThePolicy,
            [
                "Every policy that can be kept is stored and read back",
                "Reading an item that needs confirmation without anyone to ask is interactionNotAllowed",
                "Items of ThisDeviceOnly policies are left out of a copy to another store",
                "A value under an application password is kept sealed, and comes back with the password alone",
            ]
        ),
        (
            .losesTheHash,
            [
                "An identity exists where a private key's label is a certificate's public key hash",
                "Removing an identity removes its certificate and its key",
            ]
        ),
        (
            .datesAtRandom,
            [
                "Results come oldest first, ties by reference",
                "Creation and modification date are the moment of storing",
            ]
        ),
        (
            .datesAnewEachTime,
            ["Asking again gives the same answer", "The order of results is the same in another instance"]
        ),
        (.datesGoBack, ["A modification date never goes back, and moves with every change"]),
        (
            .createsAnewOnUpdate,
            [
                "store(.replace) keeps the reference and the creation date",
                "update keeps the reference, group and creation date of a generic password",
                "Results stay in order when items are changed",
            ]
        ),
        (
            .renamesOnUpdate,
            [
                "store(.replaceValue) keeps the reference and the creation date",
                "The reference of a generic password names it in every verb, and after every update",
                "Moving within a store keeps the reference and the creation date",
            ]
        ),
        (.cannotFindReferences, ["The reference of a key names it in every verb, and after every update"]),
        (.cutsAtNUL, ["A value with NUL inside round-trips to the byte, by every verb that writes and reads"]),
        (
            .trimsValues,
            ["A value with blanks at both ends round-trips to the byte, by every verb that writes and reads"]
        ),
        (.replacesInvalidText, ["Invalid UTF-8 round-trips to the byte, by every verb that writes and reads"]),
        (
            .losesEmptyItems,
            ["contains is true for an item and false without one", "Empty is not missing and not corrupt"]
        ),
        (.mixesUpValues, ["Values of a list belong to their items"]),
        (
            .cutsLargeValues,
            [
                "Values of 1 MiB round-trip to the byte in every class",
                "A value of the largest size is accepted, and one byte more is dataTooLarge",
            ]
        ),
        (.refusesItsOwnLimit, ["A value of the largest size is accepted, and one byte more is dataTooLarge"]),
        (.quotesTheValue, ["No error of the driver shows the value that it was given"]),
        (
            .commitsHalf,
            [
                "update changes every match and says how many", "remove removes every match and nothing else",
                "move takes every match and nothing else", "A transaction does all of its verbs",
                "A migration brings every item of every class, with all that it has",
                "Removing an identity removes its certificate and its key",
            ]
        ),
        (.commitsOneByOne, ["A reader sees all of a commit or nothing of it"]),
        (.runsTwice, ["A transaction's closure runs exactly once", "store adds an item that is then there"]),
        (
            .doesNotExclude,
            [
                "Racing updates of different attributes all survive",
                "A transaction that reads and writes a counter loses no step of eight threads",
            ]
        ),
        (
            .ignoresDeadlines,
            [
                "A deadline ends a call that waits for another writer, and it does nothing",
                "Cancelling a call that waits ends it promptly, and it does nothing",
                "A hundred calls that wait end at their deadlines",
            ]
        ),
        (.makesReadersWait, ["Readers do not wait for a writer that has not committed"]),
        (
            .answersEmptyWhenLocked,
            [
                "“Not found” is never said of a locked store",
                "A locked store gives no value, and says that it is locked",
            ]
        ),
        (.saysNotFoundWhenLocked, ["“Not found” is never said of a locked store"]),
        (
            .movesAround,
            [
                "An error says which driver, store and verb it is about, and what to do",
                "Both instances name the same store", "copy onto the keychain itself does nothing",
            ]
        ),
        (
            .tellsNoChanges,
            ["Own writes are told: added, updated, removed", "Two readers are told the same"]
        ),
        (.tellsOwnChangesOnly, ["Changes made through another instance of the driver are told"]),
        (
            .forgetsWhenReopened,
            ["Reopened, the store holds every item exactly as it was", "Both instances name the same store"]
        ),
        (.staleWhenReopened, ["Two open instances see each other's writes at the next call"]),
    ]

    private static func check(_ name: String) throws -> ConformanceCheck {
        try #require(ConformanceSuite.all.first { $0.name == name }, "There is no check with the name ‘\(name)’")
    }

    @Test("A flaw is noticed", arguments: Flaw.allCases)
    func isNoticed(_ flaw: Flaw) async throws {
        let names = try #require(Self.noticed.first { $0.flaw == flaw }?.checks, "No check is named for it")
        for name in names {
            let check = try Self.check(name)
            await #expect(throws: ConformanceFailure.self, "\(flaw) is noticed by ‘\(name)’") {
                try await check.run(on: BrokenHarness(flaw: flaw))
            }
            // The same check passes without the flaw, so that it is the flaw that it notices.
            try await check.run(on: BrokenHarness(flaw: nil))
        }
    }

    @Test("Every family has a check that a flaw makes fail")
    func everyFamilyCanFail() throws {
        var families: Set<ConformanceFamily> = []
        for (_, names) in Self.noticed {
            for name in names { families.insert(try Self.check(name).family) }
        }
        // Several processes need a store outside of this one: see FileConformance.
        let all = Set(ConformanceSuite.all.map(\.family)).subtracting([.processes])
        #expect(all.subtracting(families).isEmpty)
    }

    @Test("No two checks have one name") func namesAreUnique() {
        let names = ConformanceSuite.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count > 150)
    }

    @Test("A failure tells the check, the expectation and the place, and no value") func failuresAreTold() async throws
    {
        let check = try Self.check(
            "A value with NUL inside round-trips to the byte, by every verb that writes and reads"
        )
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: BrokenHarness(flaw: .cutsAtNUL))
        }
        let text = try #require(failure).description
        #expect(text.contains(check.name) && text.contains("ValueChecks.swift") && !text.contains("before\0after"))
    }

    @Test("A model check that fails names its seed and few verbs") func modelFailuresAreShort() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ModelCheck(seed: 42, steps: 200).run(on: BrokenHarness(flaw: .losesUpdates))
        }
        let text = try #require(failure).expectation
        #expect(text.contains("KEYCHAIN_CONFORMANCE_SEED=42"))
        #expect(text.split(separator: "\n").count < 8, "\(text)")
    }

    @Test("A power that a harness lacks makes a check not applicable") func powersCount() async throws {
        let check = try Self.check("Two open instances see each other's writes at the next call")
        struct Plain: ConformanceHarness {
            func makeKeychain() -> Keychain { MemoryHarness().makeKeychain() }
            func discard(_ keychain: Keychain) {}
        }
        #expect(try await check.run(on: Plain()) == .notApplicable(.reopen))
        #expect(!ConformanceSuite.checks(for: Plain()).contains { $0.name == check.name })
    }
}
