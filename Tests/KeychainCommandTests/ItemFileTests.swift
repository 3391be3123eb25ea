// SPDX-License-Identifier: MIT
#if X509
    import Foundation
    import Testing

    #if SecretService
        import SecretServiceFixture
    #endif

    /// `import` and `export`, and what other commands say of keys, certificates and identities; the files are made and read
    /// by the openssl command.
    @Suite(.timeLimit(.minutes(2)))
    struct ItemFileTests {
        private let bench = Bench()

        /// A CA, a server's certificate under it that ends in ten days, and a PKCS#12 file of both.
        private static let head = """
            cd $HOME; export P=secret Q=wrong
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=CA \
                -days 300 2>log || cat log
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-384 -nodes -keyout srv.key -out srv.csr \
                -subj /O=Example/CN=host.example 2>log || cat log
            openssl x509 -req -in srv.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 10 -out srv.pem 2>log || cat log
            openssl pkcs12 -export -in srv.pem -inkey srv.key -certfile ca.pem -name 'my server' -passout env:P -out srv.p12

            """

        private func shell(_ script: String, _ environment: [String: String] = [:]) async throws -> [String] {
            let environment = try self.environment.merging(environment) { $1 }
            let outcome = try await onThread { try Program.shell(Self.head + script, environment: environment) }
            Self.expectNothingButSummaries(outcome.errors)
            return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        private static func expectNothingButSummaries(_ errors: String) {
            #expect(errors.split(separator: "\n").allSatisfy { $0.hasPrefix("keychainctl: exported ") }, "\(errors)")
        }

        private var environment: [String: String] {
            get throws {
                [
                    "HOME": bench.folder, "KEYCHAIN_STORE": "file:\(bench.folder)/a.keychain",
                    "KEYCHAIN_KEY": "keyfile:\(try bench.keyFile())",
                ]
            }
        }

        /// What is stored from a PKCS#12 file is what OpenSSL finds in the one that is written.
        static let thereAndBack = """
            $K -q import srv.p12 --passphrase env:P --tag com.example; echo $?
            $K ls --class identity | wc -l; $K ls --class certificate | wc -l; $K ls --class key | cut -f2,4
            $K export out.p12 --passphrase env:Q --class identity --label 'my server'; echo $?; stat -c %a out.p12
            openssl pkcs12 -in out.p12 -passin env:Q -nodes > out.pem; grep -c 'BEGIN CERTIFICATE' out.pem
            openssl x509 -in out.pem | cmp - srv.pem; openssl pkey -in out.pem | cmp - srv.key
            grep -o 'friendlyName: .*' out.pem | head -1
            $K export id.pem --class identity --label 'my server'; openssl pkey -in id.pem | cmp - srv.key
            openssl x509 -in id.pem | cmp - srv.pem; openssl verify -CAfile ca.pem id.pem
            $K -q rm --class identity --label 'my server'; $K export x.p12 --passphrase env:P; echo $?; ls x.p12 2>/dev/null

            """
        static let expected = [
            "0", "1", "2", "com.example\tmy server", "0", "600", "2", "friendlyName: my server",
            "id.pem: OK", "1",
        ]

        #if File
            @Test func anIdentityGoesThereAndBack() async throws {
                #expect(try await shell(Self.thereAndBack) == Self.expected)
            }

            @Test func keysAndCertificatesInEveryForm() async throws {
                let lines = try await shell(
                    """
                    cat srv.key srv.pem ca.pem | $K -q import - --label l --tag t; echo $?
                    $K ls --class certificate | cut -f4 | sort; $K ls --class key | cut -f2,4
                    $K export - --format pem --class key --tag t | openssl pkey | cmp - srv.key
                    $K export k.der --class key --tag t; openssl pkey -inform DER -in k.der | cmp - srv.key; stat -c %a k.der
                    $K export k.pem --class key --tag t --passphrase env:P; head -1 k.pem
                    openssl pkey -in k.pem -passin env:P | cmp - srv.key
                    $K export e.der --class key --tag t --passphrase env:P; openssl pkey -inform DER -in e.der -passin env:P | cmp - srv.key
                    $K export c.cer --class certificate --label l; openssl x509 -inform DER -in c.cer | cmp - srv.pem
                    $K export all.crt --class certificate; grep -c BEGIN all.crt
                    $K export all.der --class certificate 2>log; echo $?; $K export k.pem --class key 2>log; echo $?
                    for f in k.der c.cer e.der k.pem; do $K -q import $f --passphrase env:P --tag $f; echo $?; done
                    $K ls --class key | cut -f2 | sort | tr '\\n' ' '; echo; $K ls --class certificate | wc -l
                    """
                )
                #expect(
                    lines == [
                        "0", "CA", "l", "t\tl", "600", "-----BEGIN ENCRYPTED PRIVATE KEY-----", "2", "9", "3", "0", "0",
                        "0",
                        "0", "e.der k.der k.pem t ", "2",
                    ]
                )
            }

            @Test(arguments: [
                ("srv.p12 --no-prompt", 4, "nothing may be asked"), ("srv.p12 --passphrase env:Q", 5, "wrong"),
                ("srv.csr", 10, "neither a key nor a certificate"), ("srv.p12 --passphrase keyfile:key", 2, "key file"),
                ("missing", 6, "missing"), ("cut.p12 --passphrase env:P", 10, "neither a certificate"),
                ("ssh", 9, "ssh-keygen -p -m PKCS8"),
                ("empty", 10, "neither"), ("srv.pem --format der", 10, "neither"),
                ("srv.pem --format x", 2, "pem, der, pkcs12"),
                ("", 2, "needs FILE"), ("srv.pem srv.key", 2, "too many"),
            ]) func whatIsNotImported(_ arguments: String, _ status: Int, _ message: String) async throws {
                let lines = try await shell(
                    """
                    head -c 700 srv.p12 > cut.p12; : > empty; ssh-keygen -q -t ed25519 -N '' -f ssh
                    $K import \(arguments) 2>errors; echo $?; cat errors; ls a.keychain 2>/dev/null
                    """
                )
                #expect(lines.first == "\(status)", "\(lines)")
                #expect(message.isEmpty || lines.dropFirst().joined().contains(message), "\(lines)")
                #expect(lines.count == (status == 2 ? 3 : 2), "\(lines)")
            }

            @Test(arguments: [
                ("a.txt --class key", 2, "--format"), ("a.pem", 2, "--class"),
                ("a.p12 --class key --passphrase env:P", 2, "identity"),
                ("a.der --class identity", 2, "PEM or PKCS#12"), ("a.pem svc", 2, "not exported"),
                ("a.p12", 4, "passphrase"),
                ("a.pem --class key --tag none", 1, ""), ("srv.pem --class key", 3, "already"), ("", 2, "needs FILE"),
            ]) func whatIsNotExported(_ arguments: String, _ status: Int, _ message: String) async throws {
                let lines = try await shell(
                    """
                    $K -q import srv.p12 --passphrase env:P
                    $K --no-prompt export \(arguments) 2>errors; echo $?; cat errors; ls a.txt a.pem a.p12 a.der 2>/dev/null
                    openssl x509 -in srv.pem -noout
                    """
                )
                #expect(lines.first == "\(status)", "\(lines)")
                #expect(message.isEmpty || lines.dropFirst().joined().contains(message), "\(lines)")
                #expect(lines.count == (message.isEmpty ? 1 : status == 2 ? 3 : 2), "\(lines)")
            }

            /// Self-signed certificates often have one issuer and one serial number for good.
            @Test func aCertificateIsNotLostToAnotherOne() async throws {
                let lines = try await shell(
                    """
                    for i in 1 2; do
                        openssl req -x509 -newkey rsa:2048 -nodes -keyout n$i.key -out n$i.crt -subj /CN=localhost \
                            -set_serial 1 2>log || cat log
                        cat n$i.key n$i.crt > n$i.pem
                    done
                    cat n1.crt n2.crt > both.pem; $K -q import both.pem 2>log; echo $?; $K ls 2>log | wc -l
                    $K -q import n1.pem --label mine; $K -q import n1.pem; echo $?
                    $K import n2.pem 2>&1; echo $?; $K ls | wc -l
                    $K export a.pem --class identity; openssl x509 -in a.pem | cmp - n1.crt
                    $K -q import n2.pem --if-exists replace-value; echo $?; $K ls --class identity | cut -f4
                    $K export b.pem --class identity; openssl x509 -in b.pem | cmp - n2.crt; openssl pkey -in b.pem | cmp - n2.key
                    """
                )
                try #require(lines.count == 8, "\(lines)")
                #expect(lines[0] == "3" && lines[1] == "0" && lines[2] == "0")
                #expect(lines[3].contains("same serial number") && lines[3].contains("--if-exists replace-value"))
                #expect(lines[4] == "3" && lines[5] == "2" && lines[6] == "0" && lines[7] == "mine")
            }

            @Test func theChainIsOfThoseThatHaveSigned() async throws {
                let lines = try await shell(
                    """
                    for i in 1 2; do
                        openssl req -x509 -newkey rsa:2048 -nodes -keyout r$i.key -out r$i.crt -subj /CN=Root 2>log || cat log
                    done
                    openssl x509 -req -in srv.csr -CA r2.crt -CAkey r2.key -CAcreateserial -out leaf.crt 2>log || cat log
                    cat r1.crt r2.crt leaf.crt srv.key | $K -q import -
                    $K export id.p12 --class identity --passphrase env:P
                    openssl pkcs12 -in id.p12 -passin env:P -cacerts -nokeys 2>log | openssl x509 | cmp - r2.crt
                    $K export id.pem --class identity; grep -c 'BEGIN CERTIFICATE' id.pem
                    """
                )
                #expect(lines == ["2"])
            }

            @Test func aPointInShortFormIsTheSameKey() async throws {
                let lines = try await shell(
                    """
                    openssl ec -in ca.key -conv_form compressed -out short.key 2>log
                    openssl req -x509 -new -key short.key -subj /CN=short -out short.pem
                    $K -q import ca.key; $K -q import short.pem; $K ls --class identity | cut -f4
                    """
                )
                #expect(lines == ["short"])
            }

            @Test(arguments: [
                // A first line that is cut, one that is not at the left, and a block that is empty.
                ("sed '0,/-----BEGIN/s/-----BEGIN/----BEGIN/' all.pem", 10, "damaged"),
                ("sed 's/-----BEGIN PRIVATE/ -----BEGIN PRIVATE/' all.pem", 10, "damaged"),
                ("cat all.pem; echo -----BEGIN CERTIFICATE-----; echo -----END CERTIFICATE-----", 10, ""),
                ("cat srv.csr all.pem", 0, "passed over what is neither a key nor a certificate: CERTIFICATE REQUEST"),
                ("echo 0 is no key; sed 's/$/\\r/' all.pem", 0, "imported 1 key and 1 certificate"),
                (
                    "openssl pkcs8 -topk8 -in srv.key -scrypt -scrypt_N 65536 -scrypt_r 2 -scrypt_p 200 -passout env:P",
                    9, "too long"
                ),
                ("openssl pkcs8 -topk8 -in srv.key -scrypt -passout env:P", 0, "imported 1 key"),
            ]) func whatIsBesideThem(_ command: String, _ status: Int, _ message: String) async throws {
                let lines = try await shell(
                    """
                    cat srv.key srv.pem > all.pem; { \(command); } 2>log | $K import - --passphrase env:P 2>errors; echo $?
                    cat errors; $K ls 2>log | wc -l
                    """
                )
                #expect(lines.first == "\(status)" && (message.isEmpty || lines.joined().contains(message)), "\(lines)")
                #expect((lines.last == "0") == (status != 0), "\(lines)")
            }

            @Test func anEmptyPassphraseProtectsNothing() async throws {
                let lines = try await shell(
                    """
                    $K -q import srv.p12 --passphrase env:P; export E=
                    for f in k.pem k.der; do $K -q export $f --class key --passphrase env:E 2>log; echo $?; done
                    $K export i.p12 --class identity --passphrase env:E 2>log; echo $?; ls k.pem k.der i.p12 2>/dev/null
                    """
                )
                #expect(lines == ["2", "2", "2"])
            }

            @Test func withoutOpenSSLTheRestWorks() async throws {
                let lines = try await shell(
                    """
                    $K -q import srv.p12 --passphrase env:P; echo v | $K -q set svc
                    mkdir none; echo | gcc -shared -x c -o none/libcrypto.so.3 -; N="env LD_LIBRARY_PATH=none $K"
                    $N get svc; echo; $N import srv.pem 2>&1; echo $?; $N info --class certificate 2>log; echo $?
                    $N doctor | grep -o 'note.certificates.*libssl3'
                    """
                )
                try #require(lines.count == 5, "\(lines)")
                #expect(lines[0] == "v" && lines[1].contains("libssl3") && lines[2] == "6" && lines[3] == "6")
            }

            @Test func whatBelongsToThisDeviceStays() async throws {
                let lines = try await shell(
                    """
                    echo x | $K -q set --class key --tag a --accessible after-first-unlock-this-device-only
                    $K -q import ca.key --tag b
                    $K export k.pem --class key 2>&1; grep -c BEGIN k.pem; openssl pkey -in k.pem | cmp - ca.key
                    """
                )
                #expect(
                    lines == [
                        "keychainctl: 1 item belongs to this device only, and was left out",
                        "keychainctl: exported 1 item", "1",
                    ]
                )
            }

            @Test func theyAreDescribedInWords() async throws {
                let lines = try await shell(
                    """
                    $K -q import srv.p12 --passphrase env:P
                    $K info --class identity | grep -E 'subject-name|issuer-name|fingerprint'; $K info --class key | grep kind
                    $K info --class certificate --label 'my server' --json | grep -o '"validUntil":"....'
                    openssl x509 -in srv.pem -noout -fingerprint -sha256 | cut -d= -f2
                    script -qc '$K ls --class certificate; $K ls --class key' /dev/null < /dev/null | tr -d '\\r'
                    $K doctor | grep -o 'expires on ....'
                    openssl x509 -in srv.pem -out old.pem -signkey srv.key -days -1 2>/dev/null; $K -q import old.pem
                    $K doctor | grep -o 'has expired on ....'
                    """
                )
                try #require(lines.count == 13, "\(lines)")
                #expect(lines[0] == "subject-name\tCN=host.example,O=Example")
                #expect(lines[1] == "issuer-name\tCN=CA")
                #expect(lines[2] == "fingerprint\t" + lines[5])
                #expect(lines[3] == "kind\tP-384 private")
                #expect(lines[4].hasPrefix("\"validUntil\":\"2"))
                #expect(lines[6].hasPrefix("SUBJECT ") && lines[7].hasPrefix("CN=host.example,O=Example "))
                #expect(
                    lines[8].hasPrefix("CN=CA ") && lines[9].hasPrefix("TAG ") && lines[10].contains("P-384 private")
                )
            }
        #endif

        #if SecretService
            @Test func anIdentityGoesThereAndBackOnTheDesktop() async throws {
                let keyring = try PrivateKeyring.start()
                let environment = keyring.environment.merging(["KEYCHAIN_STORE": "secret-service:"]) { $1 }
                let outcome = try await onThread {
                    try Program.shell(Self.head + Self.thereAndBack, environment: environment)
                }
                Self.expectNothingButSummaries(outcome.errors)
                let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
                #expect(lines == Self.expected)
            }
        #endif
    }
#endif
