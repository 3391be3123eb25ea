// SPDX-License-Identifier: MIT

import DesktopModel
import DesktopWindow
import Foundation
import SwiftKeychain

/// A store that takes two seconds for each call does not keep the window from answering.
struct SlowStoreTrial {
    /// A quarter of the time that the store takes: a machine that is busy is no reason to fail.
    private let limit = Duration.milliseconds(500)

    func run() async throws {
        let driver = MemoryDriver()
        let person = await Person(keychain: Keychain(driver: driver))
        let bob = Account(server: "git.example.com", name: "bob")
        await person.signIn(bob, token: "8e9c0a7f")
        try await person.sees(["bob at git.example.com"])

        driver.inject(.slow(.seconds(2)))
        let watch = await onMainLoop { LoopWatch() }
        let start = ContinuousClock.now
        await person.signIn(Account(server: "www.example.com", name: "carol"), token: "a1b2c3d4")
        try await person.sees("that it is signing in") { $0.state.isSigningIn }
        guard await !person.canSignIn else { throw Difference("The button can be used while signing in.") }
        try await person.sees(["bob at git.example.com", "carol at www.example.com"])
        // One call to store and one to list.
        guard ContinuousClock.now - start >= .seconds(4) else { throw Difference("The store was not slow.") }
        let longest = await onMainLoop { watch.stop() }
        guard longest < limit else { throw Difference("The main loop was blocked for \(longest).") }
        print("The main loop came to its turn within \(longest) while the store took its time.")
        await person.close()
    }
}

/// Ends the program where nothing can be thrown.
func fatalDifference(_ description: String) -> Never {
    FileHandle.standardError.write(Data("DesktopTrial: \(description)\n".utf8))
    exit(1)
}
