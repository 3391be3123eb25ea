// SPDX-License-Identifier: MIT

/// One way in which a driver can break the contract.
enum Flaw: String, CaseIterable, Sendable {
    // What makes an item unique.
    case forgetsKeys
    case dropsTheMark
    case foldsCase
    case composesText
    case trimsText
    case leaksGroups

    // What an item keeps.
    case losesUpdates
    case losesAnAttribute
    case inventsAnAttribute
    case losesThePolicy
    case losesTheHash
    case datesAtRandom
    case datesAnewEachTime
    case datesGoBack
    case createsAnewOnUpdate
    case renamesOnUpdate
    case cannotFindReferences

    // Values.
    case cutsAtNUL
    case trimsValues
    case replacesInvalidText
    case losesEmptyItems
    case mixesUpValues
    case cutsLargeValues
    case refusesItsOwnLimit
    case quotesTheValue

    // Commits.
    case commitsHalf
    case commitsOneByOne
    case runsTwice
    case doesNotExclude
    case ignoresDeadlines
    case makesReadersWait

    // What it says.
    case answersEmptyWhenLocked
    case saysNotFoundWhenLocked
    case movesAround
    case tellsNoChanges
    case tellsOwnChangesOnly

    // Opening again.
    case forgetsWhenReopened
    case staleWhenReopened
}
