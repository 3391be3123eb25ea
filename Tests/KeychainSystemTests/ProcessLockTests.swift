// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import KeychainSystem
import Synchronization
import Testing

private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    @discardableResult
    func add(_ step: Int) -> Int { count.add(step, ordering: .relaxed).newValue }
}

@Suite struct ProcessLockTests {
    private let folder: TemporaryFolder
    private let path: String
    private let ready: String
    private let go: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/lock"
        ready = try folder.pipe("ready")
        go = try folder.pipe("go")
    }

    /// Whether the lock can be had within a moment.
    private static func canLock(_ path: String) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try ProcessLock(path: path).withLock(CallContext(.store, timeout: .milliseconds(50))) {
                () throws(KeychainError) in
            }
            return true
        } catch .busy {
            return false
        }
    }

    @Test func theBodysResultAndErrorComeOut() throws {
        let lock = ProcessLock(path: path)
        #expect(try lock.withLock(CallContext(.store)) { () throws(KeychainError) in 7 } == 7)
        #expect(throws: KeychainError(.io, "")) {
            try lock.withLock(CallContext(.store)) { () throws(KeychainError) in throw KeychainError(.io, "x") }
        }
        #expect(try Self.canLock(path), "It is free after an error.")
        #expect(status(path)?.mode == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(getpid())\n")
    }

    @Test func oneInstanceExcludesItsOwnThreads() async throws {
        let lock = ProcessLock(path: path)
        let inside = Counter()
        let total = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onThread {
                        for _ in 0..<50 {
                            try lock.withLock(CallContext(.store, timeout: .seconds(60))) { () throws(KeychainError) in
                                #expect(inside.add(1) == 1)
                                total.add(1)
                                inside.add(-1)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(total.value == 400)
    }

    @Test func whoHasWaitedLongerAsksMoreOften() {
        let short = [Duration.zero, .milliseconds(1), .milliseconds(10)].map(ProcessLock.pause(afterWaiting:))
        #expect(short == [200, 450, 2_700])
        let long = [Duration.milliseconds(60), .seconds(1), .seconds(1.9), .seconds(30)]
            .map(ProcessLock.pause(afterWaiting:))
        #expect(long == [9_700, 5_000, 500, 200])
    }

    @Test func anotherProcessIsExcludedAndNamed() async throws {
        async let child: ExitTest.Result? = #expect(processExitsWith: .success) {
            [path = path as String, ready = ready as String, go = go as String] in
            try ProcessLock(path: path).withLock(CallContext(.store)) { () throws(KeychainError) in
                tell(ready, "\(getpid())")
                _ = hear(go)
            }
        }
        let (path, ready, go) = (path, ready, go)
        try await onThread {
            let holder = hear(ready)
            let error = #expect(throws: KeychainError.self) {
                try ProcessLock(path: path).withLock(CallContext(.store, timeout: .milliseconds(20))) {
                    () throws(KeychainError) in Issue.record("Two hold it.")
                }
            }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("Process \(holder) ") == true)
            #expect(error?.message.contains(path) == true)
            tell(go)
        }
        _ = await child
        #expect(try Self.canLock(path))
    }

    @Test func aHolderThatIsKilledFreesIt() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try ProcessLock(path: path).withLock(CallContext(.store)) { () throws(KeychainError) in
                _ = kill(getpid(), SIGKILL)
                _ = pause()
            }
        }
        #expect(FileManager.default.fileExists(atPath: path), "The file stays.")
        #expect(try Self.canLock(path))
    }

    @Test func aChildThatWasStartedMeanwhileDoesNotKeepIt() throws {
        var child = pid_t()
        try ProcessLock(path: path).withLock(CallContext(.store)) { () throws(KeychainError) in
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
            #expect(posix_spawn(&child, "/bin/sleep", nil, nil, &arguments, environ) == 0)
            for argument in arguments { free(argument) }
        }
        #expect(try Self.canLock(path))
        #expect(kill(child, SIGKILL) == 0, "It was alive until now.")
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
    }

    @Test func aLockFileThatIsRemovedWhileItIsHeldLetsNoOneIn() throws {
        let guarded = try folder.file("guarded", Array("4711\u{1}".utf8))
        let lock = ProcessLock(path: path, guarding: guarded)
        try lock.withLock(CallContext(.store)) { () throws(KeychainError) in
            #expect(unlink(path) == 0)
            let other = ProcessLock(path: path, guarding: guarded)
            let error = #expect(throws: KeychainError.self) {
                try other.withLock(CallContext(.store, timeout: .milliseconds(50))) { () throws(KeychainError) in
                    Issue.record("Two hold it.")
                }
            }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("4711") == false, "What the guarded file begins with is no process.")
        }
        #expect(try lock.withLock(CallContext(.store)) { () throws(KeychainError) in 7 } == 7)
        #expect(try Data(contentsOf: URL(filePath: guarded)) == Data("4711\u{1}".utf8))
    }

    @Test func aGuardedFileThatIsReplacedMeanwhileIsLockedAnew() async throws {
        let guarded = try folder.file("guarded")
        let lock = ProcessLock(path: path, guarding: guarded)
        let old = try FileDescriptor(guarded, O_RDONLY, action: "")
        #expect(flock(old.number, LOCK_EX) == 0)
        async let inside: Bool = onThread {
            try lock.withLock(CallContext(.store, timeout: .seconds(30))) { () throws(KeychainError) in
                (try? FileDescriptor(guarded, O_RDONLY, action: "")).map { flock($0.number, LOCK_EX | LOCK_NB) != 0 }
                    ?? false
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        let new = try folder.file("new")
        #expect(rename(new, guarded) == 0)
        old.unlock()
        #expect(try await inside, "It is the file that has the name now which is locked.")
    }

    @Test func aMissingGuardedFileIsNoObstacle() throws {
        let lock = ProcessLock(path: path, guarding: folder.path + "/missing")
        #expect(try lock.withLock(CallContext(.store)) { () throws(KeychainError) in 7 } == 7)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing"))
    }

    /// Holds the lock on a thread of its own while the body runs.
    private func whileHeld(_ body: () async throws -> Void) async throws {
        let (path, ready, go) = (path, ready, go)
        async let holder: Void = onThread {
            try ProcessLock(path: path).withLock(CallContext(.store)) { () throws(KeychainError) in
                tell(ready)
                _ = hear(go)
            }
        }
        _ = try await onThread { hear(ready) }
        try await body()
        try await onThread { tell(go) }
        try await holder
    }

    @Test func cancellationEndsTheWait() async throws {
        try await whileHeld {
            let path = path
            let call = CallContext(.store, timeout: .seconds(3600))
            let waiting = Task {
                try await onThread {
                    try ProcessLock(path: path).withLock(call) { () throws(KeychainError) -> Void in
                        Issue.record("It ran.")
                    }
                }
            }
            call.cancel()
            await #expect(throws: KeychainError(.cancelled, "")) { try await waiting.value }
        }
    }

    @Test func aHolderWithoutANumberIsAnotherProcess() async throws {
        try await whileHeld {
            truncate(path, 0)
            let path = path
            let error = #expect(throws: KeychainError.self) {
                try ProcessLock(path: path).withLock(CallContext(.store, timeout: .milliseconds(1))) {
                    () throws(KeychainError) in
                }
            }
            #expect(error?.message.hasPrefix("Another process ") == true)
        }
    }

    @Test func aFileThatWasRemovedLocksOutNobody() async throws {
        // A waiter has the old file open when it is removed; it must end up with the lock that newcomers see.
        let path = path
        let entered = Counter()
        let waiter = Mutex<Task<Void, any Error>?>(nil)
        try await whileHeld {
            let task = Task {
                try await onThread {
                    try ProcessLock(path: path).withLock(CallContext(.store, timeout: .seconds(60))) {
                        () throws(KeychainError) in
                        entered.add(1)
                        #expect(try !Self.canLock(path), "A newcomer would be inside as well.")
                    }
                }
            }
            waiter.withLock { $0 = task }
            while try openCount(path) < 2 { await Task.yield() }
            #expect(unlink(path) == 0)
        }
        try await waiter.withLock { $0 }?.value
        #expect(entered.value == 1)
    }

    /// How many descriptors of this process are the file.
    private func openCount(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == path
        }
    }

    @Test func aLinkIsNotFollowed() throws {
        let target = try folder.file("target", Array("precious".utf8))
        symlink(target, path)
        #expect(throws: KeychainError(.invalidParameter, "")) { try Self.canLock(path) }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    }

    @Test func aFolderThatIsMissingIsNamed() {
        let missing = folder.path + "/missing/lock"
        let error = #expect(throws: KeychainError.self) { try Self.canLock(missing) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains(missing) == true)
        #expect(error?.underlying == .init(domain: "errno", code: Int(ENOENT), message: "No such file or directory"))
    }
}
