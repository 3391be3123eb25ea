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
public struct Keychain: Sendable {
    /// The driver that keeps the items.
    public let driver: any KeychainDriver

    /// The group in which items are stored and looked for, where a query names none.
    public var accessGroup: AccessGroup

    /// How long a call may take, nil for the driver's own limits.
    public var timeout: Duration?

    /// Whether a call may show a prompt.
    ///
    /// `contains`, `info` and `infoAll` never ask to unlock a store.
    public var interaction: InteractionPolicy

    /// Who confirms the reading of items whose ``AccessPolicy`` demands it; nil if no one can.
    public var authenticationContext: (any AuthenticationContext)?

    /// Whether several items that other programs have left for one primary key are `ambiguous`.
    ///
    /// If not, the most recently modified one speaks for all of them. Only a store that is shared with other programs
    /// (``DriverCapabilities/sharedWithOtherPrograms``) can hold such items.
    public var refusesDuplicates: Bool

    /// Makes a keychain.
    ///
    /// - Parameters:
    ///   - driver: The driver that keeps the items.
    ///   - accessGroup: The group in which items are stored and looked for.
    ///   - timeout: How long a call may take, nil for the driver's own limits.
    ///   - interaction: Whether a call may show a prompt.
    ///   - authenticationContext: Who confirms the reading of items whose policy demands it.
    ///   - refusesDuplicates: Whether several items of other programs for one primary key are `ambiguous`.
    public init(
        driver: any KeychainDriver,
        accessGroup: AccessGroup = .default,
        timeout: Duration? = nil,
        interaction: InteractionPolicy = .allowed,
        authenticationContext: (any AuthenticationContext)? = nil,
        refusesDuplicates: Bool = false
    ) {
        self.driver = driver
        self.accessGroup = accessGroup
        self.timeout = timeout
        self.interaction = interaction
        self.authenticationContext = authenticationContext
        self.refusesDuplicates = refusesDuplicates
    }

    /// Where the store is, as a store URL.
    public var location: String { driver.location }

    /// What the store can do beyond the common contract.
    public var capabilities: DriverCapabilities { driver.capabilities }
}

extension Keychain: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The location and the group.
    public var description: String { "Keychain(\(location), group: \(accessGroup))" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror that shows what the description shows.
    public var customMirror: Mirror { Mirror(self, children: ["location": location, "accessGroup": accessGroup]) }
}
