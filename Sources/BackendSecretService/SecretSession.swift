// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import KeychainAPI
    import Synchronization

    /// An encrypted session: turns values into what a message carries, and back.
    ///
    /// Unchecked because of the pointer: it is used under the mutex only.
    final class SecretSession: @unchecked Sendable {
        private let pointer: OpaquePointer
        private let mutex = Mutex(())
        /// The session's object path.
        let path: String

        private init(_ pointer: OpaquePointer) {
            self.pointer = pointer
            path = String(cString: keychain_secret_session_path(pointer))
        }

        deinit {
            glib.g_object_unref(UnsafeMutableRawPointer(pointer))
        }

        /// Negotiates a session.
        ///
        /// - Parameters:
        ///   - connection: The connection, to which the session is bound.
        ///   - call: Deadline and cancellation.
        ///   - limit: How long it may take at most.
        /// - Throws: Why there is none.
        static func open(
            _ connection: BusConnection,
            _ call: CallContext,
            limit: Duration
        ) throws(KeychainError) -> SecretSession {
            let patience = min(limit, call.remaining ?? limit)
            let cancellable = Cancellable()
            let result = OneShot<Result<SecretSession, KeychainError>>()
            connection.thread.post {
                keychain_secret_session_open(
                    connection.pointer,
                    patience.milliseconds,
                    cancellable.pointer,
                    { source, answer, result in
                        let result = Unmanaged<OneShot<Result<SecretSession, KeychainError>>>.fromOpaque(result!)
                            .takeRetainedValue()
                        var error: UnsafeMutablePointer<GError>?
                        if let pointer = keychain_secret_session_open_finish(source, answer, &error) {
                            result.fulfil(.success(SecretSession(pointer)))
                        } else {
                            result.fulfil(.failure(.bus(error, "No encrypted session could be opened")))
                        }
                    },
                    Unmanaged.passRetained(result).toOpaque()
                )
            }
            // It ends by itself: with an answer, the timeout or the cancellation.
            let session = try call.withCancellationHandler {
                cancellable.cancel()
            } _: { () throws(KeychainError) in
                result.wait(nil)
            }
            if call.isCancelled { try call.check() }
            guard let session else { throw KeychainError(.internal, "A session was waited for and did not come.") }
            return try session.get()
        }

        /// Encrypts a value for a message, as `(oayays)`.
        func encode(_ value: SecureBytes) -> Variant {
            mutex.withLock { _ in
                value.withBytes { Variant(keychain_secret_session_encode(pointer, $0.baseAddress, gsize($0.count))) }
            }
        }

        /// Decrypts the value of a message.
        ///
        /// - Throws: An error whose trouble is `noSession` if it does not belong to this session or does not decrypt.
        func decode(_ secret: Variant) throws(KeychainError) -> SecureBytes {
            let value: SecureBytes? = mutex.withLock { _ in
                guard let value = keychain_secret_session_decode(pointer, secret.pointer) else { return nil }
                defer { keychain_secret_value_free(value) }
                var count: gsize = 0
                let bytes = keychain_secret_value_bytes(value, &count)
                return SecureBytes(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            if let value { return value }
            throw KeychainError(
                .corrupt,
                "The Secret Service sent a value that does not decrypt. Restart the keyring's daemon and try again.",
                underlying: .init(domain: KeychainError.answerDomain, code: 0, message: "undecryptable secret")
            )
        }
    }
#endif
