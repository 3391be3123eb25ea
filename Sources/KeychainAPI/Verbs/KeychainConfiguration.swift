// SPDX-License-Identifier: MIT

import FoundationEssentials

/// How a ``Keychain`` uses its store: what a call takes where it does not say otherwise.
///
/// Read from ``Keychain/configuration``, and changed in ``Keychain/with(_:)``.
public struct KeychainConfiguration: Sendable {
    /// The service of keys and containers that name none: never empty.
    ///
    /// If the application gives none it is the name of its executable. Give one, in the form `com.example.app`: an
    /// executable that is renamed would no longer find its items.
    ///
    /// - Precondition: Not empty.
    public var applicationIdentifier: String {
        didSet { precondition(!applicationIdentifier.isEmpty, Self.emptyIdentifier) }
    }

    /// The group in which items are stored and looked for, where a query names none.
    public var accessGroup: AccessGroup

    /// The policy of items that are stored without one.
    public var accessPolicy: AccessPolicy

    /// Which items a query means that does not say.
    ///
    /// Where it is ``Synchronizability/any``, items are found whether they are marked for synchronization or not, and
    /// new ones are not marked.
    public var synchronizable: Synchronizability

    /// How long a call may take, nil for the driver's own limits.
    public var timeout: Duration?

    /// Whether a call may show a prompt.
    ///
    /// `contains`, `info` and `infoAll` never ask to unlock a store.
    public var interaction: InteractionPolicy

    /// Who confirms the reading of items whose ``AccessPolicy`` demands it; nil if no one can.
    public var authenticationContext: (any AuthenticationContext)?

    /// What the person is told that a confirmation is for, in the person's language: "Sign in to example.com".
    public var authenticationReason: String

    /// Encrypts the values of items whose policy has ``AccessPolicy/Options/applicationPassword``; nil if nothing does.
    public var applicationPassword: (any ApplicationPassword)?

    /// Whether several items that other programs have left for one primary key are `ambiguous`.
    ///
    /// If not, the most recently modified one speaks for all of them. Only a store that is shared with other programs
    /// (``DriverCapabilities/sharedWithOtherPrograms``) can hold such items.
    public var refusesDuplicates: Bool

    init(
        applicationIdentifier: String,
        accessGroup: AccessGroup,
        accessPolicy: AccessPolicy,
        synchronizable: Synchronizability,
        timeout: Duration?,
        interaction: InteractionPolicy,
        authenticationContext: (any AuthenticationContext)?,
        authenticationReason: String,
        applicationPassword: (any ApplicationPassword)?,
        refusesDuplicates: Bool
    ) {
        precondition(!applicationIdentifier.isEmpty, Self.emptyIdentifier)
        self.applicationIdentifier = applicationIdentifier
        self.accessGroup = accessGroup
        self.accessPolicy = accessPolicy
        self.synchronizable = synchronizable
        self.timeout = timeout
        self.interaction = interaction
        self.authenticationContext = authenticationContext
        self.authenticationReason = authenticationReason
        self.applicationPassword = applicationPassword
        self.refusesDuplicates = refusesDuplicates
    }

    private static let emptyIdentifier = "An application identifier is not empty"

    /// The name of this program's executable.
    static let executableName: String = {
        let name = ProcessInfo.processInfo.processName
        // A program that was started without any arguments, its own name included, has none.
        return name.isEmpty ? "swift-keychain" : name
    }()
}

extension KeychainConfiguration: Hashable {
    /// Compares two configurations: text byte by byte, and who is asked by identity.
    public static func == (left: KeychainConfiguration, right: KeychainConfiguration) -> Bool {
        left.applicationIdentifier.isIdentical(to: right.applicationIdentifier)
            && left.accessGroup == right.accessGroup && left.accessPolicy == right.accessPolicy
            && left.synchronizable == right.synchronizable && left.timeout == right.timeout
            && left.interaction == right.interaction && left.refusesDuplicates == right.refusesDuplicates
            && left.authenticationReason.isIdentical(to: right.authenticationReason)
            && left.authenticationContext === right.authenticationContext
            && left.applicationPassword === right.applicationPassword
    }

    /// Hashes the settings that are values.
    public func hash(into hasher: inout Hasher) {
        applicationIdentifier.hashBytes(into: &hasher)
        hasher.combine(accessGroup)
        hasher.combine(accessPolicy)
        hasher.combine(synchronizable)
        hasher.combine(timeout)
        hasher.combine(interaction)
        hasher.combine(refusesDuplicates)
    }
}
