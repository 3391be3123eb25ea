// SPDX-License-Identifier: MIT

import KeychainAPI
import KeychainSystem
import SwiftKeychain

/// A command about the keys or the upkeep of an encrypted file.
enum FileCommand: Sendable {
    case listKeys
    case addKey
    case changeKey
    case removeKey
    case rotate
    case compact
    case check
    case repair
}

extension CommandRun {
    /// Runs a command about an encrypted file.
    ///
    /// - Throws: `unsupported` for a store of another kind.
    func run(_ command: FileCommand) async throws(KeychainError) -> ExitCode {
        #if File
            let file = try openedFile()
            do throws(KeychainError) {
                switch command {
                case .listKeys: return try await listKeys(file)
                case .addKey: return try await addKey(file)
                case .changeKey: return try await changeKey(file)
                case .removeKey: return try await removeKey(file)
                case .rotate: return try await rotate(file)
                case .compact: return try await compact(file)
                case .check: return try await check(file)
                case .repair: return try await repair(file)
                }
            } catch {
                throw error.located(driver: .file, location: file.driver.location, operation: .open)
            }
        #else
            throw notAFile(try open(try settings(), creation: .never).driver)
        #endif
    }

    /// The error for a store of another kind.
    func notAFile(_ driver: any KeychainDriver) -> KeychainError {
        KeychainError(
            .unsupported,
            "‘\(parsed.command.name)’ is for encrypted files, and the store \(driver.location) is none. Name one, as in "
                + "--store file:PATH."
        )
    }
}

#if File
    /// An encrypted file that a command works on.
    struct OpenedFile: Sendable {
        let driver: FileDriver
        let settings: Settings
        /// What unlocks it, nil if nothing was given; a descriptor has been read.
        let keySource: KeySource?

        /// Runs a call off the cooperative pool, until the command's deadline or its interruption.
        func call<Result: Sendable>(
            _ operation: KeychainOperation,
            _ body: @escaping @Sendable (FileDriver, CallContext) throws(KeychainError) -> Result
        ) async throws(KeychainError) -> Result {
            let call = CallContext(operation, timeout: settings.remaining, interaction: settings.interaction)
            return try await CallExecutor.run(call) { [driver] () throws(KeychainError) in try body(driver, call) }
        }
    }

    extension CommandRun {
        /// The encrypted file that the command line names, or that is the default store.
        ///
        /// - Throws: `unsupported` for a store of another kind.
        fileprivate func openedFile() throws(KeychainError) -> OpenedFile {
            let settings = try settings()
            var options = options(settings, creation: .never)
            if let source = settings.keySource, case .fileDescriptor = source {
                // It can be read only once, and may be needed again for a new file.
                let material = try source.material(
                    prompt: nil,
                    location: "",
                    isNew: false,
                    permissions: options.permissions,
                    environment: environment
                )
                options.keySource = .material(material)
            }
            var driver: any KeychainDriver
            if let url = settings.store {
                driver = try registry.open(url, options: options)
            } else {
                driver = try DefaultDriver(registry: registry, environment: environment, options: options).chosenDriver
            }
            guard let file = driver as? FileDriver else { throw notAFile(driver) }
            return OpenedFile(driver: file, settings: settings, keySource: options.keySource)
        }

        /// Prints rows of three or more fields: one JSON object a line, a table on a terminal, else with tabs.
        func printRows(_ heading: [String], _ rows: [[String]], _ objects: [[String: JSONValue]]) throws(KeychainError)
        {
            if wantsJSON {
                var lines = ""
                for object in objects { lines += try JSONLine.line(object) }
                try io.print(lines)
            } else {
                try io.print(io.outputIsTerminal ? TextTable.aligned(heading, rows) : TextTable.tabSeparated(rows))
            }
        }
    }
#endif
