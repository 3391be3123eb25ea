// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    public import FoundationEssentials
    import KeychainAPI

    /// The name of a certificate's subject or issuer (RFC 5280, 4.1.2.4).
    public struct DistinguishedName: Sendable, Hashable, CustomStringConvertible {
        /// The name on one line, the most specific part first, as in `CN=example.com,O=Example` (RFC 4514).
        public let description: String
        /// The name in DER, as the certificate has it.
        public let derRepresentation: Data
        /// The name in DER, normalized as Apple does it: in each `PrintableString` letters are upper case, and white space
        /// is one blank between words.
        public let normalizedDERRepresentation: Data
        /// The values of the name by the short names of their types (`CN`, `O`, `emailAddress`), in order.
        let values: [(type: String, value: String)]

        init(_ name: OpaquePointer) throws(KeychainError) {
            derRepresentation = try OpenSSL.der { openssl.i2d_X509_NAME(name, $0) }
            let line = try OpenSSL.written { openssl.X509_NAME_print_ex($0, name, 0, openssl_name_flags) >= 0 ? 1 : 0 }
            description = line.withBytes { String(decoding: $0, as: UTF8.self) }
            guard let normalized = openssl.X509_NAME_new() else { throw OpenSSL.outOfMemory("A name") }
            defer { openssl.X509_NAME_free(normalized) }
            var values: [(String, String)] = []
            var lastSet: Int32?
            for index in 0..<openssl.X509_NAME_entry_count(name) {
                let entry = openssl.X509_NAME_get_entry(name, index)
                let type = openssl.X509_NAME_ENTRY_get_object(entry)
                let value = UnsafePointer(openssl.X509_NAME_ENTRY_get_data(entry))
                values.append((Self.shortName(type), try Self.text(value)))
                let set = openssl.X509_NAME_ENTRY_set(entry)
                let tag = openssl.ASN1_STRING_type(value)
                let bytes = tag == V_ASN1_PRINTABLESTRING ? Self.normalized(Data(value)) : Array(Data(value))
                let isAdded = openssl.X509_NAME_add_entry_by_OBJ(
                    normalized,
                    type,
                    tag,
                    bytes,
                    Int32(bytes.count),
                    -1,
                    set == lastSet ? -1 : 0
                )
                guard isAdded == 1 else { throw OpenSSL.error(.decode, "A part of a name cannot be read.") }
                lastSet = set
            }
            normalizedDERRepresentation = try OpenSSL.der { openssl.i2d_X509_NAME(normalized, $0) }
            self.values = values
        }

        /// The normalized name without the header of its sequence, which is what Apple's attributes hold.
        var normalizedContent: Data { DER.content(of: normalizedDERRepresentation) }

        /// The last value of a type, which is the most specific one.
        func last(_ type: String) -> String? { values.last { $0.type == type }?.value }

        private static func shortName(_ type: OpaquePointer?) -> String {
            guard let name = openssl.OBJ_nid2sn(openssl.OBJ_obj2nid(type)) else { return "" }
            return String(cString: name)
        }

        private static func text(_ value: UnsafePointer<ASN1_STRING>?) throws(KeychainError) -> String {
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = openssl.ASN1_STRING_to_UTF8(&bytes, value)
            guard count >= 0, let bytes else { return "" }
            defer { openssl_free(bytes) }
            return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        }

        private static func normalized(_ bytes: Data) -> [UInt8] {
            var result: [UInt8] = []
            for byte in bytes {
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\t"):
                    if let last = result.last, last != UInt8(ascii: " ") { result.append(UInt8(ascii: " ")) }
                case UInt8(ascii: "a")...UInt8(ascii: "z"): result.append(byte - 32)
                default: result.append(byte)
                }
            }
            if result.last == UInt8(ascii: " ") { result.removeLast() }
            return result
        }

        /// Two names are equal if their bytes are.
        public static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
            left.derRepresentation == right.derRepresentation
        }

        /// Hashes the bytes.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(derRepresentation)
        }
    }
#endif
