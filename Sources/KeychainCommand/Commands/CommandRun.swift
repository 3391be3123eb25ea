// SPDX-License-Identifier: MIT

import KeychainAPI
import KeychainAuthentication
import SwiftKeychain

/// One run of a command: its command line and the world around it.
struct CommandRun: Sendable {
    /// The command line.
    let parsed: ParsedCommand
    /// Where it reads and writes.
    let io: CommandIO
    /// The environment.
    let environment: [String: String]
    /// The drivers.
    let registry: DriverRegistry
    /// When it began.
    let start: ContinuousClock.Instant

    /// Whether the output is JSON.
    var wantsJSON: Bool { parsed.has("json") }

    /// The global options.
    ///
    /// - Throws: `invalidParameter` for a value that is none, and for a variable that counts and is not UTF-8.
    func settings() throws(KeychainError) -> Settings {
        for spec in CommandTable.globalOptions where parsed.options[spec.name] == nil {
            if let variable = spec.variable { _ = try environment.variable(variable) }
        }
        return try Settings(parsed, start: start)
    }

    /// Opens the store that the command line names, or else the default one of the library.
    ///
    /// - Parameters:
    ///   - settings: The global options.
    ///   - creation: What to do about a store that does not exist.
    func open(_ settings: Settings, creation: StoreOptions.Creation) throws(KeychainError) -> OpenStore {
        var options = options(settings, creation: creation)
        let driver = try driver(settings, options)
        let isNamed = settings.store != nil || parsed.fallbacks["store"] != nil
        if creation == .ifMissing, isNamed, let path = FileStorePath.path(of: driver.location),
            !FileStorePath.exists(path)
        {
            // A person who names a file that is not there is told that it was created, also if there was one before.
            options.detectsRollback = false
            return openStore(try self.driver(settings, options), settings)
        }
        return openStore(driver, settings)
    }

    private func openStore(_ driver: any KeychainDriver, _ settings: Settings) -> OpenStore {
        #if File
            let password: (any ApplicationPassword)? = Argon2Password(asking: prompt(settings))
        #else
            let password: (any ApplicationPassword)? = nil
        #endif
        return OpenStore(driver: driver, settings: settings, applicationPassword: password)
    }

    private func prompt(_ settings: Settings) -> TerminalPrompt {
        TerminalPrompt(path: io.terminal, interrupt: io.interrupt, deadline: settings.deadline)
    }

    private func driver(_ settings: Settings, _ options: StoreOptions) throws(KeychainError) -> any KeychainDriver {
        if let url = settings.store { return try registry.open(url, options: options) }
        return DefaultDriver(registry: registry, environment: environment, options: options)
    }

    /// How a store is opened.
    func options(_ settings: Settings, creation: StoreOptions.Creation) -> StoreOptions {
        StoreOptions(
            keySource: settings.keySource,
            prompt: settings.interaction.allowsPrompts ? prompt(settings) : nil,
            interaction: settings.interaction,
            creation: creation,
            permissions: settings.permissions,
            weaknessNotice: { note("The new passphrase is easy to guess: \($0). It is used all the same.") },
            timeout: settings.remaining
        )
    }

    /// Prints what a command has done as a line of JSON, if that was asked for.
    func printJSON(_ object: @autoclosure () -> [String: JSONValue]) throws(KeychainError) {
        if wantsJSON { try io.print(JSONLine.line(object())) }
    }

    /// A number of items, in words.
    static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

    /// What is said of items that may not leave this device.
    static func leftOut(_ count: Int) -> String {
        "\(items(count)) \(count == 1 ? "belongs to this device only, and was" : "belong to this device only, and were") left out"
    }

    /// A line that shows how far the command is, where a person sees it.
    var progressBar: ProgressBar { ProgressBar(io, isShown: io.errorIsTerminal && !parsed.has("quiet")) }

    /// Whether a person sees what is noted, or has asked for more: what a script knows by the exit status is told as well.
    var isTalkative: Bool { io.errorIsTerminal || parsed.has("verbose") }

    /// Prints a note, unless it was asked to be quiet.
    func note(_ message: String) {
        if !parsed.has("quiet") { io.note(message) }
    }
}
