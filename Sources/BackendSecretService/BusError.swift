// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import KeychainAPI

    /// What the driver has to tell apart in the failures of calls, beyond the code of the error.
    enum BusTrouble: Sendable {
        /// The connection, the service or its process is gone; another attempt needs a new connection.
        case lost
        /// The service does not know the session any more, or a secret did not decrypt; another attempt needs a new
        /// one.
        case noSession
        /// There is no such object: no such item, collection or prompt.
        case noObject
        /// The item or its collection is locked.
        case locked
        /// No answer came in time, so that it is not known whether the call had an effect.
        case unanswered
        /// Anything else.
        case other

        /// The name of the error for what is locked.
        static let lockedDomain = "org.freedesktop.Secret.Error.IsLocked"
    }

    extension KeychainError {
        /// The domain of failures that this driver finds in answers.
        static let answerDomain = "secret-service"

        /// What kind of failure of a call this is.
        var trouble: BusTrouble {
            guard let underlying else { return .other }
            // KWallet has no error of its own for it, and uses the one of a missing item.
            if underlying.message.contains("/org/freedesktop/secrets/session/") { return .noSession }
            switch underlying.domain {
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
                return .lost
            case "org.freedesktop.Secret.Error.NoSession":
                return .noSession
            // Servers differ in which of these they use for an item that is not there.
            case "org.freedesktop.Secret.Error.NoSuchObject", "org.freedesktop.DBus.Error.UnknownMethod",
                "org.freedesktop.DBus.Error.UnknownObject":
                return .noObject
            case BusTrouble.lockedDomain:
                return .locked
            case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
                return .unanswered
            case "g-io-error-quark":
                switch UInt32(truncatingIfNeeded: underlying.code) {
                case G_IO_ERROR_CLOSED.rawValue, G_IO_ERROR_BROKEN_PIPE.rawValue: return .lost
                case G_IO_ERROR_TIMED_OUT.rawValue, G_IO_ERROR_CANCELLED.rawValue: return .unanswered
                default: return .other
                }
            case Self.answerDomain:
                return .noSession
            default:
                return .other
            }
        }

        /// The error for a failed call.
        ///
        /// - Parameters:
        ///   - error: GLib's error, which is freed.
        ///   - action: What was being done, as in "The items could not be listed".
        static func bus(_ error: UnsafeMutablePointer<GError>?, _ action: String) -> KeychainError {
            guard let error else {
                return KeychainError(.internal, "\(action), and GLib does not say why. Please report it.")
            }
            defer { glib.g_error_free(error) }
            var domain = String(cString: glib.g_quark_to_string(error.pointee.domain)!)
            if let name = glib.g_dbus_error_get_remote_error(error) {
                domain = String(cString: name)
                glib.g_free(name)
                _ = glib.g_dbus_error_strip_remote_error(error)
            }
            let message = String(cString: error.pointee.message)
            let underlying = Underlying(domain: domain, code: Int(error.pointee.code), message: message)
            let (code, remedy) = explanation(of: KeychainError(.io, "", underlying: underlying), domain)
            return KeychainError(code, "\(action): \(remedy)", underlying: underlying)
        }

        /// The error for an answer of the right form in which something is missing, or is of another type than it
        /// must be: nothing may be concluded from it.
        static func nonsense(_ action: String) -> KeychainError {
            KeychainError(.io, "\(action): the Secret Service gave an answer that makes no sense. See its log.")
        }

        /// The error for a call that was given up because its time was over.
        static func unanswered(_ action: String) -> KeychainError {
            let code = Int(G_IO_ERROR_TIMED_OUT.rawValue)
            let underlying = Underlying(domain: "g-io-error-quark", code: code, message: "the deadline has passed")
            let (_, remedy) = explanation(of: KeychainError(.io, "", underlying: underlying), underlying.domain)
            return KeychainError(.timedOut, "\(action): \(remedy)", underlying: underlying)
        }

        private static func explanation(of error: KeychainError, _ domain: String) -> (Code, String) {
            switch error.trouble {
            case .lost:
                return (.unavailable, "the Secret Service went away. Try again; if that fails, start your keyring.")
            case .noSession: return (.unavailable, "the Secret Service lost the session. Try again.")
            case .noObject: return (.unavailable, "the Secret Service has no such object any more. Try again.")
            case .locked: return (.interactionNotAllowed, "it is locked. Unlock the keyring and try again.")
            case .unanswered:
                return (
                    .timedOut, "the Secret Service did not answer in time. Look whether it hangs, or allow more time."
                )
            case .other: break
            }
            let isPermissionDenied =
                domain == "g-io-error-quark" && error.underlying?.code == Int(G_IO_ERROR_PERMISSION_DENIED.rawValue)
            switch domain {
            case _ where isPermissionDenied:
                return (.accessDenied, "the bus belongs to someone else. Use the session bus of the user you are.")
            case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed":
                return (
                    .accessDenied,
                    "the Secret Service or the bus refused access. In a sandbox, allow org.freedesktop.secrets."
                )
            case "org.freedesktop.DBus.Error.NotSupported":
                return (.unsupported, "the Secret Service cannot do this.")
            case "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory":
                return (.outOfSpace, "the Secret Service or the bus is out of memory.")
            case let name where name.hasPrefix("org.freedesktop.DBus.Error.Spawn"):
                return (.unavailable, "the Secret Service could not be started. See the journal of the user's session.")
            default:
                return (.io, "the Secret Service answered with an error. See its log.")
            }
        }
    }
#endif
