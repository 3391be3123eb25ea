// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import SecretServiceFixture
import Testing

@testable import KeychainCommand

/// `git-credential` and `docker-credential`, by their protocols.
struct HelperCommandTests {
    private let bench = Bench()

    private func git(_ action: String, _ lines: String...) async throws -> Bench.Outcome {
        try await bench.run("git-credential", action, input: Data((lines.joined(separator: "\n") + "\n\n").utf8))
    }

    private func docker(_ action: String, _ input: String = "") async throws -> Bench.Outcome {
        try await bench.run("docker-credential", action, input: Data(input.utf8))
    }

    private let host = ["protocol=https", "host=example.com"]

    @Test func aCredentialIsStoredGivenAndErased() async throws {
        let stored = try await git(
            "store",
            host[0],
            host[1],
            "username=bob",
            "password=a=b c",
            "wwwauth[]=Basic realm=x"
        )
        #expect(stored.status == 0 && stored.output.isEmpty && stored.errors.isEmpty)
        let given = try await git("get", host[0], host[1], "capability[]=authtype", "unknown=x")
        #expect(given.status == 0 && given.text == "username=bob\npassword=a=b c\n")
        #expect(try await git("get", host[0], host[1], "username=bob").text.contains("password=a=b c"))
        for other in [
            ["protocol=http", "host=example.com"], ["protocol=https", "host=example.com:8443"],
            ["protocol=https", "host=www.example.com"], ["protocol=https", "host=example.com", "username=eve"],
            ["protocol=https", "host=example.com", "path=x.git"],
        ] {
            let outcome = try await git("get", other.joined(separator: "\n"))
            #expect(outcome.status == 0 && outcome.output.isEmpty, "\(other)")
        }
        #expect(try await git("erase", host[0], host[1], "password=newer").status == 0)
        #expect(try await git("get", host[0], host[1]).text.isEmpty == false, "Another password is another one's.")
        #expect(try await git("erase", host[0], host[1], "username=bob", "password=a=b c").status == 0)
        #expect(try await git("get", host[0], host[1]).text.isEmpty)
        #expect(try await git("erase", host[0], host[1]).status == 0, "There is nothing left to erase.")
    }

    @Test func theItemIsAnInternetPasswordAsAURLNamesIt() async throws {
        _ = try await git(
            "store",
            "protocol=https",
            "host=Example.com:8443",
            "path=a/b.git",
            "username=bob",
            "password=x"
        )
        let url = "https://example.com:8443/a/b.git"
        #expect(try await bench.run("get", "--url", url, "bob").text == "x")
        let info = try await bench.run("info", "--url", url).text
        #expect(info.contains("label\tGit: https://Example.com:8443/a/b.git\n"), "\(info)")
        _ = try await bench.run("set", "--url", "https://[::1]:80/", "al", input: Data("6".utf8))
        #expect(try await git("get", "protocol=https", "host=[::1]:80").text == "username=al\npassword=6\n")
        #expect(try await git("get", "protocol=https", "host=example.com:8443").text.contains("bob"), "A path is any.")
        #expect(try await git("get", "protocol=https", "host=example.com:8443", "path=a/b.git").text.contains("bob"))
    }

    @Test func anExpiryAndATokenAreKeptAndWhatIsExpiredIsNotGiven() async throws {
        let (past, future) = ("password_expiry_utc=1000", "password_expiry_utc=99999999999")
        _ = try await git("store", host[0], host[1], "username=a", "password=old", past)
        _ = try await git("store", host[0], host[1], "username=b", "password=new", future, "oauth_refresh_token=t=1")
        let given = try await git("get", host[0], host[1])
        #expect(given.text == "username=b\npassword=new\n\(future)\noauth_refresh_token=t=1\n")
        #expect(try await git("get", host[0], host[1], "username=a").text.isEmpty)
        // The password alone decides.
        _ = try await git("erase", host[0], host[1], "username=b", "password=new")
        #expect(try await git("get", host[0], host[1]).text.isEmpty)
    }

    @Test func aPasswordThatChangesReplacesTheOldOne() async throws {
        _ = try await git("store", host[0], host[1], "username=a", "password=1", "oauth_refresh_token=t")
        _ = try await git("store", host[0], host[1], "username=a", "password=2")
        #expect(try await git("get", host[0], host[1]).text == "username=a\npassword=2\n")
    }

    @Test func whatCannotBeKeptIsLeftOut() async throws {
        for lines in [
            "protocol=https\nhost=example.com\nusername=a", "protocol=https\nhost=example.com\npassword=x",
            "host=example.com\nusername=a\npassword=x", "protocol=https\nusername=a\npassword=x", "",
            "protocol=https\nhost=example.com\nusername=a\npassword=x\nephemeral=1",
        ] {
            let outcome = try await git("store", lines)
            #expect(outcome.status == 0 && outcome.output.isEmpty, "\(lines)")
        }
        #expect(try await bench.run("ls").output.isEmpty)
        _ = try await git("store", "protocol=cert", "path=/home/bob/key.pem", "username=", "password=x")
        #expect(try await git("get", "protocol=cert", "path=/home/bob/key.pem").text == "username=\npassword=x\n")
    }

    /// What looks like one character to Swift, and is two to every other program.
    @Test func linesAndSignsAreTakenByScalars() async throws {
        let password = "\u{301}p=\u{301}\r"
        _ = try await git("store", host[0], host[1], "username=\u{301}u", "password=\(password)")
        let given = try await git("get", host[0], host[1])
        #expect(Array(given.output) == Array("username=\u{301}u\npassword=\(password)\n".utf8))
        _ = try await git("erase", host[0], host[1], "password=\(password)")
        #expect(try await git("get", host[0], host[1]).output.isEmpty)
        _ = try await bench.run("set", "svc", "--label=\u{301}x", input: Data("v".utf8))
        #expect(try await bench.run("info", "svc").text.unicodeScalars.contains("\u{301}"))
    }

    #if SecretService
        @Test func gitsOwnHelperAndThisOneFindWhatTheOtherStores() async throws {
            let keyring = try PrivateKeyring.start()
            let environment = keyring.environment.merging(["KEYCHAIN_STORE": "secret-service:"]) { $1 }
            func ours(_ action: String, _ lines: [String]) async throws -> String {
                let input = lines.joined(separator: "\\n")
                let outcome = try await onThread {
                    try Program.shell("printf '\(input)\\n\\n' | $K git-credential \(action)", environment: environment)
                }
                #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
                return String(decoding: outcome.output, as: UTF8.self)
            }
            func theirs(_ action: String, _ credential: [String: String]) async throws -> String {
                try await onThread { try GitCredentialHelper.run(action, credential, on: keyring).text }
            }
            let theirHost = ["protocol": "https", "host": "their.example"]
            _ = try await theirs("store", theirHost.merging(["username": "bob", "password": "1"]) { $1 })
            #expect(try await ours("get", ["protocol=https", "host=their.example"]) == "username=bob\npassword=1\n")
            _ = try await ours("store", ["protocol=https", "host=our.example:8443", "username=al", "password=2"])
            let found = try await theirs("get", ["protocol": "https", "host": "our.example:8443"])
            #expect(found.contains("username=al\n") && found.contains("password=2\n"), "\(found)")
            _ = try await ours("erase", ["protocol=https", "host=their.example", "password=1"])
            #expect(try await theirs("get", theirHost).contains("password") == false)
        }
    #endif

    @Test func unknownActionsAreIgnoredAndGarbageIsRefused() async throws {
        #expect(try await git("capability").status == 0)
        #expect(try await bench.run("git-credential").status == 2)
        for line in ["nonsense", "=x", "a=\u{0}"] {
            let outcome = try await git("get", line)
            #expect(outcome.status == 2 && outcome.output.isEmpty, "\(line)")
        }
        #expect(try await bench.run("git-credential", "get", input: Data([0x61, 0x3D, 0xFF])).status == 10)
    }

    // Docker

    private func stored(_ server: String, _ user: String, _ secret: String) async throws -> Bench.Outcome {
        try await docker("store", #"{"ServerURL":"\#(server)","Username":"\#(user)","Secret":"\#(secret)"}"#)
    }

    @Test(arguments: [
        "https://index.docker.io/v1/", "registry.example.com", "localhost:5000", "https://Example.com/path?x", "ü/é",
    ])
    func aRegistryComesBackAsItWasNamed(server: String) async throws {
        let outcome = try await stored(server, "bob", "s3/cret")
        #expect(outcome.status == 0 && outcome.output.isEmpty)
        let given = try await docker("get", server + "\n")
        #expect(given.status == 0)
        let object = try #require(try JSONSerialization.jsonObject(with: given.output) as? [String: String])
        #expect(object == ["ServerURL": server, "Username": "bob", "Secret": "s3/cret"])
        let listed = try await docker("list").output
        let list = try #require(try JSONSerialization.jsonObject(with: listed) as? [String: String])
        #expect(list == [server: "bob"])
        #expect(try await docker("erase", server).status == 0)
        let missing = try await docker("get", server)
        #expect(missing.status == 1 && missing.text == "credentials not found in native keychain\n")
        #expect(missing.errors.isEmpty)
        #expect(try await docker("erase", server).status == 0)
        #expect(try await docker("list").text == "{}\n")
    }

    @Test func aServerHasOneCredential() async throws {
        _ = try await stored("r", "bob", "1")
        _ = try await stored("r", "<token>", "2")
        let text = try await docker("get", "r").text
        #expect(text.contains(#""Username":"<token>""#) && text.contains(#""Secret":"2""#), "\(text)")
        _ = try await stored("r", "<token>", "3")
        #expect(try await docker("get", "r").text.contains("\"3\""))
        #expect(try await docker("list").text == "{\"r\":\"<token>\"}\n")
    }

    @Test func mistakesHaveTheTextsThatTheClientKnows() async throws {
        for (action, input, text) in [
            ("get", "", "no credentials server URL"), ("erase", " \n", "no credentials server URL"),
            ("store", #"{"ServerURL":"","Username":"a","Secret":"b"}"#, "no credentials server URL"),
            ("store", #"{"ServerURL":"a","Username":"","Secret":"b"}"#, "no credentials username"),
        ] {
            let outcome = try await docker(action, input)
            #expect(outcome.status == 1 && outcome.text == text + "\n" && outcome.errors.isEmpty)
        }
        for (action, input) in [("store", "nonsense s3cret"), ("frobnicate", ""), ("store", #"{"Secret":"s3cret"}"#)] {
            let outcome = try await docker(action, input)
            #expect(outcome.status == 1 && !outcome.output.isEmpty && !outcome.text.contains("s3cret"))
        }
        let locked = try await bench.run(
            "docker-credential",
            "get",
            "--store",
            "file:\(bench.folder)/none",
            input: Data("r".utf8)
        )
        #expect(locked.status == 1 && locked.errors.isEmpty && !locked.output.isEmpty)
        #expect(try await bench.run("docker-credential").status == 2)
    }

    @Test func whatIsOfAnotherUseIsNotDockers() async throws {
        _ = try await bench.run("set", "registry", "bob", input: Data("mine".utf8))
        #expect(try await docker("get", "registry").status == 1)
        #expect(try await docker("erase", "registry").status == 0)
        #expect(try await bench.run("get", "registry").text == "mine")
    }
}
