// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import KeychainAPI
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
