// SPDX-License-Identifier: MIT
#if X509
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// Certificates that OpenSSL's command makes.
    @Suite struct CertificateTests {
        /// A root, one between and a server, in `root.pem`, `middle.pem`, `server.pem` and `server.key`.
        static func makeChain(_ workshop: Workshop) throws {
            let extensions = """
                [authority]
                basicConstraints = critical,CA:TRUE
                subjectKeyIdentifier = hash
                [server]
                subjectAltName = DNS:example.com,DNS:*.example.org,email:post@example.com
                subjectKeyIdentifier = hash
                authorityKeyIdentifier = keyid
                """
            try workshop.write(Data(extensions.utf8), "extensions")
            let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            try workshop.openssl(
                "req -x509 \(key) -keyout root.key -out root.pem -subj /O=Example/CN=Root -days 3650"
            )
            for (name, issuer, subject, section) in [
                ("middle", "root", "/O=Example/CN=Middle", "authority"),
                (
                    "server", "middle", "/C=DE/O=Example/OU=One/OU=Two/CN=example.com/emailAddress=web@example.com",
                    "server"
                ),
            ] {
                try workshop.openssl("req -new \(key) -keyout \(name).key -out \(name).csr -subj \(subject)")
                try workshop.openssl(
                    "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -set_serial 0x\(name == "server" ? "F00D" : "01") "
                        + "-days 30 -extfile extensions -extensions \(section) -out \(name).pem"
                )
            }
        }

        private func printed(_ workshop: Workshop, _ option: String) throws -> String {
            let text = String(decoding: try workshop.openssl("x509 -in server.pem -noout \(option)"), as: UTF8.self)
            return String(text.trimmingCharacters(in: .whitespacesAndNewlines).drop { $0 != "=" }.dropFirst())
        }

        @Test func whatACertificateSaysIsWhatOthersRead() throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            let certificate = try Certificate(pemRepresentation: workshop.read("server.pem"))
            let der = try workshop.openssl("x509 -in server.pem -outform DER")
            #expect(certificate.derRepresentation == der)
            #expect(try Certificate(derRepresentation: SecureBytes(der)) == certificate)
            #expect(try Certificate(pemRepresentation: Data(certificate.pemRepresentation.utf8)) == certificate)
            #expect(certificate.version == 3)
            // As in DER: with a zero before what would else be negative.
            #expect(certificate.serialNumber == Data([0x00, 0xF0, 0x0D]))
            #expect(try printed(workshop, "-subject -nameopt RFC2253") == certificate.subject.description)
            #expect(try printed(workshop, "-issuer -nameopt RFC2253") == certificate.issuer.description)
            let fingerprint = certificate.fingerprint.map { String(format: "%02X", $0) }.joined(separator: ":")
            #expect(try printed(workshop, "-fingerprint -sha256") == fingerprint)
            #expect(certificate.commonName == "example.com" && certificate.subjectSummary == "example.com")
            #expect(certificate.dnsNames == ["example.com", "*.example.org"])
            #expect(Set(certificate.emailAddresses) == ["web@example.com", "post@example.com"])
            let key = try CryptoKey(pemRepresentation: workshop.read("server.key"))
            #expect(try certificate.publicKey == key.publicKey)
            #expect(certificate.publicKeyHash == key.applicationLabel)
            #expect(certificate.subjectKeyID == key.applicationLabel)
            let middle = try Certificate(pemRepresentation: workshop.read("middle.pem"))
            #expect(certificate.authorityKeyID == middle.subjectKeyID && middle.subjectKeyID != nil)
            #expect(certificate.issuer == middle.subject && certificate.issuer != certificate.subject)
            #expect(certificate.isValid() && !certificate.isValid(at: Date(timeIntervalSinceNow: 31 * 86_400)))
            #expect(!certificate.isValid(at: Date(timeIntervalSinceNow: -86_400)))
            let days = certificate.notValidAfter.timeIntervalSince(certificate.notValidBefore) / 86_400
            #expect(days == 30)
        }

        @Test func namesAreNormalizedAsAppleDoes() throws {
            let workshop = try Workshop()
            // The second is no PrintableString, and stays as it is.
            try workshop.openssl(
                "req -x509 -newkey ed25519 -nodes -keyout key.pem -out one.pem -subj /C=de/O=\u{c4}pfel\u{a0}und/CN=a -utf8"
            )
            let certificate = try Certificate(pemRepresentation: workshop.read("one.pem"))
            let normalized = certificate.subject.normalizedDERRepresentation
            #expect(normalized.contains(Data("DE".utf8)) && !normalized.contains(Data("de".utf8)))
            #expect(normalized.contains(Data("\u{c4}pfel".utf8)))
            let script = """
                from cryptography import x509
                from cryptography.x509.oid import NameOID
                from cryptography.x509.name import _ASN1Type
                name = x509.Name([
                    x509.NameAttribute(NameOID.COUNTRY_NAME, 'DE'),
                    x509.NameAttribute(NameOID.ORGANIZATION_NAME, sys.argv[1], _ASN1Type.PrintableString)])
                sys.stdout.buffer.write(name.public_bytes())
                """
            let wanted = try workshop.python(script, "A FEW WORDS")
            let raw = try workshop.python(script, "  a  Few   words ")
            // The name of a certificate that has exactly these bytes.
            let maker = """
                from cryptography import x509
                from cryptography.x509.oid import NameOID
                from cryptography.x509.name import _ASN1Type
                from cryptography.hazmat.primitives.asymmetric import ec
                import datetime
                key = ec.generate_private_key(ec.SECP256R1())
                name = x509.Name([
                    x509.NameAttribute(NameOID.COUNTRY_NAME, 'DE'),
                    x509.NameAttribute(NameOID.ORGANIZATION_NAME, '  a  Few   words ', _ASN1Type.PrintableString)])
                now = datetime.datetime.utcnow()
                made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(1)) \\
                    .sign(key, hashes.SHA256())
                sys.stdout.buffer.write(made.public_bytes(serialization.Encoding.DER))
                """
            let made = try Certificate(derRepresentation: SecureBytes(workshop.python(maker)))
            #expect(made.subject.derRepresentation == raw)
            #expect(made.subject.normalizedDERRepresentation == wanted)
        }

        @Test func bundlesAreReadInOrder() throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            let names = ["server", "middle", "root"]
            var text = Data("A comment.\n".utf8)
            for name in names { text += try workshop.read("\(name).key") + workshop.read("\(name).pem") }
            let found = try Certificate.bundle(pemRepresentation: text)
            #expect(found.map(\.commonName) == ["example.com", "Middle", "Root"])
            #expect(try Certificate.bundle(pemRepresentation: workshop.read("root.key")).isEmpty)
            // A block that is cut is not left out.
            #expect(code { _ = try Certificate.bundle(pemRepresentation: Data(text.dropLast(40))) } == .decode)
        }

        @Test func whatIsNoCertificateIsRefused() throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            let der = try Certificate(pemRepresentation: workshop.read("server.pem")).derRepresentation
            for count in 0..<der.count {
                let cut = SecureBytes(Data(der.prefix(count)))
                #expect(code { _ = try Certificate(derRepresentation: cut) } == .decode, "\(count)")
            }
            #expect(code { _ = try Certificate(derRepresentation: SecureBytes(der + [0])) } == .decode)
            #expect(code { _ = try Certificate(pemRepresentation: workshop.read("server.key")) } == .decode)
        }

        @Test func aChainLeadsToAnAnchorOrNot() throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            func certificate(_ name: String) throws -> Certificate {
                try Certificate(pemRepresentation: workshop.read("\(name).pem"))
            }
            let (root, middle, server) = (try certificate("root"), try certificate("middle"), try certificate("server"))
            #expect(
                try server.verification(anchors: [root], intermediates: [middle]) == .trusted([server, middle, root])
            )
            #expect(try !server.verification(anchors: [root]).isTrusted)
            #expect(try !server.verification(anchors: [], intermediates: [middle, root]).isTrusted)
            #expect(try !server.verification(anchors: [middle]).isTrusted)
            for (host, isRight) in [("example.com", true), ("www.example.org", true), ("example.net", false)] {
                let found = try server.verification(anchors: [root], intermediates: [middle], host: host)
                #expect(found.isTrusted == isRight, "\(host)")
            }
            let later = try server.verification(
                anchors: [root],
                intermediates: [middle],
                at: Date(timeIntervalSinceNow: 40 * 86_400)
            )
            guard case .untrusted(let reason, let culprit) = later else {
                Issue.record("An expired certificate is trusted")
                return
            }
            #expect(reason.contains("expired") && culprit != nil)
            // A signature that was tampered with.
            var der = server.derRepresentation
            der[der.count - 1] ^= 1
            let forged = try Certificate(derRepresentation: SecureBytes(der))
            #expect(try !forged.verification(anchors: [root], intermediates: [middle]).isTrusted)
        }

        // MARK: Items

        @Test func aCertificateIsStoredWithWhatItSays() throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            let keychain = Keychain(driver: MemoryDriver())
            let server = try Certificate(pemRepresentation: workshop.read("server.pem"))
            try keychain.store(server)
            let query = SecItemQuery<SecCertificate>.certificate(for: "example.com")
            let info = try #require(try keychain.info(for: query))
            #expect(info.certificateType == 3 && info.certificateEncoding == 3)
            #expect(info.serialNumber == server.serialNumber && info.publicKeyHash == server.publicKeyHash)
            #expect(info.subjectKeyID == server.subjectKeyID)
            // Apple keeps the content of the sequence, without its header.
            let content = try #require(info.issuer)
            #expect(server.issuer.normalizedDERRepresentation.suffix(content.count) == content)
            #expect(server.issuer.normalizedDERRepresentation.count == content.count + 2)
            #expect(try keychain.retrieve(query) == server)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store(server, query: .certificate(for: "x")) }
            // The one between is found in the store; being there makes none trusted.
            try keychain.store(try Certificate(pemRepresentation: workshop.read("middle.pem")))
            let root = try Certificate(pemRepresentation: workshop.read("root.pem"))
            #expect(try keychain.verification(of: server, anchors: [root], host: "example.com").isTrusted)
            #expect(try !keychain.verification(of: server, anchors: []).isTrusted)
            try keychain.store("no certificate", query: .certificate(for: "text"))
            #expect(code { _ = try keychain.retrieve(.certificate(for: "text")) as Certificate? } == .decode)
            #expect(try keychain.verification(of: server, anchors: [root]).isTrusted)
        }

        @Test func theAsynchronousFormsDoTheSame() async throws {
            let workshop = try Workshop()
            try Self.makeChain(workshop)
            let keychain = Keychain(driver: MemoryDriver())
            let (server, root) = (
                try Certificate(pemRepresentation: workshop.read("server.pem")),
                try Certificate(pemRepresentation: workshop.read("root.pem"))
            )
            try await keychain.store(server)
            try await keychain.store(try Certificate(pemRepresentation: workshop.read("middle.pem")))
            #expect(try await keychain.retrieve(.certificate(for: "example.com")) == server)
            #expect(try await keychain.verification(of: server, anchors: [root]).isTrusted)
        }
    }
#endif
