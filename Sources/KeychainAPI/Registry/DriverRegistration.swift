// SPDX-License-Identifier: MIT

/// Whether a driver can be used here and now, with the reason in words.
public enum DriverAvailability: Sendable, Hashable {
    /// It can; the text says what was found, for example which service answers.
    case available(String)
    /// There is nothing to use; the text says what to install, start or set.
    case unavailable(String)
    /// There is something, but it does not answer; the text says what, and what to do.
    ///
    /// Different from ``unavailable(_:)``: the user's store may be there, so no other driver is chosen in its place.
    case unreachable(String)

    /// The reason.
    public var reason: String {
        switch self {
        case .available(let reason), .unavailable(let reason), .unreachable(let reason): reason
        }
    }
}

/// How the registry reaches one driver.
public struct DriverRegistration: Sendable {
    /// The driver, and the scheme of its URLs.
    public let identifier: DriverIdentifier
    /// What it is, in one line.
    public let summary: String
    /// Its place in the order of choice, the highest first; nil for a driver that is only used when it is named.
    public let priority: Int?
    /// Says whether the driver can be used, within two seconds and without any side effect: no prompt, no file
    /// written, no service started.
    public let probe: @Sendable (_ url: StoreURL) -> DriverAvailability
    /// Opens a store.
    ///
    /// Throws `invalidParameter` for a URL it does not understand; may put off all else to the first call.
    public let open: @Sendable (_ url: StoreURL, _ options: StoreOptions) throws(KeychainError) -> any KeychainDriver

    /// Makes a registration.
    ///
    /// - Parameters:
    ///   - identifier: The driver, and the scheme of its URLs.
    ///   - summary: What it is, in one line.
    ///   - priority: Its place in the order of choice, nil for a driver that is only used when it is named.
    ///   - probe: Says whether the driver can be used, without side effects.
    ///   - open: Opens a store.
    public init(
        identifier: DriverIdentifier,
        summary: String,
        priority: Int?,
        probe: @escaping @Sendable (_ url: StoreURL) -> DriverAvailability,
        open:
            @escaping @Sendable (_ url: StoreURL, _ options: StoreOptions) throws(KeychainError) -> any KeychainDriver
    ) {
        self.identifier = identifier
        self.summary = summary
        self.priority = priority
        self.probe = probe
        self.open = open
    }
}
