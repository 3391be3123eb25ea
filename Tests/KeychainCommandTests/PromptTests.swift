// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import KeychainSystem
import Testing

@testable import KeychainCommand

/// What is asked on a terminal.
///
/// One after the other: a process has one terminal, and one place that hides its echo.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PromptTests {
    private let terminal: PseudoTerminal
    private let interrupt: Interrupt

    init() throws {
        terminal = try PseudoTerminal()
        interrupt = try Interrupt()
    }

    private func prompt(timeout: Duration? = nil) -> TerminalPrompt {
        TerminalPrompt(path: terminal.path, interrupt: interrupt, deadline: timeout.map { .now + $0 })
    }

    private func text(_ bytes: SecureBytes) -> String { bytes.withBytes { String(decoding: $0, as: UTF8.self) } }

    @Test func aPassphraseIsAskedForOnceAndNotShown() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "file:/x", isNew: false) } }
        try await onThread { [terminal] in
            try terminal.wait(for: "Passphrase for file:/x: ")
            #expect(!terminal.echoes)
            try terminal.type("päss wörd\n")
        }
        #expect(try await text(asked.value) == "päss wörd")
        #expect(terminal.echoes)
        try terminal.type("visible\n")
        #expect(try terminal.wait(for: "visible").contains("päss") == false)
    }

    @Test func aNewPassphraseIsAskedForTwice() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "file:/x", isNew: true) } }
        try await onThread { [terminal] in
            try terminal.wait(for: "New passphrase for file:/x: ")
            try terminal.type("a\n")
            try terminal.wait(for: "Once more: ")
            try terminal.type("b\n")
            try terminal.wait(for: "differ")
            try terminal.wait(for: "New passphrase for file:/x: ")
            #expect(!terminal.echoes)
            // Both at once, as from a clipboard.
            try terminal.type("c\nc\n")
        }
        #expect(try await text(asked.value) == "c")
        #expect(terminal.echoes)
    }

    @Test func threePairsThatDifferAreEnough() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.askTwice("Value: ") } }
        try await onThread { [terminal] in
            for _ in 1...3 {
                try terminal.wait(for: "Value: ")
                try terminal.type("a\nb\n")
            }
        }
        await #expect(throws: KeychainError(.userCanceled, "")) { try await asked.value }
        #expect(terminal.echoes)
    }

    @Test func theEndOfInputIsARefusal() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "x", isNew: false) } }
        try await onThread { [terminal] in
            try terminal.wait(for: ": ")
            try terminal.type("\u{4}")
        }
        await #expect(throws: KeychainError(.userCanceled, "")) { try await asked.value }
        #expect(terminal.echoes)
    }

    @Test func anEmptyLineIsAnEmptyPassphrase() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "x", isNew: false) } }
        try await onThread { [terminal] in
            try terminal.wait(for: ": ")
            try terminal.type("\n")
        }
        #expect(try await asked.value.isEmpty)
    }

    @Test func aLineThatTheTerminalCutsOffIsRefused() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "x", isNew: false) } }
        try await onThread { [terminal] in
            try terminal.wait(for: ": ")
            try terminal.type(String(repeating: "x", count: 4200))
            try terminal.type("\n")
        }
        await #expect(throws: KeychainError(.dataTooLarge, "")) { try await asked.value }
        #expect(terminal.echoes)
    }

    @Test func theLongestLineIsTaken() async throws {
        let prompt = prompt()
        let line = String(repeating: "x", count: 4093)
        let asked = Task { try await onThread { try prompt.passphrase(for: "x", isNew: false) } }
        try await onThread { [terminal] in
            try terminal.wait(for: ": ")
            try terminal.type(line + "\n")
        }
        #expect(try await text(asked.value) == line)
    }

    @Test func theDeadlineEndsTheWait() async throws {
        let prompt = prompt(timeout: .milliseconds(50))
        await #expect(throws: KeychainError(.timedOut, "")) {
            try await onThread { try prompt.passphrase(for: "x", isNew: false) }
        }
        #expect(terminal.echoes)
    }

    @Test func anInterruptEndsTheWait() async throws {
        let prompt = prompt()
        let asked = Task { try await onThread { try prompt.passphrase(for: "x", isNew: false) } }
        try await onThread { [terminal, interrupt] in
            try terminal.wait(for: ": ")
            interrupt.fire(SIGTERM)
        }
        await #expect(throws: KeychainError(.cancelled, "")) { try await asked.value }
        #expect(terminal.echoes)
    }

    @Test func whereThereIsNoTerminalNoOneCanBeAsked() async throws {
        for path in ["/nonexistent", "/dev/null"] {
            let prompt = TerminalPrompt(path: path, interrupt: interrupt, deadline: nil)
            #expect(throws: KeychainError(.interactionNotAllowed, "")) {
                try prompt.passphrase(for: "x", isNew: false)
            }
        }
    }

    @Test func aLocationCannotMoveTheCursor() async throws {
        let prompt = prompt(timeout: .milliseconds(50))
        await #expect(throws: KeychainError(.timedOut, "")) {
            try await onThread { try prompt.passphrase(for: "\u{1B}[2Jx\ny", isNew: false) }
        }
        #expect(try terminal.wait(for: "y: ").hasSuffix("Passphrase for \\x1b[2Jx\\x0ay: "))
    }

    @Test func aValueIsAskedForWhereStandardInputIsATerminal() async throws {
        let bench = Bench()
        let input = try FileDescriptor(terminal.path, O_RDWR | O_NOCTTY, action: "terminal")
        let output = try FileDescriptor("/dev/null", O_RDWR, action: "null")
        let io = CommandIO(
            input: input.number,
            output: output.number,
            error: output.number,
            terminal: terminal.path,
            interrupt: interrupt
        )
        let status = Task { await KeychainCommand.run(["set", "svc", "bob"], environment: bench.environment, io: io) }
        try await onThread { [terminal] in
            try terminal.wait(for: "Value for svc, bob: ")
            #expect(!terminal.echoes)
            try terminal.type("s3cret\n")
            try terminal.wait(for: "Once more: ")
            try terminal.type("s3cret\n")
        }
        #expect(await status.value == 0)
        #expect(try await bench.run("get", "svc", "bob").text == "s3cret")
        #expect(await KeychainCommand.run(["set", "x", "--no-prompt"], environment: bench.environment, io: io) == 4)
    }

    #if File
        @Test func aNewPassphraseOfAFileIsAskedForTwice() async throws {
            let bench = Bench()
            let environment = [
                "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(bench.folder)/a.keychain",
                "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
            ]
            #expect(try await bench.run("init", environment: environment).status == 0)
            let output = try FileDescriptor("/dev/null", O_RDWR, action: "null")
            let io = CommandIO(
                input: output.number,
                output: output.number,
                error: output.number,
                terminal: terminal.path,
                interrupt: interrupt
            )
            let registry = Bench.registry(environment)
            let status = Task {
                await KeychainCommand.run(
                    ["key", "add", "prompt"],
                    environment: environment,
                    io: io,
                    registry: registry
                )
            }
            try await onThread { [terminal] in
                try terminal.wait(for: "New passphrase for file:\(bench.folder)/a.keychain: ")
                #expect(!terminal.echoes)
                try terminal.type("a long passphrase\n")
                try terminal.wait(for: "Once more: ")
                try terminal.type("a long passphrase\n")
            }
            #expect(await status.value == 0)
            let screen = try FileDescriptor(terminal.path, O_RDWR | O_NOCTTY, action: "terminal")
            let shown = CommandIO(
                input: output.number,
                output: screen.number,
                error: output.number,
                terminal: terminal.path,
                interrupt: interrupt
            )
            for (command, heading) in [
                (["key", "list"], "SLOT  KIND        SOURCE  COST"), (["check"], "STATUS  PLACE  FINDING"),
            ] {
                let status = await KeychainCommand.run(command, environment: environment, io: shown, registry: registry)
                #expect(status == 0)
                try await onThread { [terminal] in _ = try terminal.wait(for: heading) }
            }
            var named = environment
            named["KEYCHAIN_KEY"] = "env:P"
            named["P"] = "a long passphrase"
            #expect(try await bench.run("ls", environment: named).status == 0)
        }
    #endif

    #if File
        @Test func anArchiveAsksTwiceForItsPassphraseAndOnceToBeRead() async throws {
            let bench = Bench()
            _ = try await bench.run("set", "svc", input: Data("v".utf8))
            let (path, file, other) = (terminal.path, "\(bench.folder)/b.archive", "memory:\(UUID().uuidString)")
            let exporting = Task { try await bench.run("export", file, terminal: path) }
            try await onThread { [terminal] in
                for question in ["New passphrase for \(file): ", "Once more: "] {
                    try terminal.wait(for: question)
                    try terminal.type("secret\n")
                }
            }
            let exported = try await exporting.value
            #expect(exported.status == 0 && exported.errors.contains("easy to guess"), "\(exported.errors)")
            let importing = Task { try await bench.run("import", file, "--store", other, terminal: path) }
            try await onThread { [terminal] in
                try terminal.wait(for: "Passphrase for \(file): ")
                try terminal.type("secret\n")
            }
            #expect(try await importing.value.status == 0)
            #expect(try await bench.run("get", "svc", "--store", other).text == "v")
        }
    #endif

    @Test func aTerminalGetsATableAndANewline() async throws {
        let bench = Bench()
        _ = try await bench.run("set", "svc", "bob", "--label=\u{1B}[1m", input: Data("s3cret".utf8))
        let output = try FileDescriptor(terminal.path, O_RDWR | O_NOCTTY, action: "terminal")
        let io = CommandIO(
            input: output.number,
            output: output.number,
            error: output.number,
            terminal: terminal.path,
            interrupt: interrupt
        )
        for (arguments, expected) in [
            (["get", "svc"], "s3cret\r\n"), (["ls"], "CLASS             NAME  ACCOUNT  LABEL    MODIFIED"),
            (["ls"], "generic-password  svc   bob      \\x1b[1m  "), (["info", "svc"], "service:        svc\r\n"),
            (["stores"], "DRIVER   STATUS  "), (["doctor"], "STATUS  CHECK"),
        ] {
            let status = await KeychainCommand.run(
                arguments,
                environment: bench.environment,
                io: io,
                registry: Bench.registry(bench.environment)
            )
            #expect(status == 0)
            try await onThread { [terminal] in _ = try terminal.wait(for: expected) }
        }
    }
}
