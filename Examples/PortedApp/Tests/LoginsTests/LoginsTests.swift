// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Runs the program itself, each time as a process of its own.
@Suite struct LoginsTests {
    let home: Home

    init() throws { home = try Home() }

    @Test func keepsLogins() throws {
        let added = try home.logins("add", "git.example.com", "bob", input: "s3cret\n")
        #expect(added == .init(output: "Added bob at git.example.com.\n"))
        #expect(try home.logins("add", "www.example.com", "carol", input: "other\n").status == 0)
        #expect(try home.logins("list").output == "bob@git.example.com\ncarol@www.example.com\n")
        #expect(try home.logins("show", "git.example.com", "bob") == .init(output: "s3cret\n"))
        #expect(try home.logins("remove", "git.example.com", "bob") == .init())
        #expect(try home.logins("show", "git.example.com", "bob") == .init(status: 1))
        #expect(try home.logins("remove", "git.example.com", "bob") == .init(status: 1))
        #expect(try home.logins("list").output == "carol@www.example.com\n")
    }

    @Test func aLoginThatIsThereIsNotReplaced() throws {
        #expect(try home.logins("add", "git.example.com", "bob", input: "first\n").status == 0)
        let again = try home.logins("add", "git.example.com", "bob", input: "second\n")
        #expect(again.status == 1)
        #expect(again.errors.hasPrefix("logins: An item with the same primary key exists."))
        #expect(!again.errors.contains("second"))
        #expect(try home.logins("show", "git.example.com", "bob").output == "first\n")
    }

    @Test func keepsItsToken() throws {
        #expect(try home.logins("token").output == "There is no token.\n")
        #expect(try home.logins("token", "set", input: "8e9c0a7f\n").status == 0)
        #expect(try home.logins("token").output == "There is a token.\n")
        // Unlike on a Mac: the property replaces what is there.
        #expect(try home.logins("token", "set", input: "another\n").status == 0)
        // Passwords and logins are of different classes, and both go.
        #expect(try home.logins("add", "git.example.com", "bob", input: "s3cret\n").status == 0)
        #expect(try home.logins("forget").status == 0)
        #expect(try home.logins("token").output == "There is no token.\n")
        #expect(try home.logins("list").output == "")
    }

    @Test func aWrongPassphraseIsNoMissingLogin() throws {
        #expect(try home.logins("add", "git.example.com", "bob", input: "s3cret\n").status == 0)
        let wrong = try home.logins("show", "git.example.com", "bob", passphrase: "wrong")
        #expect(wrong.status == 1)
        #expect(wrong.output == "")
        #expect(wrong.errors.hasPrefix("logins: "))
    }

    @Test func everythingIsEncrypted() throws {
        #expect(try home.logins("add", "git.example.com", "bob", input: "s3cret\n").status == 0)
        let file = try Data(contentsOf: home.folder.appending(path: "logins.keychain"))
        for text in ["s3cret", "git.example.com", "Added by logins"] { #expect(file.range(of: Data(text.utf8)) == nil) }
    }

    @Test func saysHowItIsUsed() throws {
        let answer = try home.logins("shwo", "x")
        #expect(answer.status == 2)
        #expect(answer.errors.hasPrefix("usage: logins add HOST USER"))
    }
}
