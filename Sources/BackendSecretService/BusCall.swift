// SPDX-License-Identifier: MIT
#if SecretService
    import Glibc

    /// A method call that has not been sent yet.
    struct BusCall: Sendable {
        let destination: String
        let path: String
        let interface: String
        let method: String
        let arguments: Variant
        /// The signature of the answer; an answer of another one is an error.
        let reply: String
        /// What is being done, as error messages begin.
        let action: String

        /// A call of the bus itself.
        static func bus(_ method: String, _ arguments: [Variant], reply: String, action: String) -> BusCall {
            BusCall(
                destination: "org.freedesktop.DBus",
                path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus",
                method: method,
                arguments: .tuple(arguments),
                reply: reply,
                action: action
            )
        }

        /// A call that asks the bus who owns a name; the unique name is the text of the answer.
        static func owner(of name: String, action: String) -> BusCall {
            bus("GetNameOwner", [.string(name)], reply: "(s)", action: action)
        }
    }

    /// The names of the Secret Service on the bus.
    enum ServiceName {
        /// The name that libsecret uses: the standard one, unless a variable of its own names another.
        static let bus = getenv("SECRET_SERVICE_BUS_NAME").map { String(cString: $0) } ?? "org.freedesktop.secrets"
        static let path = "/org/freedesktop/secrets"
        static let service = "org.freedesktop.Secret.Service"
        static let collection = "org.freedesktop.Secret.Collection"
        static let item = "org.freedesktop.Secret.Item"
        static let prompt = "org.freedesktop.Secret.Prompt"
        static let properties = "org.freedesktop.DBus.Properties"
    }
#endif
