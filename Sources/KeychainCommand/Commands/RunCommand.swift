// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem

/// A secret on its way into the environment of a program.
struct EnvironmentSecret: Sendable {
    /// The name of the variable.
    let name: String
    /// The value.
    let value: SecureBytes
}

extension CommandRun {
    /// `run`: runs a program with secrets in its environment; returns only if it cannot be started.
    func runProgram() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let wanted = try parsed.values("env").map { (text) throws(KeychainError) in try variable(text) }
        for (index, one) in wanted.enumerated() where wanted[..<index].contains(where: { $0.name == one.name }) {
            throw KeychainError(.invalidParameter, "‘--env’ sets \(one.name) twice.")
        }
        guard !wanted.isEmpty else {
            throw KeychainError(.invalidParameter, "‘run’ needs ‘--env’, as in --env 'TOKEN=example.com bob'.")
        }
        let store = try open(settings, creation: .never)
        var secrets: [EnvironmentSecret] = []
        for (name, selector) in wanted {
            let type = try await store.itemTypeIfFound(of: selector)
            guard let type, let value = try await value(selector, as: type, store) else {
                note("There is no item for \(name). Nothing was started.")
                return .notFound
            }
            guard !value.withBytes({ $0.contains(0) }) else {
                throw KeychainError(
                    .unsupported,
                    "The value for \(name) contains a zero byte, which no variable can. Nothing was started."
                )
            }
            secrets.append(EnvironmentSecret(name: name, value: value))
        }
        try settings.requireTime()
        for secret in secrets { try export(secret) }
        if parsed.has("mask") {
            let program = MaskedProgram(words: parsed.program, secrets: secrets, io: io)
            exit(try program.run())
        }
        throw execute()
    }

    /// Reads `NAME=SELECTOR`.
    private func variable(_ text: String) throws(KeychainError) -> (name: String, selector: Selector) {
        guard let (name, words) = text.halves(at: "="), Self.isVariableName(name) else {
            throw KeychainError(
                .invalidParameter,
                "‘--env’ takes NAME=SELECTOR, as in --env 'TOKEN=example.com bob'. NAME has letters, digits and _ alone."
            )
        }
        do throws(KeychainError) {
            let line = try ["get"] + ShellWords.split(words)
            let parsed = try ArgumentParser.parse(line, environment: [:])
            let allowed = (parsed.command.selectorOptions + parsed.command.attributeOptions).map(\.name)
            if let other = parsed.options.keys.sorted().first(where: { !allowed.contains($0) }) {
                throw KeychainError(
                    .invalidParameter,
                    "‘--\(other)’ is no part of a selector. Give it to ‘run’ itself."
                )
            }
            return (name, try Selector(parsed))
        } catch {
            throw KeychainError(error.code, "\(name): \(error.message)")
        }
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
    }

    /// Puts a secret into the environment that the program gets, byte for byte.
    private func export(_ secret: EnvironmentSecret) throws(KeychainError) {
        let terminated = SecureBytes(joining: [secret.value, SecureBytes([UInt8](repeating: 0, count: 1))])
        let result = terminated.withBytes { bytes in
            setenv(secret.name, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), 1)
        }
        guard result == 0 else { throw .system(errno, "The environment could not be made") }
    }

    /// Becomes the program: its status, its signals and its terminal are then its own.
    ///
    /// - Returns: Why it could not be started.
    private func execute() -> KeychainError {
        ProcessSignals.unblock()
        let words = parsed.program.map { strdup($0) } + [nil]
        execvp(words[0]!, words)
        exit(MaskedProgram.failure(errno, io))
    }
}

extension Settings {
    /// Throws if the time is over.
    fileprivate func requireTime() throws(KeychainError) {
        if let remaining, remaining == .zero {
            throw KeychainError(.timedOut, "Nothing was started in time. Allow more time with --timeout.")
        }
    }
}

extension OpenStore {
    /// As ``itemType(of:)``, nil if a reference is in no class.
    fileprivate func itemTypeIfFound(of selector: Selector) async throws(KeychainError) -> (any SecItem.Type)? {
        do throws(KeychainError) {
            return try await itemType(of: selector)
        } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }
}
