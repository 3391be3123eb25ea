// SPDX-License-Identifier: MIT

import Glibc
import KeychainAPI
import KeychainSystem

/// GnuPG's program, which decrypts what a password store holds.
struct GPG {
    private let program: String
    private let environment: [String: String]

    /// How much an entry may be once it is decrypted: the largest value of any store.
    private static let largestText = 64 << 20

    /// Looks for the program, `gpg2` before `gpg`, as pass does.
    init(environment: [String: String]) throws(KeychainError) {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = ["gpg2", "gpg"].flatMap { name in folders.map { "\($0)/\(name)" } }
        guard let program = candidates.first(where: { $0.hasPrefix("/") && access($0, X_OK) == 0 }) else {
            throw KeychainError(
                .unavailable,
                "gpg was not found, which decrypts a password store. Install GnuPG (Debian’s package gnupg), or set PATH."
            )
        }
        self.program = program
        self.environment = environment
    }

    /// Decrypts an entry.
    ///
    /// The program reads the file that is open, so that neither names nor links matter, and writes to memory alone.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: The entry's name, for errors.
    func decrypt(
        _ file: FileDescriptor,
        _ name: String,
        _ call: CallContext
    ) throws(KeychainError) -> SecureBytes {
        let prompt = call.interaction.allowsPrompts ? "default" : "error"
        // Not --quiet: it would keep to itself why a key was of no use.
        let arguments = [
            "--batch", "--no-tty", "--status-fd", "2", "--pinentry-mode", prompt, "--decrypt",
        ]
        let process = try ChildProcess(
            program,
            arguments,
            environment: environment,
            reading: file,
            errors: .pipe
        )
        let end: @Sendable () -> Void = {
            process.kill()
            // What gpg has started may keep its output open.
            for pipe in [process.output, process.errors] {
                if let pipe { _ = shutdown(pipe.number, Int32(SHUT_RD)) }
            }
        }
        return try call.withCancellationHandler(end) { () throws(KeychainError) in
            var answer = GPGAnswer()
            do throws(KeychainError) { try answer.read(process, limit: Self.largestText) } catch {
                process.kill()
                throw error.code == .dataTooLarge ? Self.tooLarge(name) : error
            }
            let status = process.wait()
            try call.check()
            let report = GPGReport(answer.messages)
            guard status == 0, report.isDecrypted else { throw report.error(name, status) }
            return answer.text
        }
    }

    private static func tooLarge(_ name: String) -> KeychainError {
        KeychainError(
            .dataTooLarge,
            "The entry ‘\(name)’ is larger than \(largestText) bytes once it is decrypted, and nothing was imported. Take "
                + "it out of the store."
        )
    }
}
