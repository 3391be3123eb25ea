// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

#if X509
    import KeychainX509
#endif

/// What a person wants to know of a certificate, and the attributes of its item do not say in words.
struct CertificateSummary: Sendable {
    let subject: String
    let issuer: String
    let validFrom: Date
    let validUntil: Date
    let fingerprint: String
    let hosts: [String]

    /// Reads a certificate; nil for what is none, and in a command that was built without X.509.
    ///
    /// - Throws: `unavailable` without OpenSSL.
    init?(_ derRepresentation: Data) throws(KeychainError) {
        #if X509
            let certificate: Certificate
            do throws(KeychainError) {
                certificate = try Certificate(derRepresentation: SecureBytes(derRepresentation))
            } catch {
                if error.code == .decode { return nil }
                throw error
            }
            subject = certificate.subject.description
            issuer = certificate.issuer.description
            validFrom = certificate.notValidBefore
            validUntil = certificate.notValidAfter
            fingerprint = Self.hexadecimal(certificate.fingerprint)
            hosts = certificate.dnsNames
        #else
            return nil
        #endif
    }

    /// The SHA-256 as `openssl x509 -fingerprint` prints it.
    private static func hexadecimal(_ bytes: Data) -> String {
        bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.count < 2 ? "0" + text : text
        }.joined(separator: ":")
    }

    /// The lines of `info`: names and values.
    var rows: [[String]] {
        [
            ["subject-name", subject], ["issuer-name", issuer], ["hosts", hosts.joined(separator: " ")],
            ["valid-from", Timestamp.text(validFrom)], ["valid-until", Timestamp.text(validUntil)],
            ["fingerprint", fingerprint],
        ].filter { !$0[1].isEmpty }
    }
}

extension ItemDetails {
    /// What kind of key an item is, in words: `P-256 private`; `""` for another item.
    var keyKind: String {
        guard itemClass == .key else { return "" }
        let size = text(.keySizeInBits)
        let type =
            switch word(.keyType).map(KeyType.init(rawValue:)) {
            case .ecsecPrimeRandom?: "P-\(size)"
            case .rsa?: "RSA \(size)"
            case .aes?: "AES \(size)"
            case .ed25519?: "Ed25519"
            case .x25519?: "X25519"
            case let other: other?.description ?? ""
            }
        let keyClass = word(.keyClass).map { KeyClass(rawValue: $0).description } ?? ""
        return [type, keyClass].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private func word(_ name: AttributeName) -> String? {
        guard case .text(let text)? = attributes.first(where: { $0.name == name })?.value else { return nil }
        return text
    }
}
