// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import FoundationEssentials

    /// Which certificates stand above others: those that have signed them, not those that merely have the right name.
    package struct CertificateChains {
        private let certificates: [Data: [Certificate]]
        /// As deep as OpenSSL verifies (X509_VERIFY_PARAM_set_depth(3)).
        private static let deepest = 100

        /// Takes the certificates that may stand above others.
        package init(_ certificates: [Certificate]) {
            self.certificates = Dictionary(grouping: certificates) { $0.subject.derRepresentation }
        }

        /// The certificates above one, from its issuer upwards, as far as they are there.
        package func above(_ certificate: Certificate) -> [Certificate] {
            var chain: [Certificate] = []
            var last = certificate
            while chain.count < Self.deepest, last.issuer != last.subject,
                let issuer = certificates[last.issuer.derRepresentation]?.first(where: last.isSigned),
                issuer != certificate, !chain.contains(issuer)
            {
                chain.append(issuer)
                last = issuer
            }
            return chain
        }
    }

    extension Certificate {
        /// Whether another certificate's key has signed this one.
        fileprivate func isSigned(by issuer: Certificate) -> Bool {
            guard let key = openssl.X509_get_pubkey(issuer.handle.pointer) else { return false }
            defer { openssl.EVP_PKEY_free(key) }
            defer { openssl.ERR_clear_error() }
            return openssl.X509_verify(handle.pointer, key) == 1
        }
    }
#endif
