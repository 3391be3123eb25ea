// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain

/// A service that lets in who knows a token, and that follows the token when it is changed while the service runs.
@main struct App {
    static func main() async {
        do {
            try await run(ProcessInfo.processInfo.environment)
        } catch {
            // The sentence of a KeychainError says what to do next, and never contains a secret.
            FileHandle.standardError.write(Data("app: \(error.localizedDescription)\n".utf8))
            exit(1)
        }
    }

    /// Prints a line past any buffer: the journal gets each at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    private static func run(_ environment: [String: String]) async throws {
        let keychain = try openKeychain(environment)
        let gate = Gate()
        // An error here ends the program: nothing is served with a store that cannot be read.
        var tokens = try await keychain.values(of: .token).makeAsyncIterator()
        guard let first = try await tokens.next() else { return }
        gate.token = first
        let door = try Door(path: (environment["RUNTIME_DIRECTORY"] ?? ".") + "/app.sock")
        Thread.detachNewThread { door.serve(gate) }
        say(first == nil ? "There is no token yet; no one is let in." : "The token is loaded.")
        while true {
            do throws(KeychainError) {
                guard let token = try await tokens.next() else { return }
                guard token != gate.token else { continue }
                gate.token = token
                say(token == nil ? "The token was removed; no one is let in." : "The token was replaced.")
            } catch {
                // The store will be readable again, and until then the last token is the best that is known.
                say("The token could not be read, and stays what it was. \(error.message)")
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// The file that the unit names, with the passphrase that systemd hands over.
    ///
    /// One that is missing is an error: a service must not take a file that is not mounted for one without a token.
    private static func openKeychain(_ environment: [String: String]) throws -> Keychain {
        let driver = try DriverRegistry.standard.open(
            StoreURL(parsing: environment["KEYCHAIN_STORE"] ?? "file:"),
            options: StoreOptions(keySource: .credential("keychain"), interaction: .never, creation: .never)
        )
        return Keychain(driver: driver, timeout: .seconds(10), interaction: .never)
    }
}

extension KeychainKeys {
    /// What clients have to know.
    static let token = KeychainKey<SecureBytes>("token", service: "app")
}
