// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import KeychainAPI
    import Synchronization

    /// A session: turns values into what a message carries, and back.
    ///
    /// Unchecked because of the pointer: it is used under the mutex only.
    final class SecretSession: @unchecked Sendable {
        /// Whether values are encrypted on the bus.
        private enum Form {
            /// By libsecret.
            case encrypted(OpaquePointer)
            /// Not at all: the bus belongs to the person, and carries them to no one else.
            case plain
        }

        private let form: Form
        private let proof = Mutex(false)
        private let mutex = Mutex(())
        /// The session's object path.
        let path: String

        private init(_ pointer: OpaquePointer) {
            form = .encrypted(pointer)
            path = String(cString: keychain_secret_session_path(pointer))
        }

        private init(plain path: String) {
            form = .plain
            self.path = path
        }

        deinit {
            if case .encrypted(let pointer) = form { glib.g_object_unref(UnsafeMutableRawPointer(pointer)) }
        }

        /// Whether a value that was written in it has come back as it was.
        var isProven: Bool { proof.withLock { $0 } }

        /// Notes that a value has come back as it was.
        func prove() { proof.withLock { $0 = true } }

        /// Negotiates a session: an encrypted one, or a plain one with a service that cannot encrypt.
        ///
        /// - Parameters:
        ///   - session: The connection, to which the session is bound, and the service.
        ///   - call: Deadline and cancellation.
        /// - Throws: Why there is none.
        static func open(_ session: ServiceSession, _ call: CallContext) throws(KeychainError) -> SecretSession {
            // Once more, since KWallet refuses one key in three hundred, which begins with a zero.
            for _ in 0..<2 {
                do {
                    return try encrypted(session.connection, call, limit: ServiceSession.answerLimit)
                } catch {
                    // KWallet without its plugin for encryption says anything but “not supported”, which is what
                    // libsecret knows.
                    guard error.underlying != nil, [.other, .noObject].contains(error.trouble) else { throw error }
                }
            }
            let request = session.request(
                ServiceName.path,
                ServiceName.service,
                "OpenSession",
                [.string("plain"), .boxed(.string(""))],
                reply: "(vo)",
                "No session could be opened"
            )
            return SecretSession(plain: try session.perform(request, call)[1].text)
        }

        private static func encrypted(
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

        /// A value as a message carries it, `(oayays)`.
        func encode(_ value: SecureBytes) -> Variant {
            mutex.withLock { _ in
                value.withBytes { bytes in
                    switch form {
                    case .encrypted(let pointer):
                        Variant(keychain_secret_session_encode(pointer, bytes.baseAddress, gsize(bytes.count)))
                    case .plain:
                        .tuple([
                            .objectPath(path), .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), .bytes(bytes),
                            .string("text/plain"),
                        ])
                    }
                }
            }
        }

        /// The value of a message.
        ///
        /// - Throws: An error whose trouble is `noSession` if it does not belong to this session or does not decrypt.
        func decode(_ secret: Variant) throws(KeychainError) -> SecureBytes {
            let value: SecureBytes? = mutex.withLock { _ in
                guard case .encrypted(let pointer) = form else {
                    return secret.type == "(oayays)" && secret[0].text == path ? secret[2].secureBytes : nil
                }
                guard let value = keychain_secret_session_decode(pointer, secret.pointer) else { return nil }
                defer { keychain_secret_value_free(value) }
                var count: gsize = 0
                let bytes = keychain_secret_value_bytes(value, &count)
                return SecureBytes(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            if let value { return value }
            throw Self.undecryptable
        }

        /// The error for a value that did not survive the session.
        static let undecryptable = KeychainError(
            .corrupt,
            "The Secret Service and this program do not understand each other's encryption. Restart the keyring's "
                + "daemon and try again.",
            underlying: .init(domain: KeychainError.answerDomain, code: 0, message: "undecryptable secret")
        )
    }
#endif
