// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import KeychainAPI
    import Testing

    @testable import KeychainX509

    /// Keys in all of their forms, made and read by OpenSSL's command and by Python's cryptography as well.
    @Suite struct CryptoKeyTests {
        static let algorithms: [KeyAlgorithm] = [
            .p256, .p384, .p521, .rsa(bits: 1024), .rsa(bits: 2048), .ed25519, .x25519,
        ]

        /// How the command makes a key of an algorithm.
        static func recipe(_ algorithm: KeyAlgorithm) -> String {
            switch algorithm {
            case .ec(let curve): "-algorithm EC -pkeyopt ec_paramgen_curve:\(curve.rawValue)"
            case .rsa(let bits): "-algorithm RSA -pkeyopt rsa_keygen_bits:\(bits)"
            case .ed25519: "-algorithm ED25519"
            case .x25519: "-algorithm X25519"
            }
        }

        @Test(arguments: algorithms) func everyFormComesBack(algorithm: KeyAlgorithm) throws {
            let key = try CryptoKey.generate(algorithm)
            #expect(key.isPrivate && key.algorithm == algorithm)
            let publicKey = key.publicKey
            #expect(!publicKey.isPrivate && publicKey != key && publicKey.publicKey == publicKey)
            #expect(publicKey.applicationLabel == key.applicationLabel && key.applicationLabel.count == 20)
            for one in [key, publicKey] {
                #expect(try CryptoKey(derRepresentation: one.derRepresentation) == one)
                #expect(try CryptoKey(pemRepresentation: one.pemRepresentation) == one)
                let external = try CryptoKey(
                    externalRepresentation: one.externalRepresentation,
                    descriptor: one.descriptor,
                    sizeInBits: algorithm.sizeInBits
                )
                #expect(external == one)
            }
            let passphrase = SecureBytes(Data("correct horse".utf8))
            let encrypted = try key.encryptedDERRepresentation(passphrase: passphrase)
            #expect(try CryptoKey(derRepresentation: encrypted, passphrase: passphrase) == key)
            let wrong = SecureBytes(Data("wrong".utf8))
            #expect(
                code { _ = try CryptoKey(derRepresentation: encrypted, passphrase: wrong) } == .authenticationFailed
            )
            #expect(code { _ = try CryptoKey(derRepresentation: encrypted) } == .authenticationFailed)
            let text = try key.encryptedPEMRepresentation(passphrase: passphrase)
            #expect(try CryptoKey(pemRepresentation: text, passphrase: passphrase) == key)
            #expect(code { _ = try publicKey.encryptedDERRepresentation(passphrase: passphrase) } == .invalidParameter)
        }

        @Test(arguments: algorithms) func whatOthersMakeIsRead(algorithm: KeyAlgorithm) throws {
            let workshop = try Workshop()
            try workshop.openssl("genpkey \(Self.recipe(algorithm)) -out key.pem")
            let key = try CryptoKey(pemRepresentation: workshop.read("key.pem"))
            #expect(key.isPrivate && key.algorithm == algorithm)
            try workshop.openssl("pkey -in key.pem -outform DER -out key.der")
            try workshop.openssl("pkey -in key.pem -pubout -outform DER -out public.der")
            try workshop.openssl("pkey -in key.pem -pubout -out public.pem")
            #expect(try CryptoKey(derRepresentation: workshop.read("key.der")) == key)
            #expect(try CryptoKey(derRepresentation: workshop.read("public.der")) == key.publicKey)
            #expect(try CryptoKey(pemRepresentation: workshop.read("public.pem")) == key.publicKey)
            #expect(try Data(key.publicKey.derRepresentation) == workshop.read("public.der"))
            let ways = ["-v2 aes-256-cbc -v2prf hmacWithSHA512", "-v2 des3", "-scrypt", "-v1 PBE-SHA1-3DES"]
            for way in ways {
                try workshop.openssl("pkcs8 -topk8 -in key.pem -passout pass:pw \(way) -outform DER -out secret.der")
                let passphrase = SecureBytes(Data("pw".utf8))
                #expect(
                    try CryptoKey(derRepresentation: workshop.read("secret.der"), passphrase: passphrase) == key,
                    "\(way)"
                )
            }
            switch algorithm {
            case .ec, .rsa:
                try workshop.openssl("pkey -in key.pem -traditional -out old.pem")
                #expect(try CryptoKey(pemRepresentation: workshop.read("old.pem")) == key)
                try workshop.openssl("pkey -in key.pem -traditional -outform DER -out old.der")
                #expect(try CryptoKey(derRepresentation: workshop.read("old.der")) == key)
            case .ed25519, .x25519: break
            }
            if case .rsa = algorithm {
                try workshop.openssl("rsa -in key.pem -RSAPublicKey_out -outform DER -out old-public.der")
                #expect(try CryptoKey(derRepresentation: workshop.read("old-public.der")) == key.publicKey)
                #expect(try Data(key.publicKey.externalRepresentation) == workshop.read("old-public.der"))
            }
        }

        @Test(arguments: algorithms) func whatWeMakeOthersRead(algorithm: KeyAlgorithm) throws {
            let workshop = try Workshop()
            let key = try CryptoKey.generate(algorithm)
            try workshop.write(key.pemRepresentation, "key.pem")
            let publicKey = try Data(key.publicKey.derRepresentation)
            #expect(try workshop.openssl("pkey -in key.pem -pubout -outform DER") == publicKey)
            try workshop.write(key.encryptedDERRepresentation(passphrase: SecureBytes(Data("pw".utf8))), "secret.der")
            #expect(
                try workshop.openssl("pkey -inform DER -in secret.der -passin pass:pw -pubout -outform DER")
                    == publicKey
            )
            let script = """
                key = serialization.load_der_private_key(open(sys.argv[1], 'rb').read(), b'pw')
                sys.stdout.buffer.write(key.public_key().public_bytes(
                    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
                """
            #expect(try workshop.python(script, "secret.der") == publicKey)
        }

        /// Apple's hash, computed by another library from the key's own numbers.
        @Test(arguments: algorithms) func theApplicationLabelIsTheHashOfThePublicKey(algorithm: KeyAlgorithm) throws {
            let workshop = try Workshop()
            let key = try CryptoKey.generate(algorithm)
            try workshop.write(key.publicKey.derRepresentation, "public.der")
            let form: String
            switch algorithm {
            case .ec: form = "serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint"
            case .rsa: form = "serialization.Encoding.DER, serialization.PublicFormat.PKCS1"
            case .ed25519, .x25519: form = "serialization.Encoding.Raw, serialization.PublicFormat.Raw"
            }
            let script = """
                key = serialization.load_der_public_key(open('public.der', 'rb').read())
                digest = hashes.Hash(hashes.SHA1())
                digest.update(key.public_bytes(\(form)))
                sys.stdout.buffer.write(digest.finalize())
                """
            #expect(try workshop.python(script) == key.applicationLabel)
        }

        @Test func theKeysOfTheStandardAreRead() throws {
            // RFC 8410, 10.3 and 10.1.
            let key = try CryptoKey(
                pemRepresentation: Data(
                    """
                    -----BEGIN PRIVATE KEY-----
                    MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
                    -----END PRIVATE KEY-----
                    """.utf8
                )
            )
            let publicKey = try CryptoKey(
                pemRepresentation: Data(
                    """
                    Read by people as well.
                    -----BEGIN PUBLIC KEY-----
                    MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
                    -----END PUBLIC KEY-----
                    """.utf8
                )
            )
            #expect(key.algorithm == .ed25519 && key.publicKey == publicKey)
        }

        @Test func anUnusualExponentIsAKeyAsWell() throws {
            let workshop = try Workshop()
            for exponent in [3, 17, 4_294_967_297] {
                let options = "-pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:\(exponent)"
                try workshop.openssl("genpkey -algorithm RSA \(options) -out key.pem")
                try workshop.openssl("pkey -in key.pem -pubout -out public.pem")
                let key = try CryptoKey(pemRepresentation: workshop.read("key.pem"))
                #expect(try key.publicKey == CryptoKey(pemRepresentation: workshop.read("public.pem")))
                let message = Data("message".utf8)
                #expect(try key.publicKey.isValidSignature(key.signature(for: message), for: message))
            }
        }

        @Test func x963IsThePointAndTheNumber() throws {
            let key = try CryptoKey.generate(.p256)
            let bytes = try Data(key.externalRepresentation)
            #expect(bytes.count == 97 && bytes.first == 4)
            #expect(try Data(key.publicKey.externalRepresentation) == bytes.prefix(65))
            #expect(try CryptoKey(x963Representation: bytes, curve: .p256) == key)
            // A point that is not on the curve, and a number of another point.
            for index in [64, 96] {
                var wrong = bytes
                wrong[index] ^= 1
                #expect(code { _ = try CryptoKey(x963Representation: wrong, curve: .p256) } == .decode)
            }
            #expect(code { _ = try CryptoKey(x963Representation: bytes, curve: .p384) } == .decode)
            #expect(code { _ = try CryptoKey(x963Representation: Data(), curve: .p521) } == .decode)
            // A number with zeros before it keeps its length.
            for _ in 0..<600 {
                let other = try CryptoKey.generate(.p256)
                let form = try Data(other.externalRepresentation)
                #expect(form.count == 97)
                if form[65] == 0 {
                    #expect(try CryptoKey(x963Representation: form, curve: .p256) == other)
                    break
                }
            }
        }

        @Test func whatIsNoKeyIsRefused() throws {
            let workshop = try Workshop()
            let der = try Data(CryptoKey.generate(.p256).derRepresentation)
            for count in 0..<der.count {
                #expect(code { _ = try CryptoKey(derRepresentation: der.prefix(count)) } == .decode, "\(count)")
            }
            #expect(code { _ = try CryptoKey(derRepresentation: der + [0]) } == .decode)
            #expect(code { _ = try CryptoKey(pemRepresentation: Data("no key".utf8)) } == .decode)
            #expect(code { _ = try CryptoKey(pemRepresentation: Data()) } == .decode)
            let cut = try Data(CryptoKey.generate(.p256).pemRepresentation).dropLast(40)
            #expect(code { _ = try CryptoKey(pemRepresentation: Data(cut)) } == .decode)
            for line in [
                "ecparam -genkey -noout -name secp256k1 -out other.pem",
                "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:768 -out other.pem",
                "genpkey -algorithm ED448 -out other.pem",
            ] {
                try workshop.openssl(line)
                #expect(
                    code { _ = try CryptoKey(pemRepresentation: workshop.read("other.pem")) } == .unsupported,
                    "\(line)"
                )
            }
            let old = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
            #expect(code { _ = try CryptoKey(pemRepresentation: Data(old.utf8)) } == .unsupported)
            try workshop.openssl("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa.pem")
            try workshop.openssl("rsa -in rsa.pem -traditional -aes128 -passout pass:pw -out old.pem")
            #expect(code { _ = try CryptoKey(pemRepresentation: workshop.read("old.pem")) } == .unsupported)
            #expect(code { _ = try CryptoKey.generate(.rsa(bits: 512)) } == .invalidParameter)
            #expect(code { _ = try CryptoKey.generate(.rsa(bits: 16384)) } == .invalidParameter)
        }

        /// Someone who sends a key must not decide how long we are busy.
        @Test func aKeyThatWouldTakeHoursIsRefused() throws {
            let workshop = try Workshop()
            try workshop.openssl("genpkey -algorithm ED25519 -out key.pem")
            try workshop.openssl("pkcs8 -topk8 -in key.pem -passout pass:pw -iter 1000000 -outform DER -out secret.der")
            var der = try workshop.read("secret.der")
            let count = try #require(der.firstRange(of: Data([0x02, 0x03, 0x0F, 0x42, 0x40])))
            der.replaceSubrange(count, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
            let start = ContinuousClock.now
            let passphrase = SecureBytes(Data("pw".utf8))
            #expect(code { _ = try CryptoKey(derRepresentation: der, passphrase: passphrase) } == .unsupported)
            #expect(ContinuousClock.now - start < .seconds(1))
        }

        @Test func nothingOfAPrivateKeyIsShown() throws {
            let key = try CryptoKey.generate(.p256)
            var text = "\(key) \(String(reflecting: key))"
            dump(key, to: &text)
            #expect(text.contains("P-256 private key"))
            #expect(Mirror(reflecting: key).children.isEmpty)
        }

        // MARK: Operations

        @Test(arguments: algorithms) func signaturesAreThoseOfOthers(algorithm: KeyAlgorithm) throws {
            let workshop = try Workshop()
            let key = try CryptoKey.generate(algorithm)
            let message = Data("message".utf8)
            guard let own = key.defaultSignatureAlgorithm else {
                #expect(code { _ = try key.signature(for: message) } == .invalidParameter)
                return
            }
            try workshop.write(key.pemRepresentation, "key.pem")
            try workshop.write(key.publicKey.pemRepresentation, "public.pem")
            try workshop.write(message, "message")
            let choices: [SignatureAlgorithm]
            switch algorithm {
            case .ec: choices = SignatureAlgorithm.HashFunction.allCases.map { .ecdsa($0) }
            // A modulus of 1024 bits has no room for the salt of SHA-512 in PSS.
            case .rsa:
                choices =
                    [.rsaPSS(.sha256), .rsaPSS(.sha384)]
                    + SignatureAlgorithm.HashFunction.allCases.map { .rsaPKCS1($0) }
            default: choices = [own]
            }
            for choice in choices {
                let signature = try key.signature(for: message, using: choice)
                #expect(try key.publicKey.isValidSignature(signature, for: message, using: choice))
                #expect(try key.isValidSignature(signature, for: message, using: choice))
                #expect(try !key.isValidSignature(signature, for: Data("other".utf8), using: choice))
                #expect(try !key.isValidSignature(Data(), for: message, using: choice))
                #expect(try !CryptoKey.generate(algorithm).isValidSignature(signature, for: message, using: choice))
                try workshop.write(signature, "signature")
                let hash = choice.hash.map { "-rawin -digest \($0.rawValue)" } ?? "-rawin"
                var padding = ""
                if case .rsaPSS = choice { padding = "-pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest" }
                try workshop.openssl(
                    "pkeyutl -verify -pubin -inkey public.pem -in message -sigfile signature \(hash) \(padding)"
                )
                let theirs = try workshop.openssl("pkeyutl -sign -inkey key.pem -in message \(hash) \(padding)")
                #expect(try key.isValidSignature(theirs, for: message, using: choice))
            }
            #expect(code { _ = try key.publicKey.signature(for: message) } == .invalidParameter)
            let foreign: SignatureAlgorithm = own == .ed25519 ? .ecdsa(.sha256) : .ed25519
            #expect(code { _ = try key.signature(for: message, using: foreign) } == .invalidParameter)
        }

        @Test(arguments: [KeyAlgorithm.p256, .p384, .p521, .x25519])
        func twoKeysAgreeOnWhatOthersFind(algorithm: KeyAlgorithm) throws {
            let workshop = try Workshop()
            let (one, other) = (try CryptoKey.generate(algorithm), try CryptoKey.generate(algorithm))
            let secret = try one.sharedSecret(with: other.publicKey)
            #expect(try other.sharedSecret(with: one.publicKey) == secret)
            try workshop.write(one.pemRepresentation, "one.pem")
            try workshop.write(other.publicKey.pemRepresentation, "other.pem")
            #expect(
                try workshop.openssl("pkeyutl -derive -inkey one.pem -peerkey other.pem") == Data(secret)
            )
            let stranger = try CryptoKey.generate(algorithm == .p256 ? .p384 : .p256)
            #expect(code { _ = try one.sharedSecret(with: stranger.publicKey) } == .invalidParameter)
            #expect(code { _ = try one.publicKey.sharedSecret(with: other.publicKey) } == .invalidParameter)
            #expect(
                code { _ = try CryptoKey.generate(.ed25519).sharedSecret(with: other.publicKey) } == .invalidParameter
            )
        }
    }
#endif
