// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import Testing

@testable import KeychainSystem

@Suite struct ChildProcessTests {
    @Test func readsItsInputAndPrints() throws {
        let child = try ChildProcess(
            "/bin/sh",
            ["-c", "read line; echo \"$line $NAME $*\"", "sh", "a b"],
            environment: ["NAME": "n"]
        )
        try child.input.write("hello\n")
        #expect(try child.output.readToEnd() == "hello n a b\n")
        child.wait()
        child.kill()
    }

    @Test func hasOnlyTheGivenEnvironment() throws {
        let child = try ChildProcess("/usr/bin/env", [], environment: ["ONE": "1"])
        #expect(try child.output.readToEnd() == "ONE=1\n")
        child.wait()
    }

    @Test func blocksNoSignal() throws {
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGUSR1)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        defer { pthread_sigmask(SIG_UNBLOCK, &blocked, nil) }
        let child = try ChildProcess("/bin/grep", ["SigBlk", "/proc/self/status"], environment: [:])
        #expect(try child.output.readToEnd() == "SigBlk:\t0000000000000000\n")
        child.wait()
    }

    @Test func anotherChildKeepsNoEndOpen() throws {
        let first = try ChildProcess("/bin/cat", [], environment: [:])
        let second = try ChildProcess("/bin/sleep", ["1000"], environment: [:])
        defer { second.kill() }
        first.kill()
        #expect(try first.output.readToEnd().isEmpty)
    }

    @Test func readsAFileAndKeepsItsErrorsApart() throws {
        let file = try FileDescriptor("/proc/self/comm", O_RDONLY, action: "test")
        let script = "read line; echo \"got $line\"; echo wrong >&2"
        let child = try ChildProcess("/bin/sh", ["-c", script], environment: [:], reading: file, errors: .pipe)
        #expect(try child.output.readToEnd().hasPrefix("got "))
        #expect(try child.errors?.readToEnd() == "wrong\n")
        #expect(child.wait() == 0)
    }

    @Test(arguments: ["/dev/null/missing", "/etc/passwd", "/bin/ca\0t"])
    func whatCannotBeStartedIsAnError(_ path: String) {
        #expect(throws: KeychainError.self) { try ChildProcess(path, [], environment: [:]) }
    }

    @Test func anEndIsWaitedForByKill() throws {
        let child = try ChildProcess("/bin/sleep", ["1000"], environment: [:])
        child.kill()
        #expect(Glibc.kill(child.identifier, 0) == -1 && errno == ESRCH)
        #expect(child.wait() == 128 + SIGKILL)
    }

    @Test(arguments: [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 128 + SIGTERM)])
    func saysHowAProgramEnded(_ script: String, _ status: Int32) throws {
        let child = try ChildProcess("/bin/sh", ["-c", script], environment: [:])
        #expect(child.wait() == status)
        child.kill()
        #expect(child.wait() == status)
    }

    @Test func anEndThatSomeoneElseWaitedForIsUnknown() throws {
        let child = try ChildProcess("/bin/true", [], environment: [:])
        #expect(retryingInterruptions { waitpid(child.identifier, nil, 0) } == child.identifier)
        #expect(child.wait() == nil)
    }

    @Test func errorsJoinTheOutputWhereThatIsAsked() throws {
        let child = try ChildProcess("/bin/sh", ["-c", "echo a; echo b >&2"], environment: [:], errors: .output)
        #expect(try child.output.readToEnd() == "a\nb\n")
        child.wait()
    }
}

@Suite struct TrimmedTests {
    @Test(arguments: [
        ("", ""), (" \t\n", ""), ("a", "a"), (" a b\r\n", "a b"), ("\u{A0}a\u{2003}", "a"), (" \u{301}a", "\u{301}a"),
    ])
    func dropsWhatIsAround(_ text: String, _ expected: String) {
        #expect(text.trimmed.unicodeScalars.elementsEqual(expected.unicodeScalars))
    }
}

extension FileDescriptor {
    fileprivate func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
    }

    fileprivate func readToEnd() throws -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = retryingInterruptions { Glibc.read(number, &buffer, buffer.count) }
            if count <= 0 { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}
