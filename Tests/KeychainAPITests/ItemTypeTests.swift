// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

@Suite struct WebProtectionSpaceTests {
    private func space(_ text: String) throws -> WebProtectionSpace {
        try WebProtectionSpace(url: #require(URL(string: text)))
    }

    @Test func readsSchemeHostPortAndPath() throws {
        let full = try space("https://example.com:8443/api/v1")
        #expect(full == WebProtectionSpace(host: "example.com", port: 8443, protocol: .https, path: "/api/v1"))
        #expect(try space("imap://mail.example.com") == WebProtectionSpace(host: "mail.example.com", protocol: .imap))
        #expect(full.authenticationType == nil && full.securityDomain == nil)
    }

    @Test func lowersSchemeAndHost() throws {
        #expect(
            try space("HTTPS://EXAMPLE.Com/A") == WebProtectionSpace(host: "example.com", protocol: .https, path: "/A")
        )
    }

    @Test func ignoresUserQueryAndFragment() throws {
        let space = try space("https://bob:hunter2@example.com/a?token=hunter2#hunter2")
        #expect(space == WebProtectionSpace(host: "example.com", protocol: .https, path: "/a"))
        #expect(!"\(space)".contains("hunter2"))
    }

    @Test func dropsAPathThatIsOnlyASlash() throws {
        #expect(try space("https://h/").path == nil)
        #expect(try space("https://h").path == nil)
        #expect(try space("https://h//").path == "//")
        #expect(try space("https://h/a/").path == "/a/")
    }

    @Test func decodesThePath() throws {
        #expect(try space("https://h/caf%C3%A9%20x").path == "/café x")
        let nul = try space("https://h/%00")
        #expect(throws: KeychainError.Code.invalidParameter.error) {
            try Keychain(driver: MemoryDriver()).store("x", query: .credential(for: "bob", space: nul))
        }
    }

    @Test func dropsTheBracketsOfAnAddress() throws {
        #expect(
            try space("https://[2001:DB8::1]:8443/")
                == WebProtectionSpace(host: "2001:db8::1", port: 8443, protocol: .https)
        )
        #expect(try space("ssh://192.0.2.7").host == "192.0.2.7")
    }

    @Test func internationalHostsHaveOneSpelling() throws {
        #expect(try space("https://xn--bcher-kva.example").host == space("https://bücher.example").host)
    }

    @Test(arguments: [
        "mailto:bob@example.com", "/path", "https:///path", "file:///etc/passwd", "example.com", "gopher://h",
        "https://h:65536", "https://h:99999999999999999999/", "https://[::1]:99999999999999999999", "https://h/a/%ff",
    ])
    func refuses(_ text: String) {
        #expect(throws: KeychainError.Code.invalidParameter.error) { try space(text) }
    }

    @Test func aRelativeURLIsResolved() throws {
        let url = try #require(URL(string: "b", relativeTo: URL(string: "https://h/a/")))
        #expect(try WebProtectionSpace(url: url) == WebProtectionSpace(host: "h", protocol: .https, path: "/a/b"))
    }

    @Test func becomesAQuery() throws {
        let space = WebProtectionSpace(
            host: "h",
            port: 1,
            protocol: .ftp,
            authenticationType: .httpDigest,
            path: "/p",
            securityDomain: "r"
        )
        let query = SecItemQuery<InternetPassword>.credential(for: "bob", space: space, synchronizable: true)
        #expect(query.account == "bob" && query.server == "h" && query.port == 1 && query.protocol == .ftp)
        #expect(query.authenticationType == .httpDigest && query.path == "/p" && query.securityDomain == "r")
        #expect(query.synchronizable == .synchronizable)
        #expect(WebProtectionSpace.website("h") == WebProtectionSpace(host: "h"))
    }
}

@Suite struct ItemTypeTests {
    @Test(arguments: [
        "ftp", "http", "irc", "nntp", "pop3", "smtp", "socks", "imap", "ldap", "afp", "telnet", "ssh", "ftps", "https",
        "smb",
        "rtsp", "daap", "eppc", "ipp", "nntps", "ldaps", "telnets", "imaps", "ircs", "pop3s",
    ])
    func schemesGoBothWays(_ scheme: String) throws {
        let type = try #require(ProtocolType(scheme: scheme))
        #expect(type.scheme == scheme)
        #expect(ProtocolType(scheme: scheme.uppercased()) == type)
        #expect(type.rawValue.utf8.count == 4)
        #expect("\(type)" == scheme)
    }

    @Test func aProtocolWithoutASchemeIsItsCode() {
        #expect(ProtocolType.httpsProxy.scheme == nil)
        #expect("\(ProtocolType.httpsProxy)" == "htsx")
        #expect("\(ProtocolType(rawValue: "abcd"))" == "abcd")
        #expect(ProtocolType(scheme: "gopher") == nil)
        #expect(ProtocolType(scheme: "") == nil)
    }

    @Test func fourCharacterCodes() {
        let text = "abcd"
        #expect(FourCharCode(text)?.rawValue == 0x6162_6364)
        #expect(("abcd" as FourCharCode).rawValue == 0x6162_6364)
        #expect("\(FourCharCode(rawValue: 0x6162_6364))" == "abcd")
        #expect("\(FourCharCode(rawValue: 0x0062_6364))" == "0x626364")
        #expect("\(FourCharCode(rawValue: .max))" == "0xffffffff")
        #expect("\("0xff" as FourCharCode)" == "0x30786666", "As 255 is the one that is 0xff.")
        for text in ["", "abc", "abcde", "ab\u{E9}", "a\u{E9}cd", "🔑"] { #expect(FourCharCode(text) == nil) }
    }

    @Test func aFourCharacterCodeFromABadLiteralTraps() async {
        await #expect(processExitsWith: .failure) {
            signal(SIGILL, SIG_DFL)
            signal(SIGTRAP, SIG_DFL)
            _ = "abc" as FourCharCode
        }
    }

    @Test func persistentReferencesAreTwentyBytes() throws {
        let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        let reference = PersistentReference<GenericPassword>(uuid: uuid)
        let bytes =
            Data("genp".utf8)
            + Data([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99] + [0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF])
        #expect(reference.data == bytes)
        #expect(PersistentReference<GenericPassword>(bytes) == reference)
        #expect(PersistentReference<GenericPassword>((Data([1]) + bytes).dropFirst()) == reference)
        #expect(PersistentReference<InternetPassword>(bytes) == nil, "Another class's.")
        #expect(PersistentReference<GenericPassword>(bytes.dropLast()) == nil)
        #expect(PersistentReference<GenericPassword>(bytes + [0]) == nil)
        #expect(PersistentReference<GenericPassword>(Data()) == nil)
        #expect("\(reference)" == uuid.uuidString)
    }

    @Test func datesAreWholeMicroseconds() {
        #expect(ItemDate(Date(timeIntervalSince1970: 1.0000014)).microseconds == 1_000_001)
        #expect(ItemDate(Date(timeIntervalSince1970: -0.5)).microseconds == -500_000)
        #expect(ItemDate(microseconds: 1) < ItemDate(microseconds: 2))
        #expect(ItemDate(.distantFuture).date == .distantFuture)
        #expect(ItemDate(Date(timeIntervalSince1970: 1e300)).microseconds == .max)
        #expect(ItemDate(Date(timeIntervalSince1970: -1e300)).microseconds == .min)
        for microseconds in stride(from: Int64(1_700_000_000_000_000), to: 1_700_000_000_002_000, by: 7) {
            let date = ItemDate(microseconds: microseconds)
            #expect(ItemDate(date.date) == date)
        }
    }

    @Test func synchronizabilityIsALiteral() {
        let values: [Synchronizability] = [true, false]
        #expect(values == [.synchronizable, .local])
        #expect(Synchronizability(true) == .synchronizable)
    }

    @Test func wordsOfKeysAndClasses() {
        #expect("\(KeyClass.private) \(KeyClass.public) \(KeyClass.symmetric)" == "private public symmetric")
        #expect("\(KeyType.rsa) \(KeyType.ecsecPrimeRandom) \(KeyType(rawValue: "9"))" == "RSA EC 9")
        #expect("\(AuthenticationType.htmlForm)" == "form")
        #expect(ItemClass.stored.count == 4 && !ItemClass.stored.contains(.identity))
        #expect(Set(ItemClass.allCases.map(\.description)).count == 5)
    }

    @Test func queriesSetAndClear() {
        var query = SecItemQuery<GenericPassword>()
        #expect(query.isEmpty)
        query.creator = "abcd"
        query.isNegative = true
        query.generic = Data([1])
        #expect(query[.creator] == .integer(0x6162_6364))
        #expect(query.creator == "abcd" && query.isNegative == true && query.generic == Data([1]))
        query.creator = nil
        #expect(query[.creator] == nil && query.creator == nil)
        query[.creator] = .integer(-1)
        #expect(query.creator == nil, "No four-character code.")
        var scoped = SecItemQuery<GenericPassword>()
        scoped.accessGroup = .default
        scoped.synchronizable = .any
        #expect(scoped.isEmpty, "Neither tells one item from another.")
        #expect(!SecItemQuery<GenericPassword>.item(PersistentReference(uuid: UUID())).isEmpty)
    }
}

@Suite struct AccessPolicyTests {
    private func code(_ policy: AccessPolicy) -> KeychainError.Code? {
        do throws(KeychainError) {
            try policy.validate()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatLinuxCannotKeepIsRefused() {
        #expect(code(AccessPolicy(.whenPasscodeSetThisDeviceOnly)) == .unsupported)
        #expect(code(AccessPolicy(.whenUnlocked, options: .privateKeyUsage)) == .unsupported)
        #expect(code(AccessPolicy(.whenUnlocked, options: [.userPresence, .init(rawValue: 1 << 20)])) == .unsupported)
        for accessibility in AccessPolicy.Accessibility.allCases where accessibility != .whenPasscodeSetThisDeviceOnly {
            #expect(code(AccessPolicy(accessibility)) == nil)
        }
    }

    @Test func contradictionsAreRefused() {
        let contradictions: [AccessPolicy.Options] = [
            [.userPresence, .devicePasscode], [.biometryAny, .biometryCurrentSet], [.or], [.and],
            [.biometryAny, .devicePasscode, .or, .and],
        ]
        for options in contradictions {
            #expect(code(AccessPolicy(.whenUnlocked, options: options)) == .invalidParameter)
        }
        for options in [.userPresence, .biometryAny, [.biometryAny, .devicePasscode, .or]] as [AccessPolicy.Options] {
            #expect(code(AccessPolicy(.whenUnlocked, options: options)) == nil)
        }
    }

    @Test func isStoredAndReadBack() throws {
        let keychain = Keychain(driver: MemoryDriver())
        let query = SecItemQuery<GenericPassword>.credential(for: "s")
        let policy = AccessPolicy(.whenUnlockedThisDeviceOnly, options: [.biometryAny, .devicePasscode, .or])
        try keychain.store("x", query: query, accessPolicy: policy)
        let info = try #require(try keychain.info(for: query))
        #expect(info.accessPolicy == policy)
        #expect(!info.attributes.contains { $0.name == .accessible || $0.name == .accessControl })
        #expect(AccessPolicy.default == AccessPolicy(.afterFirstUnlock))
    }

    @Test func namesAreApples() {
        #expect(AccessPolicy.Accessibility.allCases.map(\.rawValue) == ["akpu", "aku", "ak", "cku", "ck"])
        #expect(AccessPolicy.Accessibility.allCases.map(\.isThisDeviceOnly) == [true, true, false, true, false])
        #expect(AccessPolicy.Options.applicationPassword.rawValue == 0x8000_0000)
    }
}
