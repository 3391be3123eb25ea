// SPDX-License-Identifier: MIT

import CProcess
import Glibc
import KeychainAPI
import SwiftKeychain
import Synchronization

extension KeychainCommand {
    /// Runs the command line of this process.
    ///
    /// To be called first of all, while there is one thread. The main thread waits here, and not in an asynchronous main
    /// function: that ends in `dispatch_main`, which takes every signal that is blocked.
    ///
    /// - Returns: The exit status.
    package static func main() -> Int32 {
        occupyStandardDescriptors()
        refuseDumps()
        let arguments: [String]
        let interrupt: Interrupt
        do throws(KeychainError) {
            interrupt = try Interrupt()
            arguments = try commandLine()
        } catch {
            let line = Array("keychainctl: \(error.message)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            return ExitCode(error.code).rawValue
        }
        let signals = ProcessSignals(interrupt: interrupt)
        signals.start()
        let io = CommandIO(interrupt: interrupt)
        let mainThread = MainThread()
        let result = Mutex<Int32?>(nil)
        let command = Task(executorPreference: mainThread) {
            let status = await run(arguments, environment: .ofProcess, io: io)
            result.withLock { $0 = status }
        }
        signals.onEnd { command.cancel() }
        let status = mainThread.run(until: result)
        TerminalEcho.shared.show()
        return interrupt.firedSignal.map { 128 + $0 } ?? status
    }

    /// The arguments as they were given, without the name of the program.
    ///
    /// - Throws: `invalidParameter` for one that is not UTF-8: replaced by something else it would name another item.
    private static func commandLine() throws(KeychainError) -> [String] {
        guard let given = keychain_arguments(), let name = given[0] else { return [] }
        var arguments = CommandTable.arguments(of: String(cString: name))
        var index = 1
        while let bytes = given[index] {
            guard let argument = String(validatingCString: bytes) else {
                throw KeychainError(.invalidParameter, "Argument \(index) is not UTF-8. Names are UTF-8 text.")
            }
            arguments.append(argument)
            index += 1
        }
        return arguments
    }

    /// Occupies the standard descriptors that the process was started without, so that no file it opens takes their place.
    ///
    /// Else a value might be printed into the keychain file. What takes their place fails when it is used, so that a
    /// missing input is not taken for an empty value.
    private static func occupyStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Keeps secrets out of core files, from debuggers of other programs of this user, and out of what the runtime prints
    /// of a program that crashes, which are also the bytes that its registers point at.
    private static func refuseDumps() {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] { signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = keychain_set_undumpable()
    }
}
