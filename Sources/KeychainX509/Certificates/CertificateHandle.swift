// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import FoundationEssentials
    import KeychainAPI

    /// One of OpenSSL's certificates, freed with the last copy of what holds it.
    ///
    /// `@unchecked`: the certificate is never changed after it was made, and what OpenSSL finds out about it later it keeps
    /// under a lock of its own.
    final class CertificateHandle: @unchecked Sendable {
        let pointer: OpaquePointer

        /// Takes over a certificate.
        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            openssl.X509_free(pointer)
        }

        /// A digest of the certificate, or of its public key.
        func digest(
            _ function: OpaquePointer?,
            of part: (OpaquePointer?, OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?) ->
                Int32
        ) -> Data {
            var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard part(pointer, function, &bytes, &count) == 1 else {
                preconditionFailure("OpenSSL does not hash a certificate that it has read")
            }
            return Data(bytes.prefix(Int(count)))
        }

        /// A list of certificates for OpenSSL, valid during a call.
        static func withStack<Result>(
            _ certificates: [Certificate],
            _ body: (OpaquePointer) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            guard let stack = openssl_certificates_new() else { throw OpenSSL.outOfMemory("A list of certificates") }
            defer { openssl_certificates_free(stack) }
            for certificate in certificates {
                guard openssl_certificates_push(stack, certificate.handle.pointer) != 0 else {
                    throw OpenSSL.outOfMemory("A list of certificates")
                }
            }
            return try body(stack)
        }

        /// The certificates of a list of OpenSSL's.
        static func certificates(in stack: OpaquePointer?) -> [Certificate] {
            guard let stack else { return [] }
            return (0..<openssl_certificates_count(stack)).compactMap { index in
                guard let pointer = openssl_certificate(stack, index), openssl.X509_up_ref(pointer) == 1 else {
                    return nil
                }
                return try? Certificate(CertificateHandle(pointer))
            }
        }
    }

    extension Data {
        /// The bytes of one of OpenSSL's strings.
        init(_ string: UnsafePointer<ASN1_STRING>?) {
            guard let string, let bytes = openssl.ASN1_STRING_get0_data(string) else {
                self = Data()
                return
            }
            self = Data(UnsafeBufferPointer(start: bytes, count: Int(openssl.ASN1_STRING_length(string))))
        }
    }
#endif
