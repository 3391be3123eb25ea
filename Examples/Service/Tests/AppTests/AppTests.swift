// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Runs the service, and changes its token with other processes while it runs.
///
/// A line that does not come holds a test up until its time limit.
@Suite(.timeLimit(.minutes(1))) struct AppTests {
    @Test func followsTheRotationOfItsToken() throws {
        let unit = try Unit()
        try unit.keychainctl("set", "app", "token", input: "old")
        try unit.start()
        #expect(try unit.nextLine() == "The token is loaded.")
        #expect(try unit.say("old") == "welcome\n")
        #expect(try unit.say("new") == "refused\n")

        try unit.keychainctl("set", "app", "token", input: "new")
        #expect(try unit.nextLine() == "The token was replaced.")
        #expect(try unit.say("new") == "welcome\n")
        #expect(try unit.say("old") == "refused\n")

        // What concerns another item is no rotation: the next line is about the token again.
        try unit.keychainctl("set", "app", "other", input: "x")
        try unit.keychainctl("rm", "app", "token")
        #expect(try unit.nextLine() == "The token was removed; no one is let in.")
        #expect(try unit.say("new") == "refused\n")
        #expect(try unit.say("") == "refused\n")
        try unit.keychainctl("set", "app", "token", input: "third")
        #expect(try unit.nextLine() == "The token was replaced.")
        #expect(try unit.say("third") == "welcome\n")
    }

    @Test func waitsForItsFirstToken() throws {
        let unit = try Unit()
        try unit.keychainctl("init")
        try unit.start()
        #expect(try unit.nextLine() == "There is no token yet; no one is let in.")
        #expect(try unit.say("") == "refused\n")
        try unit.keychainctl("set", "app", "token", input: "first")
        #expect(try unit.nextLine() == "The token was replaced.")
        #expect(try unit.say("first") == "welcome\n")
    }

    @Test func aWrongKeyEndsItWithASentence() throws {
        let unit = try Unit()
        try unit.keychainctl("set", "app", "token", input: "old")
        try unit.setPassphrase("another")
        try unit.start()
        #expect(try unit.nextLine() == nil)
        let (status, complaint) = try unit.end()
        #expect(status == 1)
        #expect(complaint.hasPrefix("app: "))
        #expect(complaint.contains("key"))
        #expect(!complaint.contains("another"))
    }

    @Test func aMissingFileIsNoStoreWithoutAToken() throws {
        let unit = try Unit()
        try unit.start()
        #expect(try unit.nextLine() == nil)
        let (status, complaint) = try unit.end()
        #expect(status == 1)
        #expect(complaint.hasPrefix("app: ") && complaint.contains("app.keychain"))
        #expect(!FileManager.default.fileExists(atPath: unit.folder.appending(path: "app.keychain").path))
    }
}
