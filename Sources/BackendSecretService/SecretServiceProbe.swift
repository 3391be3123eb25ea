// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI

    /// Finds out whether there is a Secret Service, within two seconds and without starting, asking or changing
    /// anything.
    struct SecretServiceProbe {
        /// The collection that a store would use.
        let collection: String
        /// Where the session bus is looked up.
        let environment: [String: String]

        private static let limit = Duration.seconds(2)
        /// What a provider of the service is called that owns another name as well.
        private static let providers = [
            (name: "org.gnome.keyring", title: "GNOME Keyring"),
            (name: "org.keepassxc.KeePassXC.MainWindow", title: "KeePassXC"),
            (name: "org.kde.kwalletd5", title: "KWallet"),
            (name: "org.kde.kwalletd6", title: "KWallet"),
        ]
        private static let advice = "Install and start one, for example the package gnome-keyring."

        func availability() -> DriverAvailability {
            let address: String
            do {
                address = try BusAddress.session(environment)
            } catch {
                // An address that cannot be read may be that of the user's store.
                return error.code == .invalidParameter ? .unreachable(error.message) : .unavailable(error.message)
            }
            let call = CallContext(.open, timeout: Self.limit, interaction: .never)
            do {
                return try look(BusConnection.open(address, call, limit: Self.limit), call)
            } catch {
                // A bus that is there and does not answer may lead to the user's store.
                return error.code == .timedOut ? .unreachable(error.message) : .unavailable(error.message)
            }
        }

        private func look(_ connection: BusConnection, _ call: CallContext) throws(KeychainError) -> DriverAvailability
        {
            let action = "The session bus could not be asked"
            let answers = try connection.perform(
                [
                    .owner(of: ServiceName.bus, action: action),
                    .bus("ListActivatableNames", [], reply: "(as)", action: action),
                ] + Self.providers.map { .owner(of: $0.name, action: action) },
                call,
                limit: Self.limit
            )
            guard case .success(let owner) = answers[0] else {
                let names = try answers[1].get()[0].texts
                if names.contains(ServiceName.bus) {
                    return .available("A Secret Service is installed, and is started when it is first used.")
                }
                return .unavailable(
                    "No Secret Service runs on the session bus, and none can be started. \(Self.advice)"
                )
            }
            let provider = zip(Self.providers, answers.dropFirst(2)).first { _, answer in
                (try? answer.get())?[0].text == owner[0].text
            }
            return try ask(owner[0].text, provider?.0.title ?? "A Secret Service", connection, call)
        }

        private func ask(
            _ owner: String,
            _ name: String,
            _ connection: BusConnection,
            _ call: CallContext
        ) throws(KeychainError) -> DriverAvailability {
            let request = BusCall(
                destination: owner,
                path: ServiceName.path,
                interface: ServiceName.service,
                method: "ReadAlias",
                arguments: .tuple([.string("default")]),
                reply: "(o)",
                action: "The Secret Service could not be asked"
            )
            do {
                let path = try connection.perform(request, call, limit: Self.limit)[0].text
                if path == "/" && collection.isEmpty {
                    return .unavailable(
                        "\(name) runs, but has no default collection. Make one, for example by logging in to the "
                            + "desktop or in "
                            + "Seahorse (Passwords and Keys)."
                    )
                }
                return .available("\(name) answers on the session bus.")
            } catch {
                return .unreachable("\(name) runs, but does not answer. \(error.message)")
            }
        }
    }
#endif
