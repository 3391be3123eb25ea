// SPDX-License-Identifier: MIT
#if File
    import CSodium
    package import KeychainAPI

    /// One direction of libsodium's `crypto_secretstream_xchacha20poly1305`: messages that can neither be changed, left out,
    /// repeated, reordered nor cut off without being noticed.
    package final class SecretStream {
        /// The length of the header, which is random and not secret.
        package static let headerSize = Int(crypto_secretstream_xchacha20poly1305_headerbytes())
        /// The length that sealing adds to a message.
        package static let overhead = Int(crypto_secretstream_xchacha20poly1305_abytes())

        /// It holds the key of the next message, in memory that libsodium guards.
        private let state: UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>

        private init() throws(KeychainError) {
            try Sodium.prepare()
            guard let memory = sodium_malloc(MemoryLayout<crypto_secretstream_xchacha20poly1305_state>.size) else {
                throw KeychainError(.io, "There is not enough memory that can be guarded. Free some.")
            }
            state = memory.assumingMemoryBound(to: crypto_secretstream_xchacha20poly1305_state.self)
        }

        deinit { sodium_free(state) }

        /// Begins a stream that is written.
        ///
        /// - Parameter key: 32 bytes.
        /// - Returns: The stream and its header.
        package static func sealing(with key: SecureBytes) throws(KeychainError) -> (SecretStream, header: [UInt8]) {
            let stream = try SecretStream()
            let header = [UInt8](unsafeUninitializedCapacity: headerSize) { buffer, initialized in
                key.withBytes { key in
                    _ = crypto_secretstream_xchacha20poly1305_init_push(stream.state, buffer.baseAddress!, key.bytes)
                }
                initialized = headerSize
            }
            return (stream, header)
        }

        /// Begins a stream that is read.
        ///
        /// - Parameters:
        ///   - key: 32 bytes.
        ///   - header: The header, of ``headerSize`` bytes.
        package static func opening(_ header: [UInt8], with key: SecureBytes) throws(KeychainError) -> SecretStream {
            precondition(header.count == headerSize, "A stream begins with its header")
            let stream = try SecretStream()
            key.withBytes { key in
                _ = crypto_secretstream_xchacha20poly1305_init_pull(stream.state, header, key.bytes)
            }
            return stream
        }

        /// Seals the next message.
        ///
        /// - Parameters:
        ///   - message: The message.
        ///   - associated: What is authenticated with it.
        ///   - isLast: Whether the stream ends with it.
        /// - Returns: The sealed message, ``overhead`` longer.
        package func seal(_ message: SecureBytes, associated: [UInt8], isLast: Bool) -> [UInt8] {
            let tag =
                isLast
                ? crypto_secretstream_xchacha20poly1305_tag_final()
                : crypto_secretstream_xchacha20poly1305_tag_message()
            return [UInt8](unsafeUninitializedCapacity: message.count + Self.overhead) { buffer, initialized in
                message.withBytes { message in
                    _ = crypto_secretstream_xchacha20poly1305_push(
                        state,
                        buffer.baseAddress!,
                        nil,
                        message.bytes,
                        UInt64(message.count),
                        associated,
                        UInt64(associated.count),
                        tag
                    )
                }
                initialized = message.count + Self.overhead
            }
        }

        /// Opens the next message.
        ///
        /// - Returns: The message, and whether the stream ends with it; nil if it is not the authentic next one.
        package func open(_ sealed: ArraySlice<UInt8>, associated: [UInt8]) -> (message: SecureBytes, isLast: Bool)? {
            guard sealed.count >= Self.overhead else { return nil }
            var tag: UInt8 = 0
            var isAuthentic = false
            let message = SecureBytes(count: sealed.count - Self.overhead) { target in
                sealed.withUnsafeBytes { sealed in
                    isAuthentic =
                        crypto_secretstream_xchacha20poly1305_pull(
                            state,
                            target.bytes,
                            nil,
                            &tag,
                            sealed.bytes,
                            UInt64(sealed.count),
                            associated,
                            UInt64(associated.count)
                        ) == 0
                }
            }
            return isAuthentic ? (message, tag == crypto_secretstream_xchacha20poly1305_tag_final()) : nil
        }
    }
#endif
