// SPDX-License-Identifier: MIT

/// The drivers that a program knows, as a value: there is no global one to configure.
public struct DriverRegistry: Sendable {
    /// What the registry found out about one driver.
    public struct Report: Sendable {
        /// The driver.
        public let identifier: DriverIdentifier
        /// What it is, in one line.
        public let summary: String
        /// Whether it can be used, and why.
        public let availability: DriverAvailability
    }

    /// Which store was chosen, and why.
    public struct Choice: Sendable, Hashable {
        /// The store.
        public let url: StoreURL
        /// Why this one, in a sentence.
        public let reason: String
    }

    private var registrations: [DriverRegistration]

    /// Makes a registry.
    ///
    /// - Parameter registrations: The drivers; of two with one identifier the later one counts.
    public init(_ registrations: [DriverRegistration] = []) {
        self.registrations = []
        for registration in registrations { register(registration) }
    }

    /// Adds a driver, or replaces the one with the same identifier.
    ///
    /// - Parameter registration: The driver.
    public mutating func register(_ registration: DriverRegistration) {
        registrations.removeAll { $0.identifier == registration.identifier }
        registrations.append(registration)
    }

    /// The drivers, in the order of choice: by priority, those without one last.
    public var drivers: [DriverRegistration] {
        registrations.sorted {
            ($0.priority ?? .min, $1.identifier.rawValue) > ($1.priority ?? .min, $0.identifier.rawValue)
        }
    }

    /// Opens the store that a URL names.
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - options: How it is opened.
    /// - Throws: `unavailable` for a driver that this program does not have, and what the driver throws.
    public func open(_ url: StoreURL, options: StoreOptions = StoreOptions()) throws(KeychainError)
        -> any KeychainDriver
    {
        guard let registration = registrations.first(where: { $0.identifier == url.driver }) else {
            let known = drivers.map { "\($0.identifier):" }.joined(separator: ", ")
            throw KeychainError(
                .unavailable,
                "This program has no driver for ‘\(url.driver):’. It knows \(known.isEmpty ? "none" : known). "
                    + "Build it with the trait that brings the driver (File, SecretService), or register your own."
            ).located(driver: url.driver, location: url.description, operation: .open)
        }
        var options = options
        options.registry = options.registry ?? self
        do {
            return try registration.open(url, options)
        } catch {
            throw error.located(driver: url.driver, location: url.description, operation: .open)
        }
    }

    /// Asks every driver whether it can be used, without any side effect.
    ///
    /// - Complexity: One probe for each driver, each of two seconds at most.
    public func survey() -> [Report] {
        drivers.map { registration in
            Report(
                identifier: registration.identifier,
                summary: registration.summary,
                availability: registration.probe(StoreURL(driver: registration.identifier, path: ""))
            )
        }
    }

    /// Chooses a store: the one that is named, else the one used before, else the first driver that can be used.
    ///
    /// The choice never falls back to another driver when one holds the user's store and does not answer.
    ///
    /// - Parameters:
    ///   - explicit: A store that the caller names.
    ///   - environment: Where `KEYCHAIN_STORE` is looked up.
    ///   - remembered: The store that an earlier choice wrote to, nil if there was none.
    /// - Throws: `invalidParameter` if `KEYCHAIN_STORE` is not UTF-8 or not a URL, `unavailable` if no driver can be used or the
    ///   one that counts does not answer.
    public func choose(
        explicit: StoreURL? = nil,
        environment: [String: String],
        remembered: StoreURL? = nil
    ) throws(KeychainError) -> Choice {
        if let explicit { return Choice(url: explicit, reason: "It was named.") }
        if let variable = try environment.variable("KEYCHAIN_STORE"), !variable.isEmpty {
            return Choice(url: try StoreURL(parsing: variable), reason: "KEYCHAIN_STORE names it.")
        }
        if let remembered { return try stay(with: remembered) }
        var reasons: [String] = []
        for registration in drivers where registration.priority != nil {
            let url = StoreURL(driver: registration.identifier, path: "")
            switch registration.probe(url) {
            case .available(let reason):
                return Choice(url: url, reason: reason)
            case .unavailable(let reason):
                reasons.append("\(registration.identifier): \(reason)")
            case .unreachable(let reason):
                throw KeychainError(
                    .unavailable,
                    "Your store may be in \(url), which does not answer: \(reason) To use another one, name it in "
                        + "KEYCHAIN_STORE, for example KEYCHAIN_STORE=file:."
                ).located(driver: url.driver, location: url.description, operation: .open)
            }
        }
        throw KeychainError(
            .unavailable,
            "No store can be used here. \(reasons.joined(separator: " ")) Name one in KEYCHAIN_STORE."
        )
    }

    private func stay(with remembered: StoreURL) throws(KeychainError) -> Choice {
        let problem: String
        if let registration = registrations.first(where: { $0.identifier == remembered.driver }) {
            let availability = registration.probe(remembered)
            if case .available = availability {
                return Choice(url: remembered, reason: "Your items have been stored there before.")
            }
            problem = availability.reason
        } else {
            problem = "This program was built without that driver."
        }
        throw KeychainError(
            .unavailable,
            "Your items are in \(remembered), which cannot be reached: \(problem) To use another store on purpose, "
                + "name it in KEYCHAIN_STORE."
        ).located(driver: remembered.driver, location: remembered.description, operation: .open)
    }
}
