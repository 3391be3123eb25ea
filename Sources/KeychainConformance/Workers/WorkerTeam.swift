// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// Worker processes that begin together.
///
/// Used by one thread.
final class WorkerTeam {
    private final class Worker {
        let process: ChildProcess
        private var pending: [UInt8] = []

        init(_ process: ChildProcess) {
            self.process = process
        }

        /// Sends the line that the worker waits for; one that has ended is an error, not a signal that ends this program.
        func send() throws {
            var (pipe, before) = (sigset_t(), sigset_t())
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, &before)
            defer {
                var none = timespec()
                if sigismember(&before, SIGPIPE) == 0 { _ = sigtimedwait(&pipe, nil, &none) }
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
            let end: [UInt8] = [0x0A]
            guard retryingInterruptions({ Glibc.write(process.input.number, end, 1) }) == 1 else {
                throw ConformanceFailure("A worker listens until it is told to begin")
            }
        }

        /// The next line, nil at the end of the output.
        func line() -> String? {
            while true {
                if let end = pending.firstIndex(of: 0x0A) {
                    defer { pending.removeFirst(end + 1) }
                    return String(decoding: pending[..<end], as: UTF8.self)
                }
                var more = [UInt8](repeating: 0, count: 4096)
                let count = retryingInterruptions { Glibc.read(process.output.number, &more, more.count) }
                guard count > 0 else { return nil }
                pending += more[..<count]
            }
        }
    }

    private var workers: [Worker] = []
    private let watchdog = Gate()

    /// Starts workers and waits until each of them is ready.
    ///
    /// - Parameters:
    ///   - bench: The check.
    ///   - scripts: What each does, and how often.
    init(_ bench: Bench, _ scripts: [(script: WorkerScript, count: Int)]) throws {
        guard let command = bench.harness.workerCommand(for: bench.keychain) else {
            throw ConformanceFailure("The harness can start other processes, and names no program")
        }
        do {
            for (index, job) in scripts.enumerated() {
                workers.append(try Self.start(command, bench.keychain.accessGroup, job.script, job.count, index))
            }
        } catch {
            kill()
            throw error
        }
        // Workers that hang are ended, so that the check fails instead.
        let processes = workers.map(\.process)
        let limit = bench.patience * 12
        let watchdog = watchdog
        try Threads.detach {
            guard !watchdog.wait(atMost: limit) else { return }
            for process in processes { process.kill() }
        }
        for worker in workers {
            guard worker.line() == "ready" else {
                kill()
                throw ConformanceFailure("A worker opens the store and says that it is ready")
            }
        }
    }

    convenience init(_ bench: Bench, _ count: Int, _ script: WorkerScript, times: Int) throws {
        try self.init(bench, Array(repeating: (script, times), count: count))
    }

    deinit {
        kill()
    }

    private static func start(
        _ command: WorkerCommand,
        _ group: AccessGroup,
        _ script: WorkerScript,
        _ count: Int,
        _ index: Int
    ) throws -> Worker {
        let environment = ProcessInfo.processInfo.environment.merging(command.environment) { $1 }
        let arguments = [command.storeURL, group.rawValue, script.rawValue, "\(count)", "\(index)"]
        return Worker(try ChildProcess(command.executable, arguments, environment: environment))
    }

    /// Tells every worker to begin.
    func begin() throws {
        for worker in workers { try worker.send() }
    }

    /// Tells every worker to begin, and adds up what they counted.
    func run() throws -> [String: Int] {
        try begin()
        return try finish()
    }

    /// Waits for every worker, and adds up what they counted.
    func finish() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for worker in workers {
            var ended = false
            while !ended, let line = worker.line() {
                let words = line.split(separator: " ")
                if words.count == 3, words[0] == "count", let times = Int(words[2]) {
                    counts[String(words[1]), default: 0] += times
                }
                ended = line == "end"
            }
            try expect(ended, "Every worker comes to its end")
            worker.process.wait()
        }
        watchdog.open()
        return counts
    }

    /// The next line of a worker, nil at the end of its output.
    func line(of index: Int) -> String? { workers[index].line() }

    /// Sends a worker the line that it waits for.
    func send(to index: Int) throws { try workers[index].send() }

    /// The process number of a worker.
    func identifier(of index: Int) -> Int32 { workers[index].process.identifier }

    /// Ends what still runs, without any warning.
    func kill() {
        watchdog.open()
        for worker in workers { worker.process.kill() }
    }
}
