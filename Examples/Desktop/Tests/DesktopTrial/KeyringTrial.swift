// SPDX-License-Identifier: MIT

import DesktopModel
import DesktopWindow
import Foundation
import SwiftKeychain

/// A window and another program share a keyring, until that is locked.
struct KeyringTrial {
    let picture: String

    func run() async throws {
        let driver = try DriverRegistry.standard.open(StoreURL(parsing: "secret-service:"))
        // No one is there to answer a prompt.
        let keychain = Keychain(driver: driver, timeout: .seconds(10), interaction: .never)
        let person = await Person(keychain: keychain)
        let bob = Account(server: "git.example.com", name: "bob")
        await person.signIn(bob, token: "8e9c0a7f")
        try await person.sees(["bob at git.example.com"])
        guard try secretTool(["lookup", "server", "git.example.com", "user", "bob"]) == "8e9c0a7f" else {
            throw Difference("secret-tool does not find what the window has stored.")
        }
        try await person.sees("an empty form") { $0.token.text.isEmpty }
        guard await person.form == ["", "", ""] else { throw Difference("The form is not empty after signing in.") }

        let carol = [
            "server", "www.example.com", "user", "carol", "protocol", "https", "domain", "com.example.desktop",
        ]
        try secretTool(["store", "--label=Carol"] + carol, input: "from another program")
        try await person.sees(["bob at git.example.com", "carol at www.example.com"])
        try await person.savePicture(picture)

        try await person.remove(bob)
        try await person.sees(["carol at www.example.com"])
        guard try await !keychain.contains(bob.query) else { throw Difference("What was removed is still there.") }

        try await keychain.lock()
        await person.signIn(bob, token: "8e9c0a7f")
        try await person.sees("that the keyring is locked") { $0.shownComplaint?.contains("locked") == true }
        guard await person.form == ["git.example.com", "bob", "8e9c0a7f"] else {
            throw Difference("What could not be kept is gone from the form.")
        }
        await person.close()
    }

    /// Runs the program, and gives back what it printed.
    @discardableResult
    private func secretTool(_ arguments: [String], input: String = "") throws -> String {
        let (process, source, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/secret-tool")
        process.arguments = arguments
        process.standardInput = source
        process.standardOutput = output
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Difference("secret-tool \(arguments[0]) has failed.") }
        return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}
