// SPDX-License-Identifier: MIT

/// A store of secrets: a driver, and how it is to be used.
///
/// An immutable place with a few settings, cheap to copy and safe to use from any thread and task. Every verb has a
/// synchronous form, which blocks the calling thread, and an asynchronous one of the same name, which never blocks
/// the cooperative pool and ends when its task is cancelled.
///
/// ```swift
/// try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
/// let token: String? = try keychain.retrieve(.credential(for: "OpenAI"))
/// try keychain.remove(.credential(for: "OpenAI"))
/// ```
///
/// A keychain is varied with ``with(_:)``:
///
/// ```swift
/// let background = keychain.with {
///     $0.interaction = .never
///     $0.timeout = .seconds(5)
/// }
/// ```
@dynamicMemberLookup
public struct Keychain: Sendable {
    /// The driver that keeps the items.
    public let driver: any KeychainDriver

    /// How the store is used; each setting is also a property of the keychain itself, as in `keychain.timeout`.
    public let configuration: KeychainConfiguration

    /// Makes a keychain.
    ///
    /// - Parameters:
    ///   - driver: The driver that keeps the items.
    ///   - applicationIdentifier: The service of keys and containers that name none, for example `com.example.app`; nil
    ///     for the name of the executable.
    ///   - accessGroup: The group in which items are stored and looked for.
    ///   - accessPolicy: The policy of items that are stored without one.
    ///   - synchronizable: Which items a query means that does not say.
    ///   - timeout: How long a call may take, nil for the driver's own limits.
    ///   - interaction: Whether a call may show a prompt.
    ///   - authenticationContext: Who confirms the reading of items whose policy demands it.
    ///   - authenticationReason: What the person is told that a confirmation is for.
    ///   - applicationPassword: Encrypts the values of items whose policy demands it.
    ///   - refusesDuplicates: Whether several items of other programs for one primary key are `ambiguous`.
    public init(
        driver: any KeychainDriver,
        applicationIdentifier: String? = nil,
        accessGroup: AccessGroup = .default,
        accessPolicy: AccessPolicy = .default,
        synchronizable: Synchronizability = .local,
        timeout: Duration? = nil,
        interaction: InteractionPolicy = .allowed,
        authenticationContext: (any AuthenticationContext)? = nil,
        authenticationReason: String = "",
        applicationPassword: (any ApplicationPassword)? = nil,
        refusesDuplicates: Bool = false
    ) {
        self.init(
            driver: driver,
            configuration: KeychainConfiguration(
                applicationIdentifier: applicationIdentifier ?? KeychainConfiguration.executableName,
                accessGroup: accessGroup,
                accessPolicy: accessPolicy,
                synchronizable: synchronizable,
                timeout: timeout,
                interaction: interaction,
                authenticationContext: authenticationContext,
                authenticationReason: authenticationReason,
                applicationPassword: applicationPassword,
                refusesDuplicates: refusesDuplicates
            )
        )
    }

    package init(driver: any KeychainDriver, configuration: KeychainConfiguration) {
        self.driver = driver
        self.configuration = configuration
    }

    /// The same store, used in another way.
    ///
    /// - Parameter change: Changes the settings.
    /// - Returns: Another keychain; this one stays as it is.
    /// - Throws: What the closure throws.
    public func with<Failure: Error>(
        _ change: (inout KeychainConfiguration) throws(Failure) -> Void
    ) throws(Failure) -> Keychain {
        var changed = configuration
        try change(&changed)
        return Keychain(driver: driver, configuration: changed)
    }

    /// A setting.
    ///
    /// - Parameter setting: Which one.
    public subscript<Setting>(dynamicMember setting: KeyPath<KeychainConfiguration, Setting>) -> Setting {
        configuration[keyPath: setting]
    }

    /// Where the store is, as a store URL.
    public var location: String { driver.location }

    /// What the store can do beyond the common contract.
    public var capabilities: DriverCapabilities { driver.capabilities }
}

extension Keychain: Hashable {
    /// Whether both are the same store, used in the same way.
    public static func == (left: Keychain, right: Keychain) -> Bool {
        left.driver.identifier == right.driver.identifier && left.location.isIdentical(to: right.location)
            && left.configuration == right.configuration
    }

    /// Hashes the store and the settings.
    public func hash(into hasher: inout Hasher) {
        location.hashBytes(into: &hasher)
        hasher.combine(configuration)
    }
}

extension Keychain: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The location, the group and the application identifier.
    public var description: String {
        "Keychain(\(location), group: \(configuration.accessGroup), application: \(configuration.applicationIdentifier))"
    }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror that shows the location and the settings.
    public var customMirror: Mirror { Mirror(self, children: ["location": location, "configuration": configuration]) }
}
