// SPDX-License-Identifier: MIT

import KeychainAPI

// The commands that bring items from one store to another one.
extension CommandTable {
    static let transferCommands: [CommandSpec] = [
        CommandSpec(
            name: "cp",
            summary: "copy items to another store",
            operands: .selector(.narrow),
            options: [to, toKey, ifExists],
            discussion: [
                "Every match is copied, or none is. The copies are new items, with references and dates of their own; they are "
                    + "in the group of the originals.", transferred,
            ],
            exitCodes: [.done, .notFound, .duplicate] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.transfer(removingOriginals: false) }
        ),
        CommandSpec(
            name: "mv",
            summary: "move items to another store",
            operands: .selector(.narrow),
            options: [to, toKey, ifExists],
            discussion: [
                "Every match is copied and then removed here, or nothing is done. If it is interrupted in between, an item may "
                    + "be in both stores; it is never in neither. A store in memory is refused: it ends with the command.",
                transferred,
            ],
            exitCodes: [.done, .notFound, .duplicate] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.transfer(removingOriginals: true) }
        ),
        CommandSpec(
            name: "migrate",
            summary: "copy a whole store into another one",
            operands: .none,
            options: [to, toKey, ifExists],
            discussion: [
                "Every item of every class and every group is copied, or none is; with --group those of that group alone. The "
                    + "originals stay.", transferred,
            ],
            exitCodes: [.done, .notFound, .duplicate] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.migrate() }
        ),
    ]

    private static let to: OptionSpec = .value("to", "URL", "the other store")
    private static let toKey: OptionSpec = .value("to-key", "SOURCE", "what unlocks it; forms as for --key")

    private static let transferred =
        "Items that belong to this device only stay where they are, with a note. An item with a password of its own is "
        + "encrypted anew with it. A file store that does not exist is created. --json prints the numbers of items."
}
