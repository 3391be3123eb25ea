// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// Input that is almost right, or not at all.
    ///
    /// It ends in an error of ours or in a value that can be used, and never in a crash. Under the address sanitizer this
    /// is where what OpenSSL is given is looked at.
    @Suite struct MutationTests {
        /// What reads input from outside.
        enum Entry: CaseIterable {
            case key, encryptedKey, keyText, certificate, certificateText, file

            func read(_ data: Data) throws {
                let passphrase = SecureBytes(Data("pw".utf8))
                switch self {
                case .key, .encryptedKey:
                    let key = try CryptoKey(derRepresentation: data, passphrase: passphrase)
                    _ = try (key.derRepresentation, key.externalRepresentation, key.applicationLabel, key.publicKey)
                case .keyText: _ = try CryptoKey(pemRepresentation: data, passphrase: passphrase).publicKey
                case .certificate: look(try Certificate(derRepresentation: SecureBytes(data)))
                case .certificateText: try Certificate.bundle(pemRepresentation: data).forEach(look)
                case .file: try PKCS12.import(data, passphrase: passphrase).flatMap(\.certificateChain).forEach(look)
                }
            }

            private func look(_ certificate: Certificate) {
                _ = (certificate.description, certificate.serialNumber, certificate.version, certificate.fingerprint)
                _ = (certificate.dnsNames, certificate.emailAddresses, certificate.subject.description)
                _ = (certificate.subjectKeyID, certificate.authorityKeyID, certificate.publicKeyHash)
                _ = (try? certificate.publicKey, certificate.issuer.normalizedDERRepresentation)
            }
        }

        @Test(arguments: Entry.allCases) func damagedInputIsRefusedOrRead(entry: Entry) throws {
            let workshop = try Workshop()
            try CertificateTests.makeChain(workshop)
            var seeds: [Data] = []
            switch entry {
            case .key:
                for algorithm in CryptoKeyTests.algorithms {
                    let key = try CryptoKey.generate(algorithm)
                    for one in [key, key.publicKey] {
                        seeds.append(try Data(one.derRepresentation))
                        seeds.append(try Data(one.externalRepresentation))
                    }
                }
            case .encryptedKey:
                for way in ["-iter 1", "-v2 des3 -iter 2", "-v1 PBE-SHA1-3DES -iter 3"] {
                    let options = "-topk8 -in server.key -passout pass:pw -outform DER -out key.der"
                    try workshop.openssl("pkcs8 \(options) \(way)")
                    seeds.append(try workshop.read("key.der"))
                }
            case .keyText: seeds = [try workshop.read("server.key")]
            case .certificate:
                seeds = [try Certificate(pemRepresentation: workshop.read("server.pem")).derRepresentation]
            case .certificateText: seeds = [try workshop.read("server.pem") + workshop.read("root.pem")]
            case .file:
                let options = "-export -in server.pem -inkey server.key -certfile root.pem -passout pass:pw -iter 1"
                for way in ["-nomac", "-maciter", "-nomac -keypbe NONE -certpbe NONE", "-legacy -nomac"] {
                    seeds.append(try workshop.openssl("pkcs12 \(options) \(way)"))
                }
            }
            var random = SystemRandomNumberGenerator()
            var accepted = 0
            for round in 0..<3_000 {
                var data = seeds[round % seeds.count]
                for _ in 0..<Int.random(in: 1...4, using: &random) { Self.mutate(&data, &random) }
                do {
                    try entry.read(data)
                    accepted += 1
                } catch let error as KeychainError {
                    let codes: [KeychainError.Code] = [.decode, .unsupported, .authenticationFailed]
                    #expect(codes.contains(error.code), "\(error) for \(data.base64EncodedString())")
                }
            }
            // Else the mutations are too coarse to get anywhere. What is encrypted is hardly ever damaged and read.
            if [.key, .certificate, .certificateText].contains(entry) { #expect(accepted > 0) }
            for seed in seeds where entry != .key { #expect(throws: Never.self) { try entry.read(seed) } }
        }

        private static func mutate(_ data: inout Data, _ random: inout SystemRandomNumberGenerator) {
            guard let index = data.indices.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: data[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: data[index] = UInt8.random(in: 0...255, using: &random)
            case 2: data.insert(UInt8.random(in: 0...255, using: &random), at: index)
            case 3: data.remove(at: index)
            case 4: data[index] = [0x00, 0x7F, 0x80, 0x81, 0x84, 0xFF].randomElement(using: &random) ?? 0
            default:
                let end = data.index(index, offsetBy: min(8, data.endIndex - index))
                data.replaceSubrange(index..<end, with: data[data.startIndex..<data.startIndex + (end - index)])
            }
        }
    }
#endif
