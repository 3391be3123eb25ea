// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import FoundationEssentials
    import KeychainAPI

    /// The ways in which OpenSSL takes and gives bytes, and how it fails.
    enum OpenSSL {
        /// Runs a closure without what is left of failures before, and with the library there.
        ///
        /// - Throws: `unavailable` without OpenSSL, and what the closure throws.
        static func run<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
            try load()
            openssl.ERR_clear_error()
            defer { openssl.ERR_clear_error() }
            return try body()
        }

        /// The error for what OpenSSL refused, with its own words.
        ///
        /// - Parameters:
        ///   - code: What went wrong.
        ///   - message: What went wrong and what to do next.
        static func error(_ code: KeychainError.Code, _ message: String) -> KeychainError {
            let number = openssl.ERR_peek_last_error()
            guard number != 0 else { return KeychainError(code, message) }
            let underlying = KeychainError.Underlying(
                domain: "OpenSSL",
                code: Int(truncatingIfNeeded: number),
                message: text(of: number)
            )
            return KeychainError(code, message, underlying: underlying)
        }

        /// OpenSSL's words for a failure; they name places in its code and never what was read.
        static func text(of number: UInt) -> String {
            var buffer = [CChar](repeating: 0, count: 256)
            openssl.ERR_error_string_n(number, &buffer, buffer.count)
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// The error for a call that fails only without memory.
        static func outOfMemory(_ what: String) -> KeychainError {
            error(.internal, "\(what) is not possible. Free memory and try again; if that fails, please report it.")
        }

        // MARK: Bytes

        /// Encodes by a function of the family `i2d`, into guarded memory.
        ///
        /// - Parameter encode: Gives the number of bytes for nil; else writes them where the pointer points.
        static func secureDER(
            _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
        ) throws(KeychainError) -> SecureBytes {
            let count = encode(nil)
            guard count >= 0 else {
                throw error(.internal, "The key or certificate cannot be encoded. Please report it.")
            }
            return try SecureBytes(count: Int(count)) { (target) throws(KeychainError) in
                var position = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard encode(&position) == count else {
                    throw error(.internal, "The key or certificate cannot be encoded. Please report it.")
                }
            }
        }

        /// Encodes by a function of the family `i2d` what is no secret.
        static func der(
            _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
        ) throws(KeychainError) -> Data {
            try secureDER(encode).withBytes { Data($0) }
        }

        /// Decodes by a function of the family `d2i`; nil unless it takes every byte.
        static func decode(
            _ bytes: UnsafeRawBufferPointer,
            _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
        ) -> (object: OpaquePointer?, isWhole: Bool) {
            var position = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let start = position
            guard let start, let object = decode(&position, bytes.count) else { return (nil, false) }
            return (object, position == start + bytes.count)
        }

        /// What a closure writes to a memory of OpenSSL's, which is erased.
        static func written(_ body: (OpaquePointer) -> Int32) throws(KeychainError) -> SecureBytes {
            guard let bio = openssl.BIO_new(openssl.BIO_s_secmem()) else { throw outOfMemory("Encoding") }
            defer { _ = openssl.BIO_free(bio) }
            guard body(bio) == 1 else {
                throw error(.internal, "The key or certificate cannot be encoded. Please report it.")
            }
            var bytes: UnsafeMutablePointer<CChar>?
            let count = openssl_mem_data(bio, &bytes)
            return SecureBytes(UnsafeRawBufferPointer(start: bytes, count: count))
        }

        /// Calls a closure with a memory of OpenSSL's that reads bytes, without a copy.
        static func reading<Result>(
            _ bytes: UnsafeRawBufferPointer,
            _ body: (OpaquePointer) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            guard bytes.count <= Int32.max,
                let bio = bytes.isEmpty
                    ? openssl.BIO_new(openssl.BIO_s_mem())
                    : openssl.BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            else { throw outOfMemory("Reading") }
            defer { _ = openssl.BIO_free(bio) }
            return try body(bio)
        }
    }
#endif
