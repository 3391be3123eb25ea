// SPDX-License-Identifier: MIT
#if X509
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// Stands for an application's own type.
    private struct StubIdentity: SecIdentityConvertible {
        var certificate: Certificate
        var privateKey: P256Stub.PrivateKey
    }

    /// Certificates with their private keys, in stores and in PKCS#12 files.
    @Suite struct IdentityTests {
        private let workshop: Workshop
        private let identity: DigitalIdentity
        private let chain: [Certificate]
        private let passphrase = SecureBytes(Data("pw".utf8))

        init() throws {
            let workshop = try Workshop()
            self.workshop = workshop
            try CertificateTests.makeChain(workshop)
            identity = try DigitalIdentity(
                certificate: Certificate(pemRepresentation: workshop.read("server.pem")),
                privateKey: CryptoKey(pemRepresentation: workshop.read("server.key"))
            )
            chain = try ["middle", "root"].map { try Certificate(pemRepresentation: workshop.read("\($0).pem")) }
        }

        @Test func onlyWhatBelongsTogetherIsAnIdentity() throws {
            let other = try CryptoKey.generate(.p256)
            #expect(code { _ = try DigitalIdentity(certificate: chain[0], privateKey: other) } == .invalidParameter)
            let half = identity.privateKey.publicKey
            #expect(
                code { _ = try DigitalIdentity(certificate: identity.certificate, privateKey: half) }
                    == .invalidParameter
            )
        }

        @Test func anIdentityIsItsTwoParts() throws {
            let keychain = Keychain(driver: MemoryDriver())
            var query = SecItemQuery<SecIdentity>.identity(for: "web")
            query.applicationTag = Data("tag".utf8)
            try keychain.store(identity, query: query)
            #expect(try keychain.retrieve(.identity(for: "web")) as DigitalIdentity? == identity)
            #expect(try keychain.retrieve(.certificate(for: "web")) == identity.certificate)
            #expect(try keychain.retrieve(.key(for: "tag")) == identity.privateKey)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store(identity, query: query) }
            // One part is there: the other one is added.
            try keychain.remove(SecItemQuery<SecKey>.key(for: "tag"))
            #expect(try keychain.retrieve(SecItemQuery<SecIdentity>()) as DigitalIdentity? == nil)
            try keychain.store(identity, query: query)
            #expect(try keychain.retrieve(SecItemQuery<SecIdentity>()) as DigitalIdentity? == identity)
            try keychain.store(identity, query: query, ifExists: .replace)
            #expect(try keychain.infoAll(for: SecItemQuery<SecIdentity>()).count == 1)
            #expect(try keychain.remove(query))
            #expect(
                try !keychain.contains(SecItemQuery<SecKey>()) && !keychain.contains(SecItemQuery<SecCertificate>())
            )
        }

        @Test func theAsynchronousFormsDoTheSame() async throws {
            let keychain = Keychain(driver: MemoryDriver())
            try await keychain.store(identity)
            #expect(try await keychain.retrieve(SecItemQuery<SecIdentity>()) as DigitalIdentity? == identity)
            await #expect(throws: KeychainError.duplicateItem) { try await keychain.store(identity) }
        }

        @Test func typesOfOtherLibrariesAreIdentities() throws {
            let keychain = Keychain(driver: MemoryDriver())
            let key = try P256Stub.PrivateKey(
                derRepresentation: identity.privateKey.derRepresentation.rawRepresentation
            )
            let one = StubIdentity(certificate: identity.certificate, privateKey: key)
            try keychain.store(one, query: .identity(for: "web"))
            let found: StubIdentity? = try keychain.retrieve(.identity(for: "web"))
            #expect(found?.certificate == identity.certificate)
            #expect(found?.privateKey.derRepresentation == key.derRepresentation)
            #expect(try keychain.retrieve(.identity(for: "web")) as DigitalIdentity? == identity)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store(one) }
            let other = StubIdentity(certificate: chain[0], privateKey: key)
            #expect(code { try keychain.store(other) } == .invalidParameter)
            try keychain.remove(SecItemQuery<SecIdentity>.identity(for: "web"))
            let none: StubIdentity? = try keychain.retrieve(SecItemQuery<SecIdentity>())
            #expect(none == nil)
            // An identity with a key of another type than its own.
            let rsa = try workshop.openssl("req -x509 -newkey rsa:2048 -nodes -keyout rsa.key -subj /CN=RSA -days 9")
            let rsaIdentity = try DigitalIdentity(
                certificate: Certificate(pemRepresentation: rsa),
                privateKey: CryptoKey(pemRepresentation: workshop.read("rsa.key"))
            )
            try keychain.store(rsaIdentity)
            #expect(code { _ = try keychain.retrieve(SecItemQuery<SecIdentity>()) as StubIdentity? } == .decode)
        }

        @Test func typesOfOtherLibrariesAreIdentitiesAsynchronously() async throws {
            let keychain = Keychain(driver: MemoryDriver())
            let key = try P256Stub.PrivateKey(
                derRepresentation: identity.privateKey.derRepresentation.rawRepresentation
            )
            try await keychain.store(StubIdentity(certificate: identity.certificate, privateKey: key))
            let found: StubIdentity? = try await keychain.retrieve(SecItemQuery<SecIdentity>())
            #expect(found?.privateKey.derRepresentation == key.derRepresentation)
        }

        @Test func aKeyThatCannotBeStoredTakesItsCertificateBack() throws {
            let keychain = Keychain(driver: MemoryDriver())
            var query = SecItemQuery<SecIdentity>()
            query.keyType = .rsa
            #expect(code { try keychain.store(identity, query: query) } == .invalidParameter)
            #expect(try !keychain.contains(SecItemQuery<SecCertificate>()))
        }

        @Test func twoCertificatesOverOneKey() throws {
            let keychain = Keychain(driver: MemoryDriver())
            try workshop.openssl("req -x509 -key server.key -subj /CN=second -days 2 -out second.pem")
            let second = try DigitalIdentity(
                certificate: Certificate(pemRepresentation: workshop.read("second.pem")),
                privateKey: identity.privateKey
            )
            try keychain.store(identity, query: .identity(for: "first"))
            try keychain.store(second, query: .identity(for: "second"))
            #expect(try keychain.infoAll(for: SecItemQuery<SecKey>()).count == 1)
            #expect(try keychain.retrieve(.identity(for: "second")) as DigitalIdentity? == second)
            try keychain.remove(SecItemQuery<SecIdentity>.identity(for: "first"))
            #expect(try keychain.retrieve(SecItemQuery<SecIdentity>()) as DigitalIdentity? == second)
        }

        // MARK: PKCS#12

        private func makeFile(_ options: String, passphrase: String = "pw") throws -> Data {
            try workshop.write(workshop.read("middle.pem") + workshop.read("root.pem"), "chain.pem")
            return try workshop.openssl("pkcs12 -export -passout pass:\(passphrase) \(options)")
        }

        private static let whole = "-in server.pem -inkey server.key -certfile chain.pem -name label"

        @Test(arguments: [
            "", "-legacy", "-descert -legacy", "-keypbe NONE -certpbe NONE", "-nomac",
            "-keypbe AES-128-CBC -certpbe AES-192-CBC -macalg sha512", "-iter 1 -maciter", "-macalg sha1",
        ])
        func filesOfOthersAreRead(options: String) throws {
            let file = try makeFile("\(Self.whole) \(options)")
            let parts = try PKCS12.import(file, passphrase: passphrase)
            #expect(parts.count == 1)
            #expect(parts[0].identity == identity && parts[0].label == "label" && parts[0].keyID?.count == 20)
            #expect(parts[0].certificateChain == [identity.certificate] + chain)
        }

        @Test func aFileWithoutAPassphrase() throws {
            let file = try makeFile(Self.whole, passphrase: "")
            for none in [nil, SecureBytes(Data())] {
                #expect(try PKCS12.import(file, passphrase: none).first?.identity == identity)
            }
            #expect(code { _ = try PKCS12.import(file, passphrase: passphrase) } == .authenticationFailed)
        }

        @Test func whatIsWrongIsToldApart() throws {
            let file = try makeFile(Self.whole)
            let wrong = SecureBytes(Data("wrong".utf8))
            for other in [nil, SecureBytes(Data()), wrong, SecureBytes(Data("pw\0".utf8))] {
                #expect(code { _ = try PKCS12.import(file, passphrase: other) } == .authenticationFailed)
            }
            for count in stride(from: 0, to: file.count, by: 7) {
                #expect(code { _ = try PKCS12.import(Data(file.prefix(count)), passphrase: passphrase) } == .decode)
            }
            #expect(code { _ = try PKCS12.import(file + [0], passphrase: passphrase) } == .decode)
            let unsigned = try makeFile("\(Self.whole) -nomac")
            #expect(code { _ = try PKCS12.import(unsigned, passphrase: wrong) } == .authenticationFailed)
            var damaged = file
            damaged[file.count / 2] ^= 1
            #expect(
                [.authenticationFailed, .decode].contains(
                    code { _ = try PKCS12.import(damaged, passphrase: passphrase) }
                )
            )
            let certificates = try makeFile("-in chain.pem -nokeys")
            let parts = try PKCS12.import(certificates, passphrase: passphrase)
            #expect(parts.compactMap(\.certificateChain.first) == chain && parts.allSatisfy { $0.identity == nil })
            let key = try makeFile("-inkey server.key -nocerts -in server.key")
            let alone = try PKCS12.import(key, passphrase: passphrase)
            #expect(alone.count == 1 && alone[0].privateKey == identity.privateKey && alone[0].identity == nil)
        }

        /// Someone who sends a file must not decide how long we are busy.
        @Test func aFileThatWouldTakeHoursIsRefused() throws {
            let iterations = Data([0x02, 0x03, 0x0F, 0x42, 0x40])
            let file = try makeFile("\(Self.whole) -iter 1000000")
            let places = file.indices.filter { file[$0...].starts(with: iterations) }
            #expect(places.count == 3, "The signature, the certificates and the key")
            let start = ContinuousClock.now
            var hostile = file
            hostile.replaceSubrange(places[2]..<(places[2] + 5), with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
            #expect(code { _ = try PKCS12.import(hostile, passphrase: passphrase) } == .unsupported)
            #expect(ContinuousClock.now - start < .seconds(1))
            let unsigned = try makeFile("\(Self.whole) -iter 1000000 -nomac")
            for place in unsigned.indices.filter({ unsigned[$0...].starts(with: iterations) }) {
                var hostile = unsigned
                hostile.replaceSubrange(place..<(place + 5), with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
                #expect(code { _ = try PKCS12.import(hostile, passphrase: passphrase) } == .unsupported)
            }
        }

        @Test func whatWeExportOthersRead() throws {
            let file = try PKCS12.export(identity, passphrase: passphrase, chain: chain, label: "mine")
            let parts = try PKCS12.import(file, passphrase: passphrase)
            #expect(parts.count == 1 && parts[0].identity == identity && parts[0].label == "mine")
            #expect(parts[0].certificateChain == [identity.certificate] + chain)
            try workshop.write(file, "ours.p12")
            let text = try workshop.openssl("pkcs12 -in ours.p12 -passin pass:pw -nodes")
            #expect(try CryptoKey(pemRepresentation: text) == identity.privateKey)
            #expect(try Set(Certificate.bundle(pemRepresentation: text)) == Set([identity.certificate] + chain))
            let script = """
                from cryptography.hazmat.primitives.serialization import pkcs12
                key, certificate, others = pkcs12.load_key_and_certificates(open('ours.p12', 'rb').read(), b'pw')
                print(certificate.subject.rfc4514_string(), len(others))
                """
            #expect(String(decoding: try workshop.python(script), as: UTF8.self).hasSuffix("2\n"))
            let info = String(
                decoding: try workshop.openssl("pkcs12 -in ours.p12 -passin pass:pw -info -noout -nokeys -nocerts"),
                as: UTF8.self
            )
            #expect(!info.contains("RC2"))
            for empty in [Data(), Data("a\0b".utf8)] {
                #expect(code { _ = try PKCS12.export(identity, passphrase: SecureBytes(empty)) } == .invalidParameter)
            }
        }
    }
#endif
