// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    public import KeychainAPI

    /// Whether a certificate leads to one that is trusted.
    public enum CertificateVerification: Sendable, Equatable {
        /// It does: the certificate, those between, and the anchor.
        case trusted([Certificate])
        /// It does not, for a reason, found at a certificate (nil if there is none to name).
        case untrusted(reason: String, certificate: Certificate?)

        /// Whether it does.
        public var isTrusted: Bool {
            if case .trusted = self { true } else { false }
        }
    }

    extension Certificate {
        /// Looks for a chain of signatures from the certificate to an anchor (RFC 5280, 6), by OpenSSL.
        ///
        /// Whether a certificate was revoked is not asked.
        ///
        /// - Parameters:
        ///   - anchors: Certificates that are trusted because of who gives them here.
        ///   - intermediates: Certificates that may stand between, trusted or not.
        ///   - host: The host name that the certificate must be for (RFC 9525), nil for any.
        ///   - date: The moment at which the dates must be right.
        /// - Throws: `internal` without memory.
        public func verification(
            anchors: [Certificate],
            intermediates: [Certificate] = [],
            host: String? = nil,
            at date: Date = Date()
        ) throws(KeychainError) -> CertificateVerification {
            try OpenSSL.run { () throws(KeychainError) in
                guard let store = openssl.X509_STORE_new(), let context = openssl.X509_STORE_CTX_new() else {
                    throw OpenSSL.outOfMemory("Verification")
                }
                defer {
                    openssl.X509_STORE_CTX_free(context)
                    openssl.X509_STORE_free(store)
                }
                for anchor in anchors {
                    guard openssl.X509_STORE_add_cert(store, anchor.handle.pointer) == 1 else {
                        throw OpenSSL.outOfMemory("Verification")
                    }
                }
                return try CertificateHandle.withStack(intermediates) { (stack) throws(KeychainError) in
                    guard openssl.X509_STORE_CTX_init(context, store, handle.pointer, stack) == 1 else {
                        throw OpenSSL.outOfMemory("Verification")
                    }
                    let parameters = openssl.X509_STORE_CTX_get0_param(context)
                    openssl.X509_VERIFY_PARAM_set_time(parameters, time_t(date.timeIntervalSince1970))
                    if let host, openssl.X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count) != 1 {
                        throw KeychainError(.invalidParameter, "‘\(host)’ is no host name.")
                    }
                    if openssl.X509_verify_cert(context) == 1 {
                        return .trusted(CertificateHandle.certificates(in: openssl.X509_STORE_CTX_get0_chain(context)))
                    }
                    let number = openssl.X509_STORE_CTX_get_error(context)
                    let reason =
                        openssl.X509_verify_cert_error_string(Int(number)).map { String(cString: $0) }
                        ?? "error \(number)"
                    var certificate: Certificate?
                    if let current = openssl.X509_STORE_CTX_get_current_cert(context), openssl.X509_up_ref(current) == 1
                    {
                        certificate = try? Certificate(CertificateHandle(current))
                    }
                    return .untrusted(reason: reason, certificate: certificate)
                }
            }
        }
    }
#endif
