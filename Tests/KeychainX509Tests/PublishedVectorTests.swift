// SPDX-License-Identifier: MIT
#if X509
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// Keys and results that standards publish, and certificates that are encoded badly.
    @Suite struct PublishedVectorTests {
        private func bytes(_ hexadecimal: String) -> Data {
            let digits = Array(hexadecimal.filter { !$0.isWhitespace })
            return Data(
                stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16)! }
            )
        }

        /// RFC 6979, A.2.5.
        @Test func theKeyOfDeterministicSignatures() throws {
            let point = bytes(
                """
                04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6
                7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299
                """
            )
            let number = bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
            let key = try CryptoKey(x963Representation: point + number, curve: .p256)
            #expect(key.isPrivate)
            #expect(try key.publicKey.externalRepresentation == SecureBytes(point))
            // The same number with another point is no key.
            var other = point + number
            other[other.endIndex - 1] ^= 1
            #expect(code { _ = try CryptoKey(x963Representation: other, curve: .p256) } == .decode)
        }

        /// RFC 8032, 7.1, test 1.
        @Test func theSignatureOfEd25519() throws {
            let key = try CryptoKey(
                externalRepresentation: SecureBytes(
                    bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
                ),
                descriptor: SecKeyDescriptor(keyType: .ed25519, keyClass: .private),
                sizeInBits: 256
            )
            let half = bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
            #expect(try key.publicKey.externalRepresentation == SecureBytes(half))
            let signature = bytes(
                """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b
                d25bf5f0595bbe24655141438e7a100b
                """
            )
            #expect(try key.signature(for: Data()) == signature)
            #expect(try key.publicKey.isValidSignature(signature, for: Data()))
        }

        /// RFC 7748, 6.1.
        @Test func theSecretOfX25519() throws {
            func key(_ number: String, _ keyClass: KeyClass) throws -> CryptoKey {
                let descriptor = SecKeyDescriptor(keyType: .x25519, keyClass: keyClass)
                return try CryptoKey(
                    externalRepresentation: SecureBytes(bytes(number)),
                    descriptor: descriptor,
                    sizeInBits: 256
                )
            }
            let alice = try key("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a", .private)
            let bob = try key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb", .private)
            #expect(
                try key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a", .public) == alice.publicKey
            )
            #expect(
                try key("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f", .public) == bob.publicKey
            )
            let secret = SecureBytes(bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"))
            #expect(try alice.sharedSecret(with: bob.publicKey) == secret)
            #expect(try bob.sharedSecret(with: alice.publicKey) == secret)
        }

        /// RFC 8410, 10.2: a certificate of an X25519 key, with a default value written out that DER leaves out.
        private static let agreement = """
            MIIBLDCB36ADAgECAghWAUdKKo3DMDAFBgMrZXAwGTEXMBUGA1UEAwwOSUVURiBUZXN0IERlbW8wHhcNMTYwODAxMTIxOTI0WhcNNDAx
            MjMxMjM1OTU5WjAZMRcwFQYDVQQDDA5JRVRGIFRlc3QgRGVtbzAqMAUGAytlbgMhAIUg8AmJMKdUdIt93LQ+91oNvzoNJjga9OukqY6q
            m05qo0UwQzAPBgNVHRMBAf8EBTADAQEAMA4GA1UdDwEBAAQEAwIDCDAgBgNVHQ4BAQAEFgQUmx9e7e0EM4Xk97xiPFl1uQvIuzswBQYD
            K2VwA0EAryMB/t3J5v/BzKc9dNZIpDmAgs3babFOTQbs+BolzlDUwsPrdGxO3YNGhW7Ibz3OGhhlxXrCe1Cgw1AH9efZBw==
            """

        private var agreement: Data {
            get throws { try #require(Data(base64Encoded: Self.agreement, options: .ignoreUnknownCharacters)) }
        }

        @Test func theCertificateOfTheStandardIsReadAndKeptAsItIs() throws {
            let certificate = try Certificate(derRepresentation: agreement)
            #expect(try certificate.derRepresentation == agreement)
            #expect(certificate.commonName == "IETF Test Demo" && certificate.subject == certificate.issuer)
            #expect(try certificate.publicKey.algorithm == .x25519)
            #expect(
                try certificate.publicKey.externalRepresentation
                    == SecureBytes(bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
            )
            #expect(certificate.subjectKeyID == bytes("9b1f5eeded043385e4f7bc623c5975b90bc8bb3b"))
            #expect(certificate.notValidBefore == Date(timeIntervalSince1970: 1_470_053_964))
            #expect(certificate.notValidAfter == Date(timeIntervalSince1970: 2_240_611_199))
        }

        /// How the certificate can be encoded wrongly.
        enum Fault: CaseIterable {
            case indefiniteLength, longLength, trailingBytes, noSignature, negativeSerialNumber, thirteenthMonth,
                cutName
            case invalidUTF8, textWithNUL, unknownVersion
        }

        /// What is encoded wrongly is refused, or is read and kept byte for byte; it is never made into something else.
        @Test(arguments: Fault.allCases) func aBadCertificateIsRefusedOrKeptAsItIs(fault: Fault) throws {
            var der = [UInt8](try agreement)
            func place(_ text: String) throws -> Int {
                try #require(der.indices.first { der[$0...].starts(with: text.utf8) })
            }
            switch fault {
            case .indefiniteLength:
                // BER, which X.509 does not allow.
                der.replaceSubrange(0..<4, with: [0x30, 0x80])
                der += [0, 0]
            case .longLength: der.replaceSubrange(0..<4, with: [0x30, 0x83, 0x00] + der[2..<4])
            case .trailingBytes: der.append(0)
            case .noSignature: der.removeLast(64)
            case .negativeSerialNumber: der[14] = 0xD6
            case .thirteenthMonth: der[try place("160801") + 2] = UInt8(ascii: "9")
            case .cutName: der[try place("IETF") - 1] = 0x7F
            case .invalidUTF8: der[try place("IETF")] = 0xFF
            case .textWithNUL: der[try place("IETF") + 1] = 0
            case .unknownVersion: der[11] = 9
            }
            let certificate: Certificate
            do throws(KeychainError) {
                certificate = try Certificate(derRepresentation: SecureBytes(der))
            } catch {
                #expect(error.code == .decode, "\(error)")
                return
            }
            #expect(certificate.derRepresentation == Data(der))
            #expect([.negativeSerialNumber, .invalidUTF8, .textWithNUL, .unknownVersion].contains(fault), "\(fault)")
            // What can be looked at is: no crash, and nothing made up.
            _ = (certificate.subjectSummary, certificate.emailAddresses, certificate.dnsNames, certificate.serialNumber)
            let keychain = Keychain(driver: MemoryDriver())
            try keychain.store(certificate)
            #expect(try keychain.retrieve(SecItemQuery<SecCertificate>()) == certificate)
        }
    }
#endif
