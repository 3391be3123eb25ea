// SPDX-License-Identifier: MIT

import KeychainAPI

/// Every command and every option: the one table that the parser, the help and the command itself follow.
enum CommandTable {
    /// The version of the command and of the library.
    static let versionNumber = "0.1.0"

    /// The options that every command takes.
    static let globalOptions: [OptionSpec] = [
        .value(
            "store",
            short: "s",
            "URL",
            variable: "KEYCHAIN_STORE",
            "the store; left out, the default one of this user"
        ),
        .value("key", short: "k", "SOURCE", variable: "KEYCHAIN_KEY", "what unlocks a file store"),
        .value("group", short: "g", "NAME", variable: "KEYCHAIN_GROUP", "the access group, a namespace for items"),
        .flag("json", "one JSON object a line"),
        .flag("no-prompt", variable: "KEYCHAIN_NO_PROMPT", "ask nothing, neither here nor on the desktop"),
        .value("timeout", "SECONDS", variable: "KEYCHAIN_TIMEOUT", "how long the whole call may take, as in 2.5"),
        .flag(
            "allow-shared-permissions",
            variable: "KEYCHAIN_ALLOW_SHARED_PERMISSIONS",
            "take a file store, passphrase or key file that others may read, as in a container of its own"
        ),
        .flag("quiet", short: "q", "print no notes"),
        .flag("verbose", short: "v", "say more about errors, also that nothing was found"),
        .flag("help", short: "h", "print this help"),
        .flag("version", "print the version"),
    ]

    /// The commands, in the order of the help.
    static let commands: [CommandSpec] =
        [
            set, get, contains, info, list, watch, update, remove, initialize, lock, unlock,
        ] + transferCommands + exchangeCommands + programCommands + fileCommands
        + [stores, doctor, generate, conformance, completion, help, version]

    /// The command with a name.
    static func command(named name: String) -> CommandSpec? {
        commands.first { $0.name == name }
    }

    /// The commands whose name begins with the name of a group; empty if there is no such group.
    static func commands(inGroup name: String) -> [CommandSpec] {
        commands.filter { $0.name.hasPrefix(name + " ") }
    }

    /// The option with a name, of whatever command: a name means the same in each of them.
    static func option(named name: String) -> OptionSpec? { option { $0.name == name } }

    /// The option with a letter, of whatever command.
    static func option(short letter: Character) -> OptionSpec? { option { $0.short == letter } }

    // No dictionary of all: making one would take longer than most commands.
    private static func option(where isWanted: (OptionSpec) -> Bool) -> OptionSpec? {
        if let spec = globalOptions.first(where: isWanted) { return spec }
        for command in commands {
            if let spec = command.ownOptions.first(where: isWanted) { return spec }
        }
        return nil
    }

    /// The names of all options, in alphabetical order.
    static var optionNames: [String] {
        Set((globalOptions + commands.flatMap(\.ownOptions)).map(\.name)).sorted()
    }

    static let storeFailures: [ExitCode] = [
        .usage, .locked, .wrongKey, .unavailable, .damaged, .interrupted, .refused, .failed,
    ]
    static let itemCodes = ([.done, .notFound] + storeFailures) as [ExitCode]

    private static let set = CommandSpec(
        name: "set",
        summary: "store a value",
        operands: .selector(.new),
        options: [
            ifExists, .flag("raw", "keep a newline at the end of the value"),
        ],
        discussion: [
            "The value is read from standard input, and one newline at its end is dropped. On a terminal it is asked for "
                + "twice and not shown. It is never an argument.",
            "replace-value keeps the attributes of an item that is there, replace sets them anew, fail leaves the item "
                + "as it is and exits with 3. A file store that does not exist is created.",
        ],
        exitCodes: [.done, .duplicate] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.set() }
    )

    static let ifExists: OptionSpec = .value(
        "if-exists",
        "replace-value|fail|replace",
        "what happens to an item that is there; replace-value"
    )

    private static let get = CommandSpec(
        name: "get",
        summary: "print a value",
        operands: .selector(.some),
        options: [output],
        discussion: [
            "The value is printed byte for byte; a newline is added only on a terminal. Of several matches the oldest "
                + "is printed.",
            "With --output - it is printed as well; a file whose name is a dash is --output ./-",
            "With --json the attributes are printed as well, and the value as \"value\", or as \"valueBase64\" if it is "
                + "not UTF-8.",
        ],
        exitCodes: itemCodes,
        run: { (run) throws(KeychainError) in try await run.get() }
    )

    /// One option of several commands, since a name means the same in each of them.
    static let output: OptionSpec = .value("output", short: "o", "FILE", "write to this file, which only you can read")

    private static let contains = CommandSpec(
        name: "contains",
        summary: "say by the exit status whether an item exists",
        operands: .selector(.some),
        options: [],
        discussion: ["Nothing is printed, no value is decrypted, and nothing is ever asked."],
        exitCodes: itemCodes,
        run: { (run) throws(KeychainError) in try await run.contains() }
    )

    private static let info = CommandSpec(
        name: "info",
        summary: "print the attributes of an item",
        operands: .selector(.some),
        options: [],
        discussion: [
            "One attribute a line: its name, a tab and its value, never the item's secret. Of several matches the oldest "
                + "is shown.",
            unlocking,
            "Of a certificate and an identity the subject, the issuer, the validity and the SHA-256 fingerprint follow in "
                + "words, of a key its kind.", escapes,
        ],
        exitCodes: itemCodes,
        run: { (run) throws(KeychainError) in try await run.info() }
    )

    private static let list = CommandSpec(
        name: "ls",
        summary: "list items",
        operands: .selector(.any),
        options: [],
        discussion: [
            "The oldest first: class, name (the service, the URL, the tag or the issuer), account, label, time of the "
                + "last change and reference. A table on a terminal, else six fields with tabs between them.",
            unlocking,
            "On a terminal, --class certificate and --class identity show subject, validity and fingerprint instead, and "
                + "--class key the kind of each key.", escapes,
        ],
        exitCodes: [.done] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.list() }
    )

    private static let watch = CommandSpec(
        name: "watch",
        summary: "print changes as they happen",
        operands: .selector(.any),
        options: [],
        discussion: [
            "One change a line: added, updated or removed, and the six fields that ‘ls’ prints, with tabs between them; "
                + "with --json the attributes, and the word as \"change\". Changes of other programs are told as well, values "
                + "never.",
            "invalidated, without fields, means that something changed which cannot be told item by item: look again.",
            "It goes on until it is interrupted, or --timeout is over, which is no failure here. A store that is "
                + "locked or goes away meanwhile is waited for; at the start it must answer.", escapes,
        ],
        exitCodes: [.done] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.watch() }
    )

    private static let update = CommandSpec(
        name: "update",
        summary: "change attributes of items",
        operands: .selector(.narrow),
        options: [
            .value("clear", "ATTRIBUTE", isRepeatable: true, "clear an attribute; may be repeated"),
            .value("set-synchronizable", "yes|no", "mark the items for synchronization, or not"),
        ] + AttributeOption.all.map(\.updateSpec),
        discussion: [
            "All matches are changed, or none. For each attribute there is an option --set-ATTRIBUTE, also for service, "
                + "account and the others that name the item; a change that would make two items one exits with 3."
        ],
        exitCodes: [.done, .notFound, .duplicate] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.update() }
    )

    private static let remove = CommandSpec(
        name: "rm",
        summary: "remove an item",
        operands: .selector(.narrow),
        options: [.flag("all", "remove every match, if there are several")],
        discussion: ["If more than one item matches, none is removed without --all, and the exit status is 9."],
        exitCodes: itemCodes,
        run: { (run) throws(KeychainError) in try await run.remove() }
    )

    private static let initialize = CommandSpec(
        name: "init",
        summary: "create a store",
        operands: .none,
        options: [],
        discussion: [
            "A store that exists is left as it is, and the exit status is 3. A file store gets what --key names as its "
                + "first key. For secret-service:NAME the desktop makes a collection, and asks for its password."
        ],
        exitCodes: [.done, .duplicate] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.initialize() }
    )

    private static let lock = CommandSpec(
        name: "lock",
        summary: "lock a store",
        operands: .none,
        options: [],
        discussion: [
            "For every program that uses it. A store of the desktop (secret-service:) can be locked; for another one the "
                + "exit status is 9."
        ],
        exitCodes: [.done] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.lock() }
    )

    private static let unlock = CommandSpec(
        name: "unlock",
        summary: "unlock a store",
        operands: .none,
        options: [],
        discussion: [
            "The desktop asks for the password, if it takes one. If that is off, impossible or dismissed, the exit status "
                + "is 4. For a store that is not locked as a whole it is 9."
        ],
        exitCodes: [.done] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.unlock() }
    )

    private static let stores = CommandSpec(
        name: "stores",
        summary: "say which kinds of store there are, and which one is used",
        operands: .none,
        options: [],
        discussion: ["Nothing is asked, written or started."],
        exitCodes: [.done, .usage],
        run: { (run) throws(KeychainError) in try run.stores() }
    )

    private static let doctor = CommandSpec(
        name: "doctor",
        summary: "say what is wrong on this machine, and how to mend it",
        operands: .none,
        options: [],
        discussion: [
            "Each line is ok, a note or a problem. Nothing is asked, written or started.",
            "Of the desktop's keyring: the address of the bus, the program that provides the service, its collections and "
                + "whether they are locked, and keyrings of GNOME that are in clear text because they have no password.",
            "With --store file:PATH, also the file: its permissions and its folder's, and whether it is damaged or was put back to "
                + "a former state, which takes a --key that can be read without asking.",
            "If the store can be read like that, its certificates that have expired, or will within 30 days.",
        ],
        exitCodes: [.done, .usage, .interrupted],
        run: { (run) throws(KeychainError) in try await run.doctor() }
    )

    private static let generate = CommandSpec(
        name: "generate",
        summary: "print a random password",
        operands: .none,
        options: [.value("length", short: "n", "N", "how many characters, 3 to 4096; 20")],
        discussion: [
            "Letters and digits without those that look alike. To store one: keychainctl generate | keychainctl set SERVICE"
        ],
        exitCodes: [.done, .usage, .failed],
        run: { (run) throws(KeychainError) in try run.generate() }
    )

    private static let conformance = CommandSpec(
        name: "conformance",
        summary: "check that a store does what the library promises",
        operands: .none,
        options: [],
        discussion: [
            "Runs the conformance suite against the store that --store or KEYCHAIN_STORE names, in groups of its own that "
                + "are removed afterwards. One check a line: ok, failed or not applicable, its family, its name, and why.",
            "The exit status is 10 if a check failed.",
        ],
        exitCodes: [.done] + storeFailures,
        run: { (run) throws(KeychainError) in try await run.conformance() }
    )

    private static let completion = CommandSpec(
        name: "completion",
        summary: "print the completion script of a shell",
        operands: .wordsAndMore(["bash|zsh|fish"]),
        options: [],
        discussion: [
            "For this shell: source <(keychainctl completion bash), or keychainctl completion fish | source. To keep it: "
                + "/usr/local/share/bash-completion/completions/keychainctl, _keychainctl in a folder of zsh's $fpath, "
                + "~/.config/fish/completions/keychainctl.fish.",
            "Commands, options and their values are completed, and services, accounts and labels of the store that the line "
                + "names; nothing is ever asked for that, and after two seconds it is given up. The scripts ask "
                + "‘keychainctl completion candidates -- WORD...’.",
        ],
        exitCodes: [.done, .usage],
        run: { (run) throws(KeychainError) in try await run.completion() }
    )

    static let help = CommandSpec(
        name: "help",
        summary: "explain a command",
        operands: .command,
        options: [],
        discussion: [],
        exitCodes: [.done, .usage],
        run: { (run) throws(KeychainError) in try run.help() }
    )

    static let version = CommandSpec(
        name: "version",
        summary: "print the version",
        operands: .none,
        options: [],
        discussion: [],
        exitCodes: [.done],
        run: { (run) throws(KeychainError) in try run.version() }
    )

    private static let unlocking =
        "The desktop asks for the password of a keyring that is locked, unless --no-prompt is given."
    private static let escapes =
        "Tabs, newlines, backslashes and other control characters are printed as \\t, \\n, \\\\ and \\xNN."
}
