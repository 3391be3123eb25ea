// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import Testing

    @testable import BackendSecretService

    @Suite struct EnvelopeTests {
        @Test func checksumIsTheStandardOne() {
            #expect(Data("123456789".utf8).withUnsafeBytes(CRC32.checksum) == 0xCBF4_3926)
            #expect(Data().withUnsafeBytes(CRC32.checksum) == 0)
        }

        @Test func aLineHasTheDocumentedForm() {
            let line = Data(SecretEnvelope.wrap(SecureBytes(Data("123456789".utf8))))
            #expect(String(decoding: line, as: UTF8.self) == "keychain-1:cbf43926:MTIzNDU2Nzg5.")
            #expect(
                String(decoding: Data(SecretEnvelope.wrap(SecureBytes(Data()))), as: UTF8.self)
                    == "keychain-1:00000000:."
            )
        }

        @Test func everyLengthRoundTrips() throws {
            for count in 0..<70 {
                let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
                let line = SecretEnvelope.wrap(SecureBytes(value))
                #expect(SecretEnvelope.isWrapped(line))
                #expect(Data(try SecretEnvelope.unwrap(line)) == value)
                let text = Data(line).dropFirst(20).dropLast()
                #expect(Data(base64Encoded: Data(text)) == value)
            }
        }

        @Test func everyCutAndEveryChangedByteIsNoticed() {
            for value in ["", "a", "ab", "abc", "some secret"] {
                let line = Data(SecretEnvelope.wrap(SecureBytes(Data(value.utf8))))
                for count in SecretEnvelope.magic.count..<line.count {
                    #expect(code { _ = try SecretEnvelope.unwrap(SecureBytes(line.prefix(count))) } == .corrupt)
                }
                for index in SecretEnvelope.magic.count..<line.count {
                    var changed = line
                    changed[index] ^= 1
                    #expect(
                        code { _ = try SecretEnvelope.unwrap(SecureBytes(changed)) } == .corrupt,
                        "\(value) \(index)"
                    )
                }
            }
        }

        @Test(arguments: [
            ("s3cret", false), ("zwei Worte", false), ("ümläut 🔑", false), ("a/b=c[d]", false), ("", true),
            (" a", true),
            ("a ", true), ("a\nb", true), ("a\tb", true), ("a\\b", true), ("a\0b", true), ("\u{7F}", true),
            ("a\u{2028}b", true),
            ("a\u{85}b", true), ("\u{A0}a", true), ("\u{FEFF}a", true), ("a\u{FEFF}", false), ("a\u{3000}", true),
            ("keychain-1:", true), ("keychain-", false),
        ])
        func whatNeedsAnEnvelope(text: String, needsWrapping: Bool) {
            #expect(Data(text.utf8).withUnsafeBytes(SecretEnvelope.needsWrapping) == needsWrapping)
        }

        @Test(
            arguments: [[0xFF], [0xC3], [0x61, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]]
        )
        func invalidUTF8NeedsAnEnvelope(bytes: [UInt8]) {
            #expect(bytes.withUnsafeBytes(SecretEnvelope.needsWrapping))
        }
    }
#endif
