// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import KeychainAPI
    import KeychainAuthentication
    import KeychainConformance
    import KeychainX509
    import SecretServiceFixture
    import Testing

    /// Keys, certificates and identities come back as what they were from every store, and survive it.
    @Suite("Keys and certificates", .serialized) struct CryptographicConformance {
        /// A store to try them in.
        enum Store: String, CaseIterable {
            case memory
            #if File
                case file
            #endif
            #if SecretService
                case gnomeKeyring, keePassXC, kWallet, pass
            #endif

            func harness() -> any ConformanceHarness {
                switch self {
                case .memory: MemoryHarness()
                #if File
                    case .file: FileHarness(secret: .key)
                #endif
                #if SecretService
                    case .gnomeKeyring: SecretServiceHarness(server: SharedServer { try PrivateKeyring.start() })
                    case .keePassXC: SecretServiceHarness(server: SharedServer { try PrivateKeePassXC.start() })
                    case .kWallet: SecretServiceHarness(server: SharedServer { try PrivateKWallet.start() })
                    case .pass: SecretServiceHarness(server: SharedServer { try PrivatePass.start() })
                #endif
                }
            }
        }

        @Test(arguments: Store.allCases) func keysComeBack(store: Store) async throws {
            try await using(store) { keychain, reopened in
                let algorithms: [KeyAlgorithm] = [
                    .p256, .p384, .p521, .rsa(bits: 1024), .rsa(bits: 2048), .ed25519, .x25519,
                ]
                for algorithm in algorithms {
                    let key = try CryptoKey.generate(algorithm)
                    for one in [key, key.publicKey] {
                        let query = SecItemQuery<SecKey>.key(for: "\(algorithm)", descriptor: one.descriptor)
                        try await keychain.store(one, query: query)
                        let found: CryptoKey? = try await reopened.retrieve(query)
                        #expect(found == one, "\(one)")
                        await #expect(throws: KeychainError.duplicateItem) {
                            try await keychain.store(one, query: query)
                        }
                    }
                }
                // A second key under one tag, and the first one still comes first.
                let query = SecItemQuery<SecKey>.key(for: "P-256")
                let first: CryptoKey? = try await keychain.retrieve(query)
                try await keychain.store(CryptoKey.generate(.p256), query: query)
                let again: CryptoKey? = try await reopened.retrieve(query)
                #expect(again == first)
                let count = try await reopened.infoAll(for: query).count
                #expect(count == 2)
            }
        }

        @Test(arguments: Store.allCases) func identitiesComeBack(store: Store) async throws {
            let identity = try DigitalIdentity(
                certificate: Certificate(pemRepresentation: Data(Self.certificate.utf8)),
                privateKey: CryptoKey(pemRepresentation: Data(Self.key.utf8))
            )
            try await using(store) { keychain, reopened in
                try await keychain.store(identity, query: .identity(for: "server"))
                let found: DigitalIdentity? = try await reopened.retrieve(.identity(for: "server"))
                #expect(found == identity)
                let certificate: Certificate? = try await reopened.retrieve(.certificate(for: "server"))
                #expect(certificate == identity.certificate)
                let info = try await reopened.info(for: SecItemQuery<SecIdentity>())
                #expect(info?.applicationLabel == info?.publicKeyHash && info?.publicKeyHash?.count == 20)
                #expect(info?.serialNumber == Data([0x7F]) && info?.keyClass == .private)
                await #expect(throws: KeychainError.duplicateItem) { try await keychain.store(identity) }
                try await keychain.remove(SecItemQuery<SecIdentity>.identity(for: "server"))
                let isThere = try await reopened.contains(SecItemQuery<SecKey>())
                #expect(!isThere)
            }
        }

        #if File
            /// What a password of its own seals opens again on every store, with that password alone.
            @Test(arguments: Store.allCases) func applicationPasswordsOpenWhatTheySealed(store: Store) async throws {
                let policy = AccessPolicy(.whenUnlocked, options: .applicationPassword)
                let query = SecItemQuery<GenericPassword>.credential(for: "sealed")
                try await using(store) { keychain, reopened in
                    for value in [Data(), Data("s3cret".utf8), Data([0, 0xFF, 0x0A])] {
                        let password = try Argon2Password("correct horse")
                        try await keychain.with { $0.applicationPassword = password }
                            .store(value, query: query, accessPolicy: policy, ifExists: .replace)
                        let again = try Argon2Password("correct horse")
                        let found: Data? = try await reopened.with { $0.applicationPassword = again }.retrieve(query)
                        #expect(found == value)
                        let wrong = try Argon2Password("wrong")
                        let refused = await #expect(throws: KeychainError.self) {
                            try await reopened.with { $0.applicationPassword = wrong }.retrieve(query) as Data?
                        }
                        #expect(refused?.code == .authenticationFailed)
                        let missing = await #expect(throws: KeychainError.self) {
                            try await reopened.retrieve(query) as Data?
                        }
                        #expect(missing?.code == .interactionNotAllowed)
                    }
                }
            }
        #endif

        /// What `returning` gives and `matching` takes, as SwiftSecurity's own tests have it.
        @Test(arguments: Store.allCases) func referencesLeadBack(store: Store) async throws {
            let key = try CryptoKey(pemRepresentation: Data(Self.key.utf8))
            let certificate = try Certificate(pemRepresentation: Data(Self.certificate.utf8))
            let secret = try AESKey.generate(bits: 192)
            try await using(store) { keychain, reopened in
                let keyQuery = SecItemQuery<SecKey>.key(for: "tag")
                try await Self.check(
                    keychain.store(key, returning: .persistentReference, query: keyQuery),
                    keyQuery,
                    Data(key.externalRepresentation.rawRepresentation),
                    reopened
                )
                let certificateQuery = SecItemQuery<SecCertificate>.certificate(for: "server")
                try await Self.check(
                    keychain.store(certificate, returning: .persistentReference, query: certificateQuery),
                    certificateQuery,
                    certificate.derRepresentation,
                    reopened
                )
                let secretQuery = SecItemQuery<SecKey>.key(for: "secret", descriptor: .aesKey)
                try await keychain.store(secret, query: secretQuery)
                let info = try await reopened.info(for: secretQuery)
                #expect(info?.keySizeInBits == 192 && info?.keyClass == .symmetric && info?.canEncrypt == true)
                try await Self.check(
                    reopened.retrieve(.persistentReference, query: secretQuery),
                    secretQuery,
                    secret.rawRepresentation,
                    reopened
                )
            }
        }

        private static func check<Item: SecItem>(
            _ reference: SecValue<Item>?,
            _ query: SecItemQuery<Item>,
            _ value: Data,
            _ keychain: Keychain
        ) async throws {
            let reference = try #require(reference)
            guard case .persistentReference = reference else {
                Issue.record("instead of a reference: \(reference)")
                return
            }
            let data = try await keychain.retrieve(.data, matching: reference)
            #expect(data == .data(value))
            let both = try await keychain.retrieve([.data, .info], matching: reference)
            guard case .dictionary(let info)? = both else {
                Issue.record("instead of attributes: \(String(describing: both))")
                return
            }
            #expect(info.data == value)
            let again = try await keychain.retrieve(.persistentReference, query: query)
            #expect(again == reference)
            let nothing = try await keychain.retrieve([], matching: reference)
            #expect(nothing == nil)
            for other in [SecValue<Item>.data(value), .dictionary(info)] {
                let retrieving = await #expect(throws: KeychainError.self) {
                    _ = try await keychain.retrieve(.data, matching: other)
                }
                let removing = await #expect(throws: KeychainError.self) {
                    try await keychain.remove(matching: other)
                }
                #expect(retrieving?.code == .invalidParameter && removing?.code == .invalidParameter)
            }
            let isRemoved = try await keychain.remove(matching: reference)
            let isRemovedAgain = try await keychain.remove(matching: reference)
            let rest = try await keychain.retrieve(.data, matching: reference)
            #expect(isRemoved && !isRemovedAgain && rest == nil)
        }

        private func using(
            _ store: Store,
            _ body: (_ keychain: Keychain, _ reopened: Keychain) async throws -> Void
        ) async throws {
            let harness = store.harness()
            let keychain = try await harness.makeKeychain()
            try await body(keychain, harness.reopen(keychain))
            try await harness.discard(keychain)
        }

        private static let key = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWq6w5BsnHm6k7gIv
            t1WVXo1fZOj++j9LjmwhtXf9fb6hRANCAARQajZI5cFyJxhWPfF6jcCA1kcw4Nzt
            1E+/pi5bR1++B0tQWYcLF+yvbjCYu7JPxOg6RUCJfTtKqf3YsruSWbMd
            -----END PRIVATE KEY-----
            """

        private static let certificate = """
            -----BEGIN CERTIFICATE-----
            MIIBozCCAUqgAwIBAgIBfzAKBggqhkjOPQQDAjAwMRAwDgYDVQQKDAdFeGFtcGxl
            MRwwGgYDVQQDDBNjb25mb3JtYW5jZS5leGFtcGxlMCAXDTI2MTEzMDIwNTMyNloY
            DzIxMjYxMTA2MjA1MzI2WjAwMRAwDgYDVQQKDAdFeGFtcGxlMRwwGgYDVQQDDBNj
            b25mb3JtYW5jZS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEUGo2
            SOXBcicYVj3xeo3AgNZHMODc7dRPv6YuW0dfvgdLUFmHCxfsr24wmLuyT8ToOkVA
            iX07Sqn92LK7klmzHaNTMFEwHQYDVR0OBBYEFPQLU8t0MNw5NC6x0gbyWIKJcKdj
            MB8GA1UdIwQYMBaAFPQLU8t0MNw5NC6x0gbyWIKJcKdjMA8GA1UdEwEB/wQFMAMB
            Af8wCgYIKoZIzj0EAwIDRwAwRAIgc1Gnc9Egkqmf9MH0eWgzGvC8NsPanKgnH79M
            HA44+acCIBvHlr3tmglpal7yA3dHXWPwDyhFSF/UEcjJf/cTysQ7
            -----END CERTIFICATE-----
            """
    }
#endif
