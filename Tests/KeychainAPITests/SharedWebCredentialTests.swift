// SPDX-License-Identifier: MIT

import BackendMemory
import KeychainAPI
import Testing

@Suite struct SharedWebCredentialTests {
    private let keychain = Keychain(driver: MemoryDriver())

    @Test func aPasswordIsStoredFoundAndRemoved() throws {
        try SharedWebCredential.store("example.com", account: "bob", password: "one", in: keychain)
        #expect(try SharedWebCredential.retrieve("example.com", account: "bob", from: keychain) == "one")
        #expect(try SharedWebCredential.retrieve("https://Example.com:443/", from: keychain) == "one")
        for other in ["example.org", "www.example.com", "http://example.com", "https://example.com:8443"] {
            let found: String? = try SharedWebCredential.retrieve(other, account: "bob", from: keychain)
            #expect(found == nil, "\(other)")
        }
        #expect(throws: KeychainError.duplicateItem) {
            try SharedWebCredential.store("example.com", account: "bob", password: "two", in: keychain)
        }
        try SharedWebCredential.store(
            "example.com",
            account: "bob",
            password: "two",
            in: keychain,
            ifExists: .replaceValue
        )
        #expect(try SharedWebCredential.retrieve("example.com", account: "bob", from: keychain) == "two")
        #expect(try SharedWebCredential.remove("example.com", account: "bob", from: keychain))
        #expect(try !SharedWebCredential.remove("example.com", account: "bob", from: keychain))
    }

    @Test func theSameWithoutBlocking() async throws {
        try await SharedWebCredential.store("http://[::1]:8080", account: "bob", password: "one", in: keychain)
        #expect(try await SharedWebCredential.retrieve("http://[::1]:8080", account: "bob", from: keychain) == "one")
        let found = try await keychain.infoAll(for: .webCredential(for: "http://[::1]:8080"))
        #expect(found.map(\.account) == ["bob"] && found.map(\.server) == ["::1"] && found.map(\.port) == [8080])
        #expect(try await SharedWebCredential.remove("http://[::1]:8080", account: "bob", from: keychain))
    }

    @Test func itIsAnInternetPasswordOfAForm() throws {
        try SharedWebCredential.store("example.com", account: "bob", password: "one", in: keychain)
        let info = try #require(try keychain.info(for: SecItemQuery<InternetPassword>()))
        #expect(info.server == "example.com" && info.account == "bob" && info.protocol == .https)
        #expect(info.authenticationType == .htmlForm && info.port == nil && info.path == nil)
        // Another password for the server is another item.
        try keychain.store("api", query: .credential(for: "bob", space: .website("example.com")))
        #expect(try SharedWebCredential.retrieve("example.com", account: "bob", from: keychain) == "one")
    }

    @Test(arguments: [
        "", "https://", "ftp://example.com", "https://example.com/login", "https://bob@example.com",
        "https://bob:pw@example.com", "https://example.com?a=b", "https://example.com#a", "exa mple.com",
        "example.com/login", "https://example.com:99999",
    ])
    func whatIsNoWebsiteIsRefused(_ site: String) {
        let error = #expect(throws: KeychainError.self) {
            try SharedWebCredential.store(site, account: "bob", password: "one", in: keychain)
        }
        #expect(error?.code == .invalidParameter)
    }
}
