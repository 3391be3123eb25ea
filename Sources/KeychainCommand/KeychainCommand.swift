// SPDX-License-Identifier: MIT

import Glibc
package import KeychainAPI
import SwiftKeychain

/// The command, as a function of its arguments and its surroundings.
package enum KeychainCommand {
    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the name of the program.
    ///   - environment: The environment.
    ///   - io: Where it reads and writes.
    ///   - registry: The drivers.
    /// - Returns: The exit status.
    package static func run(
        _ arguments: [String],
        environment: [String: String],
        io: CommandIO,
        registry: DriverRegistry = .standard
    ) async -> Int32 {
        let start = ContinuousClock.now
        var isVerbose = false
        do throws(KeychainError) {
            let parsed = try ArgumentParser.parse(arguments, environment: environment)
            isVerbose = parsed.has("verbose")
            let run = CommandRun(parsed: parsed, io: io, environment: environment, registry: registry, start: start)
            if parsed.has("help"), parsed.command.name != CommandTable.help.name {
                try io.print(HelpText.text(of: parsed.command))
                return ExitCode.done.rawValue
            }
            let code = try await parsed.command.run(run)
            if code == .notFound, isVerbose { io.note(KeychainError.itemNotFound.message) }
            return code.rawValue
        } catch {
            return report(error, arguments, isVerbose, io)
        }
    }

    private static func report(
        _ error: KeychainError,
        _ arguments: [String],
        _ isVerbose: Bool,
        _ io: CommandIO
    ) -> Int32 {
        // As a shell shows a program that SIGPIPE has ended.
        if error.underlying == CommandIO.brokenPipe.underlying { return 128 + SIGPIPE }
        if let signal = io.interrupt.firedSignal { return 128 + signal }
        if error.code != .itemNotFound || isVerbose { io.note(error.message) }
        if error.code == .invalidParameter { io.note(ArgumentParser.usage(arguments)) }
        if isVerbose { io.note(error.debugDescription) }
        return ExitCode(error.code).rawValue
    }
}

extension KeychainError {
    /// The same error in a sentence that speaks of the command's options rather than of the library's parameters.
    func explained(_ message: String) -> KeychainError {
        let error = KeychainError(code, message, underlying: underlying)
        guard let driver, let location, let operation else { return error }
        return error.located(driver: driver, location: location, operation: operation)
    }
}
