// SPDX-License-Identifier: MIT

import KeychainAPI
import KeychainSystem

// The commands for other programs.
extension CommandTable {
    /// What the name of the program stands for: a link with the name that another program looks for is a command.
    ///
    /// - Parameter path: The path that the program was called by.
    static func arguments(of path: String) -> [String] {
        switch path.lastPathComponent {
        case "docker-credential-keychainctl": ["docker-credential"]
        case "git-credential-keychainctl": ["git-credential"]
        default: []
        }
    }

    static let programCommands: [CommandSpec] = [
        CommandSpec(
            name: "run",
            summary: "run a command with secrets in its environment",
            operands: .program,
            options: [
                .value(
                    "env",
                    short: "e",
                    "NAME=SELECTOR",
                    isRepeatable: true,
                    "a variable and its item; may be repeated"
                ),
                .flag("mask", "hide the values in what the command prints"),
            ],
            discussion: [
                "SELECTOR is split into words as a shell does, and names an item as ‘get’ takes it: --env 'TOKEN=svc bob', "
                    + "--env 'PW=--url https://example.com alice'. All are read before anything is started; if one is not "
                    + "found, that is said and the exit status is 1.",
                "The command takes the place of keychainctl: its exit status, its signals and its terminal are its own. The "
                    + "secrets are in its environment alone, in no argument and no file. Its other variables are those of the "
                    + "caller, also one that holds a passphrase. It writes no core file, which would hold the secrets.",
                "With --mask its output goes through pipes, in which each value is replaced by [NAME]; newlines at the end of a "
                    + "value do not count, and another form of it, as in base64, is not found. Signals are passed on.",
                "A command that is not found exits with 127, one that cannot be started with 126.",
            ],
            exitCodes: [.done, .notFound] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.runProgram() }
        ),
        CommandSpec(
            name: "git-credential",
            summary: "be a credential helper of Git",
            operands: .words(["get|store|erase"]),
            options: [],
            discussion: [
                "To use it: git config --global credential.helper '!keychainctl git-credential'. Store, key and timeout are "
                    + "options as everywhere, as in '!keychainctl --store file:PATH git-credential'.",
                "Credentials are internet passwords; those of Git's own helper for the desktop's keyring are found, and what is "
                    + "stored there is found by it. An expiry and a refresh token are kept below the password. What is "
                    + "expired is not given. Only a password that Git was refused is erased, not a newer one.",
            ],
            exitCodes: [.done] + storeFailures,
            run: { (run) throws(KeychainError) in try await run.gitCredential() }
        ),
        CommandSpec(
            name: "docker-credential",
            summary: "be a credential helper of Docker",
            operands: .words(["get|store|erase|list"]),
            options: [],
            discussion: [
                "Docker looks for a program named docker-credential-NAME. A link docker-credential-keychainctl to keychainctl is "
                    + "one: put \"credsStore\": \"keychainctl\" into ~/.docker/config.json. The store is that of KEYCHAIN_STORE, "
                    + "or the default one.",
                "Credentials are generic passwords, with the server as the service. As Docker's protocol has it, errors are "
                    + "printed on standard output, and the exit status is 1.",
            ],
            exitCodes: [.done, .notFound],
            run: { (run) async in await run.dockerCredential() }
        ),
    ]
}
