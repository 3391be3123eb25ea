// SPDX-License-Identifier: MIT

import Glibc
public import KeychainAPI
import KeychainSystem

/// The other process of the checks that need several at one store.
///
/// A driver's author makes a small program of it, and names that in the harness's
/// ``ConformanceHarness/workerCommand(for:)``:
///
/// ```swift
/// exit(ConformanceWorker.main { url in try MyDriver(folder: url.path) })
/// ```
///
/// The program is told by its arguments what to do, says `ready`, waits for a line on its standard input so that all
/// workers begin together, and prints how often each thing happened.
public enum ConformanceWorker {
    /// Runs a worker to its end.
    ///
    /// - Parameters:
    ///   - arguments: The program's arguments, as the kit gave them.
    ///   - openDriver: Opens the store that a URL names.
    /// - Returns: The status for `exit`: 0, 1 if the store could not be opened, 2 for arguments that are not the kit's.
    public static func main(
        arguments: [String] = CommandLine.arguments,
        openDriver: (StoreURL) throws -> any KeychainDriver
    ) -> Int32 {
        guard arguments.count == 6, let script = WorkerScript(rawValue: arguments[3]), let count = Int(arguments[4]),
            let index = Int(arguments[5]), let url = try? StoreURL(parsing: arguments[1])
        else {
            write("usage: \(arguments[0]) STORE GROUP SCRIPT COUNT INDEX", to: STDERR_FILENO)
            return 2
        }
        let driver: any KeychainDriver
        do {
            driver = try openDriver(url)
        } catch {
            let reason = (error as? KeychainError)?.debugDescription ?? "\(type(of: error))"
            write("The store could not be opened: \(reason)", to: STDERR_FILENO)
            return 1
        }
        let keychain = Keychain(driver: driver, accessGroup: AccessGroup(rawValue: arguments[2]))
        say("ready")
        _ = readLine()
        let run = WorkerRun(
            keychain: keychain,
            script: script,
            count: count,
            index: index,
            say: say,
            waitForEnd: { _ = readLine() }
        )
        for (what, times) in run.perform().sorted(by: { $0.key < $1.key }) { say("count \(what) \(times)") }
        say("end")
        return 0
    }

    private static func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    /// Writes past any buffer: a worker may be killed at any moment, and what it said counts.
    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array("\(line)\n".utf8)
        _ = retryingInterruptions { Glibc.write(descriptor, bytes, bytes.count) }
    }
}
