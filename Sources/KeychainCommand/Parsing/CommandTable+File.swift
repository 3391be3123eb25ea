// SPDX-License-Identifier: MIT

import KeychainAPI

// The commands about the keys and the upkeep of an encrypted file.
extension CommandTable {
    static let fileCommands: [CommandSpec] = [
        CommandSpec(
            name: "key list",
            summary: "list what unlocks a file store",
            operands: .none,
            options: [],
            discussion: [
                "The key slots of the file: number, kind, source if the file says where the secret is found, what deriving "
                    + "a key costs, and * if --key opens it. A table on a terminal, else five fields with tabs between them.",
                "Nothing has to be unlocked. If a key is given and cannot be read, the slots are listed all the same, and "
                    + "the exit status says why.",
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.listKeys) }
        ),
        CommandSpec(
            name: "key add",
            summary: "add a passphrase or key that unlocks a file store",
            operands: .words(["SOURCE"]),
            options: [],
            discussion: [
                "--key is what unlocks the file now, SOURCE the new one besides it. On a terminal a new passphrase is "
                    + "asked for twice. A file has up to 15 of them. With store:URL a random key is made and put into that "
                    + "store. A passphrase or key that opens a slot already is refused, and the exit status is 3.",
                "The file remembers credential:NAME and store:URL, and finds them by itself where --key is left out.",
            ],
            exitCodes: [.done, .duplicate] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.addKey) }
        ),
        CommandSpec(
            name: "key change",
            summary: "put another passphrase or key in the place of one",
            operands: .words(["SLOT", "SOURCE"]),
            options: [],
            discussion: [
                "SLOT is a number that ‘key list’ shows. An old copy of the file can still be unlocked with the old one."
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.changeKey) }
        ),
        CommandSpec(
            name: "key remove",
            summary: "let a passphrase or key unlock a file store no more",
            operands: .words(["SLOT"]),
            options: [],
            discussion: [
                "The last one is not removed. An old copy of the file can still be unlocked with it: if it got into wrong "
                    + "hands, ‘key rotate’ as well."
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.removeKey) }
        ),
        CommandSpec(
            name: "key rotate",
            summary: "encrypt a file store anew",
            operands: .anyNumber("SOURCE"),
            options: [.flag("drop-others", "let go of the keys whose source is not given")],
            discussion: [
                "Everything is encrypted under a new key, which only the sources unlock; without one, that is what the "
                    + "file was unlocked with. If that was a prompt, a new passphrase is asked for.",
                "If the file has more keys than sources are given, it is left as it is and the exit status is 9, unless "
                    + "--drop-others is given.",
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.rotate) }
        ),
        CommandSpec(
            name: "key generate",
            summary: "make a key file",
            operands: .words(["PATH"]),
            options: [],
            discussion: [
                "32 random bytes that only you can read, for keyfile:PATH. A file that exists is left as it is, and the "
                    + "exit status is 3. Who loses the key file loses what it unlocks: keep a copy."
            ],
            exitCodes: [.done, .usage, .duplicate, .refused, .failed],
            run: { (run) throws(KeychainError) in try run.generateKey() }
        ),
        CommandSpec(
            name: "compact",
            summary: "rewrite a file store without what was removed",
            operands: .none,
            options: [],
            discussion: [
                "This also happens by itself when more than half of the file is of that kind. On a terminal, or with "
                    + "--verbose, its sizes before and after are told; --json prints them."
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.compact) }
        ),
        CommandSpec(
            name: "check",
            summary: "look at every byte of a file store",
            operands: .none,
            options: [],
            discussion: [
                "One finding a line: what it is, its place (the first byte and the number of bytes, or the reference of an "
                    + "item) and a description. The file is not changed.",
                "ok: what is intact. mendable: one of two copies, which the next write mends. damaged: a place that is not "
                    + "as it was written. former: the file was put back to a former state. lost: an item without its value. doubtful: an item of which there may have been a "
                    + "newer state. growing: what a damaged value keeps from being cleared away. unknown: there may have been "
                    + "items of which nothing is left.",
                "The exit status is 7 if anything is damaged, or the file was put back to a former state.",
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.check) }
        ),
        CommandSpec(
            name: "repair",
            summary: "save what is intact of a damaged file store",
            operands: .none,
            options: [output],
            discussion: [
                "Into a new file, which is unlocked as the damaged one is; left out, --output is the path of the store with "
                    + ".repaired behind it. The damaged file is not changed, and a file that exists is not written over. "
                    + "Findings are printed as ‘check’ prints them; doubtful items are saved too.",
                "What is saved of a former state is accepted in its place. The exit status is 7 if anything was lost, or may "
                    + "have been.",
            ],
            exitCodes: [.done, .duplicate] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.run(.repair) }
        ),
    ]
}
