// SPDX-License-Identifier: MIT
#if X509
    import COpenSSL
    import COpenSSLFunctions
    import KeychainAPI

    /// One of OpenSSL's keys, freed and erased with the last copy of what holds it.
    ///
    /// `@unchecked`: the key is never changed after it was made, and OpenSSL counts its users atomically.
    final class KeyHandle: @unchecked Sendable {
        let pointer: OpaquePointer

        /// Takes over a key.
        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            openssl.EVP_PKEY_free(pointer)
        }

        /// Whether it is of a type, by OpenSSL's name for it.
        func isA(_ name: String) -> Bool { openssl.EVP_PKEY_is_a(pointer, name) == 1 }

        /// The name of its curve, nil if it has none.
        var curveName: String? {
            var buffer = [CChar](repeating: 0, count: 64)
            var count = 0
            guard openssl.EVP_PKEY_get_group_name(pointer, &buffer, buffer.count, &count) == 1 else { return nil }
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// A number of the key, big-endian, in a fixed number of bytes.
        ///
        /// - Parameters:
        ///   - name: OpenSSL's name of the parameter.
        ///   - target: Where it is written, with zeros before it.
        /// - Returns: Whether the key has it.
        func writeNumber(_ name: String, _ target: UnsafeMutableRawBufferPointer) -> Bool {
            var number: OpaquePointer?
            guard openssl.EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else { return false }
            defer { openssl.BN_clear_free(number) }
            return openssl.BN_bn2binpad(
                number,
                target.baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(target.count)
            )
                == Int32(target.count)
        }

        /// Whether the key has a number, and so the private half.
        func hasNumber(_ name: String) -> Bool {
            var number: OpaquePointer?
            guard openssl.EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return false }
            openssl.BN_clear_free(number)
            return true
        }

        /// Whether the key has a private half of raw bytes (Ed25519, X25519).
        var hasRawPrivateKey: Bool {
            var count = 0
            return openssl.EVP_PKEY_get_raw_private_key(pointer, nil, &count) == 1
        }

        /// Whether the numbers of the key are those of a key, and its halves belong together.
        func isConsistent(isPrivate: Bool) -> Bool {
            guard let context = openssl.EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { return false }
            defer { openssl.EVP_PKEY_CTX_free(context) }
            if isPrivate { return openssl.EVP_PKEY_pairwise_check(context) == 1 }
            return openssl.EVP_PKEY_public_check_quick(context) == 1
        }
    }
#endif
