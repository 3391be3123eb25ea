// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAuthentication
import SwiftKeychain
import Testing

/// The built program from the outside: exit statuses, pipes, signals, terminals.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProgramTests {
    private let bench = Bench()

    private func shell(_ script: String, _ environment: [String: String]? = nil) async throws -> Program.Outcome {
        let environment = environment ?? ["HOME": bench.folder, "KEYCHAIN_STORE": "memory:"]
        return try await onThread { try Program.shell(script, environment: environment) }
    }

    @Test func statusesReachTheShell() async throws {
        #expect(try await shell("$K version").status == 0)
        #expect(try await shell("$K get svc").status == 1)
        #expect(try await shell("$K frobnicate").status == 2)
        #expect(try await shell("$K -s nothing: get svc").status == 6)
    }

    @Test func theArgumentsAreKnownWhereProcIsNotMounted() async throws {
        let hidden = "unshare --mount sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"'"
        // Only root may, and in a container not even that.
        guard try await shell("\(hidden) true").status == 0 else { return }
        let outcome = try await shell("\(hidden) $K generate --length 12")
        #expect(outcome.status == 0 && outcome.output.count == 13, "\(outcome.errors)")
    }

    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
        let outcome = try await shell("$K get svc $'b\\xffb'")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("Argument 3"))
    }

    @Test(arguments: ["STORE", "KEY", "GROUP", "TIMEOUT", "NO_PROMPT", "ALLOW_SHARED_PERMISSIONS"])
    func aVariableThatIsNotUTF8IsRefused(name: String) async throws {
        let garbled = "export KEYCHAIN_\(name)=$'memory:\\xff';"
        for command in ["get svc", "ls", "set svc", "rm svc", "init", "conformance"] {
            let outcome = try await shell("\(garbled) $K \(command)")
            #expect(outcome.status == 2, "\(command)")
            #expect(outcome.errors.contains("KEYCHAIN_\(name) is not UTF-8"), "\(command)")
        }
        for command in ["help", "version", "generate", "stores"] {
            #expect(try await shell("\(garbled) $K \(command)").status == 0, "\(command)")
        }
        let doctor = try await shell("\(garbled) $K doctor")
        #expect(doctor.status == 0)
        #expect(String(decoding: doctor.output, as: UTF8.self).contains("problem\tKEYCHAIN_\(name)\t"))
    }

    @Test func anOptionCountsBeforeAVariableThatIsNotUTF8() async throws {
        #expect(try await shell("export KEYCHAIN_STORE=$'file:\\xff'; $K --store memory: get svc").status == 1)
        let stores = try await shell("export KEYCHAIN_STORE=$'file:\\xff'; $K stores")
        #expect(String(decoding: stores.output, as: UTF8.self).contains("KEYCHAIN_STORE is not UTF-8"))
    }

    @Test func theErrorOfAClosedDescriptorSaysSo() async throws {
        for command in ["set svc <&-", "version >&-", "set svc 0>/dev/null", "version 1</dev/null"] {
            let outcome = try await shell("$K \(command)")
            #expect(outcome.status == 10, "\(command)")
            #expect(outcome.errors.contains("It is closed, or open for the other direction"), "\(command)")
            #expect(!outcome.errors.contains("disk"), "\(command)")
        }
    }

    @Test func nothingTakesThePlaceOfAClosedDescriptor() async throws {
        #expect(try await shell("$K set svc <&-").status == 10)
        #expect(try await shell("$K version >&-").status == 10)
        #expect(try await shell("$K get svc 2>&-").status == 1)
    }

    @Test func aFullDiskIsAnError() async throws {
        #expect(try await shell("$K generate > /dev/full").status == 10)
    }

    @Test func aClosedPipeIsSilent() async throws {
        for ignoring in ["", "trap '' PIPE;"] {
            let outcome = try await shell(
                "\(ignoring) for n in $(seq 300); do $K help || exit; done | head -c1 >/dev/null; echo ${PIPESTATUS[0]}"
            )
            #expect(outcome.output == Data("141\n".utf8))
            #expect(outcome.errors.isEmpty)
        }
    }

    // More than a pipe holds is written to the program before it is looked at: so it is known to read, and to have set up
    // what it does about signals before that.

    @Test func noCoreIsWritten() async throws {
        let outcome = try await shell(
            """
            mkfifo $HOME/in; ulimit -c unlimited
            $K set svc < $HOME/in & exec 3> $HOME/in
            head -c 200000 /dev/zero >&3
            awk '/Max core file size/ { print $5, $6 }' /proc/$!/limits
            stat -c %u /proc/$!/environ
            exec 3>&-; wait $!
            """
        )
        #expect(outcome.output == Data("0 0\n0\n".utf8), "\(outcome.errors)")
        #expect(outcome.status == 0)
    }

    /// How the program ends that gets a signal while it reads, and what it prints.
    private func ended(
        by signal: Int32,
        _ more: [String: String] = [:]
    ) async throws -> (Process.TerminationReason, Int32, Data) {
        let environment = ["HOME": bench.folder, "KEYCHAIN_STORE": "memory:"].merging(more) { $1 }
        return try await onThread {
            let process = try Program.process(["set", "svc"], environment: environment)
            let input = Pipe()
            let errors = Pipe()
            process.standardInput = input
            process.standardError = errors
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(count: 200_000))
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            let text = try errors.fileHandleForReading.readToEnd() ?? Data()
            return (process.terminationReason, process.terminationStatus, text)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2])
    func aSignalEndsIt(signal: Int32) async throws {
        let (reason, status, errors) = try await ended(by: signal)
        // It has ended by itself, not by the signal's default.
        #expect(reason == .exit)
        #expect(status == 128 + signal)
        #expect(errors.isEmpty)
    }

    /// The runtime's own report of a crash shows registers, and the bytes they point at.
    @Test(arguments: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP])
    func aCrashPrintsNothing(signal: Int32) async throws {
        let (reason, status, errors) = try await ended(by: signal, ["SWIFT_BACKTRACE": "enable=yes"])
        #expect(reason == .uncaughtSignal)
        #expect(status == signal)
        #expect(errors.isEmpty)
    }

    @Test func whatWasIgnoredStaysIgnored() async throws {
        let outcome = try await shell(
            """
            trap '' HUP; mkfifo $HOME/in
            $K set svc < $HOME/in & exec 3> $HOME/in
            head -c 200000 /dev/zero >&3
            kill -HUP $!; exec 3>&-; wait $!
            """
        )
        #expect(outcome.status == 0)
    }

    @Test func aTimeoutEndsTheWaitForInput() async throws {
        let outcome = try await shell("mkfifo $HOME/in; exec 3<> $HOME/in; $K --timeout 0.2 set svc <&3")
        #expect(outcome.status == 8)
        #expect(outcome.errors.contains("--timeout"))
    }

    #if File
        @Test func twoProcessesSeeOneFile() async throws {
            let outcome = try await shell(
                "printf 's3cret' | $K set svc bob && $K get svc bob && $K rm svc bob && ! $K get svc bob",
                try bench.fileEnvironment()
            )
            #expect(outcome.status == 0)
            #expect(outcome.output == Data("s3cret".utf8))
            #expect(outcome.errors == "keychainctl: created file:\(bench.folder)/a.keychain\n")
        }

        @Test(arguments: ["keyfile", "file"])
        func aKeyThatNeverComesEndsAtTheDeadline(kind: String) async throws {
            let outcome = try await shell(
                "mkfifo $HOME/pipe; printf x | $K -q set svc; $K --timeout 0.2 --key \(kind):$HOME/pipe get svc",
                try bench.fileEnvironment()
            )
            #expect(outcome.status == 8, "\(outcome.errors)")
        }

        @Test func outputThatCannotBeWrittenIsNoMissingStore() async throws {
            for path in ["$HOME/missing/x", "$HOME", "$HOME/", "/"] {
                let outcome = try await shell(
                    "printf x | $K -q set svc; $K get svc --output \(path)",
                    try bench.fileEnvironment()
                )
                #expect(outcome.status == 2, "\(path): \(outcome.errors)")
            }
        }

        @Test func aFileThatWasRemovedIsMissingToReadersAndMadeAnewWithANote() async throws {
            let outcome = try await shell(
                """
                printf old | $K -q set svc; rm $HOME/a.keychain
                $K get svc; echo $?; printf new | $K set svc; echo $?; $K get svc; printf x | $K -q set other; $K ls | wc -l
                """,
                try bench.fileEnvironment()
            )
            #expect(outcome.output == Data("6\n0\nnew2\n".utf8), "\(outcome.errors)")
            #expect(outcome.errors.contains("created file:"), "\(outcome.errors)")
        }

        @Test func aStoreThatTakesAKeyAsksForNoPassphrase() async throws {
            let outcome = try await shell(
                "printf x | $K -q set svc; unset KEYCHAIN_KEY; $K get svc",
                try bench.fileEnvironment()
            )
            #expect(outcome.status == 4)
            #expect(outcome.errors.contains("keyfile:PATH"), "\(outcome.errors)")
        }

        @Test func outputToADash() async throws {
            let outcome = try await shell(
                "cd $HOME; printf s3cret | $K -q set svc; $K get svc -o -; $K get svc -o ./-; cat ./-; stat -c ' %a' ./-",
                try bench.fileEnvironment()
            )
            #expect(outcome.output == Data("s3crets3cret 600\n".utf8), "\(outcome.errors)")
        }

        @Test(arguments: ["folder", "pipe", "socket", "/dev/null"])
        func whatIsNoFileIsNoStore(path: String) async throws {
            let folder = bench.folder
            try FileManager.default.createDirectory(atPath: "\(folder)/folder", withIntermediateDirectories: false)
            #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
            let socket = try #require(Self.socket(at: "\(folder)/socket"))
            defer { close(socket) }
            for command in ["get svc", "set svc", "rm svc", "contains svc", "ls", "init"] {
                let outcome = try await shell(
                    "cd $HOME; printf x | $K --store file:\(path) \(command)",
                    try bench.fileEnvironment()
                )
                #expect(outcome.status == 6, "\(command)")
                #expect(outcome.errors.contains("Choose another path"), "\(command)")
            }
        }

        private static func socket(at path: String) -> Int32? {
            let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return bound == 0 ? socket : nil
        }

        @Test func aMissingFileSaysHowToMakeOne() async throws {
            let outcome = try await shell("$K get svc", try bench.fileEnvironment())
            #expect(outcome.status == 6)
            for way in ["keychainctl init", "keychainctl set", "--store", "StoreOptions(creation: .ifMissing)"] {
                #expect(outcome.errors.contains(way), "\(way)")
            }
        }

        @Test func aFolderThatIsNotUTF8IsNotTakenForAnother() async throws {
            for (setting, name) in [
                ("mkdir $'d\\xff'; cd $'d\\xff'; export KEYCHAIN_STORE=file:b.keychain", "working folder"),
                ("ln -s $'d\\xff' link; export KEYCHAIN_STORE=file:link/b.keychain", "symbolic link"),
                ("export KEYCHAIN_STORE=file: HOME=$PWD/$'d\\xff'", "HOME"),
                ("export KEYCHAIN_STORE=file: XDG_DATA_HOME=$PWD/$'d\\xff'", "XDG_DATA_HOME"),
                ("export KEYCHAIN_KEY=credential:x CREDENTIALS_DIRECTORY=$PWD/$'d\\xff'", "CREDENTIALS_DIRECTORY"),
            ] {
                let outcome = try await shell(
                    "cd $HOME; \(setting); printf x | $K set svc",
                    try bench.fileEnvironment()
                )
                #expect(outcome.status == 2, "\(setting)")
                #expect(outcome.errors.contains(name), "\(setting) \(outcome.errors)")
            }
            #expect(try await shell("test -e $HOME/$'d\\xef\\xbf\\xbd'").status == 1)
        }

        @Test func anInterruptedPromptGivesTheEchoBack() async throws {
            let terminal = try PseudoTerminal()
            _ = try await shell(
                "printf x | $K set svc",
                try bench.fileEnvironment().merging(["KEYCHAIN_KEY": "env:PW", "PW": "pw"]) { $1 }
            )
            var environment = try bench.fileEnvironment()
            environment["KEYCHAIN_KEY"] = "prompt"
            let path = terminal.path
            let outcome = Task {
                try await onThread { [environment] in
                    try Program.shell("$K get svc", environment: environment, terminal: path, isJobControlled: true)
                }
            }
            try await onThread {
                try terminal.wait(for: "Passphrase for file:")
                #expect(!terminal.echoes)
                try terminal.type("\u{3}")
            }
            #expect(try await outcome.value.status == 130)
            #expect(terminal.echoes)
        }

        @Test func anItemWithAPasswordOfItsOwnAsksForIt() async throws {
            let environment = try bench.fileEnvironment()
            _ = try await shell("printf x | $K set other", environment)
            let driver = try FileDriver(
                path: "\(bench.folder)/a.keychain",
                options: StoreOptions(keySource: .keyFile(try bench.keyFile())),
                environment: environment
            )
            try await Keychain(driver: driver, applicationPassword: Argon2Password("correct horse")).store(
                "s3cret",
                query: .credential(for: "svc"),
                accessPolicy: AccessPolicy(.whenUnlocked, options: .applicationPassword)
            )
            #expect(try await shell("$K get svc", environment).status == 4, "There is no terminal.")
            #expect(try await shell("$K info svc", environment).status == 0)
            for (answer, status, value) in [("wrong", Int32(5), ""), ("correct horse", 0, "s3cret")] {
                let terminal = try PseudoTerminal()
                let path = terminal.path
                let outcome = Task {
                    try await onThread {
                        try Program.shell("$K get svc > $HOME/out", environment: environment, terminal: path)
                    }
                }
                try await onThread {
                    try terminal.wait(for: "Passphrase for items with an application password: ")
                    try terminal.type("\(answer)\n")
                }
                let result = try await outcome.value
                #expect(result.status == status)
                let output = try String(contentsOfFile: "\(bench.folder)/out", encoding: .utf8)
                #expect(output == value)
            }
        }

        @Test func aPassphraseThatCanBeReadOnceServesForARotation() async throws {
            let outcome = try await shell(
                """
                pass() { printf 'a long passphrase'; }
                printf v | $K -q set svc 3< <(pass) && $K -q key rotate 3< <(pass) && $K get svc 3< <(pass)
                $K get svc 3< /dev/null; echo " $?"
                """,
                try bench.fileEnvironment().merging(["KEYCHAIN_KEY": "fd:3"]) { $1 }
            )
            #expect(String(decoding: outcome.output, as: UTF8.self) == "v 5\n", "\(outcome.errors)")
        }

        @Test func keysAndUpkeepFromAShell() async throws {
            let outcome = try await shell(
                """
                cd $HOME; umask 0; $K key generate new.key; stat -c '%a %s' new.key
                printf v | $K -q set svc; $K key add keyfile:new.key; $K key remove 0; $K key list
                $K get svc 2>/dev/null; echo " $?"; export KEYCHAIN_KEY=keyfile:new.key; $K compact; $K check; echo $?
                $K --store memory: check; echo $?
                size=$(stat -c %s a.keychain); truncate -s $((size - 1)) a.keychain; $K check | cut -f1; $K -q repair; echo $?
                """,
                try bench.fileEnvironment()
            )
            let path = "\(bench.folder)/a.keychain"
            #expect(
                String(decoding: outcome.output, as: UTF8.self) == """
                    600 32
                    1\tkey\t\t\t
                     5
                    ok\t\t1 item intact
                    0
                    9
                    ok
                    damaged
                    unknown
                    ok\t\t0 items saved in \(path).repaired
                    damaged\t\(try Self.cut(path))\tit was cut off
                    unknown\t\tthere may have been items of which nothing is left
                    7

                    """,
                "\(outcome.errors)"
            )
        }

        /// Where a file with one record was cut off by one byte, as ‘check’ names the place.
        private static func cut(_ path: String) throws -> String {
            let size = try Data(contentsOf: URL(filePath: path)).count
            return "\(size)+\(size + 1 - 16384)"
        }

        @Test func aStoppedPromptGivesTheEchoBackAndAsksAgain() async throws {
            let terminal = try PseudoTerminal()
            _ = try await shell(
                "printf s3cret | $K set svc",
                try bench.fileEnvironment().merging(["KEYCHAIN_KEY": "env:PW", "PW": "pw"]) { $1 }
            )
            var environment = try bench.fileEnvironment()
            environment["KEYCHAIN_KEY"] = "prompt"
            let path = terminal.path
            let outcome = Task {
                try await onThread { [environment] in
                    try Program.shell(
                        "$K get svc; echo stopped $?; stty -a | grep -o ' echo '; read line; fg >/dev/null; echo status $?",
                        environment: environment,
                        terminal: path,
                        isJobControlled: true
                    )
                }
            }
            try await onThread {
                try terminal.wait(for: "Passphrase for file:")
                try terminal.type("half\u{1A}")
                try terminal.wait(for: "stopped 148")
                try terminal.wait(for: " echo ")
                #expect(terminal.echoes)
                try terminal.type("go on\n")
                try terminal.wait(for: "Passphrase for file:")
                #expect(!terminal.echoes)
                try terminal.type("pw\n")
                try terminal.wait(for: "s3cret\r\n")
                try terminal.wait(for: "status 0")
            }
            #expect(try await outcome.value.status == 0)
            #expect(terminal.echoes)
        }
    #endif
}
