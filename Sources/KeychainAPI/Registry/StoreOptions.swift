// SPDX-License-Identifier: MIT

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// What to do about a store that does not exist.
    public enum Creation: Sendable, Hashable {
        /// It is `unavailable`.
        case never
        /// It is empty, and created by the first write.
        case ifMissing
        /// It is created at once; one that exists is refused with `duplicateItem`.
        case mustBeNew
    }

    /// What is asked of the permissions of the files that the store consists of or is unlocked with.
    public enum Permissions: Sendable, Hashable {
        /// A file that its group or others may touch is `insecurePermissions`.
        case ownerOnly
        /// Any will do, where another guard keeps others out: a container of one's own, a secret that is mounted into it.
        case any
    }

    /// Where the passphrase or key comes from, nil if the store needs none or the driver knows where to look.
    public var keySource: KeySource?
    /// Who asks the person for a passphrase, nil if no one can.
    public var prompt: (any PassphrasePrompt)?
    /// Whether opening may show a prompt of the store's own, as the Secret Service does for a new collection.
    public var interaction: InteractionPolicy
    /// What to do about a store that does not exist.
    public var creation: Creation
    /// What is asked of the permissions of the files.
    public var permissions: Permissions
    /// Is told why a passphrase that is being chosen is easy to guess (``KeyMaterial/weakness``); it is used all the same.
    public var weaknessNotice: (@Sendable (_ weakness: String) -> Void)?
    /// How long opening may take, nil for the driver's own limit.
    public var timeout: Duration?
    /// Whether a store that is older than when it was last seen is refused with `rolledBack`, and one that has vanished
    /// since then with `unavailable`, whatever ``creation-swift.property`` says but ``Creation-swift.enum/mustBeNew``.
    ///
    /// What was seen is remembered in the user's state folder (`XDG_STATE_HOME`) by who writes to the store.
    public var detectsRollback: Bool
    /// Where another store is opened that keeps the key of this one (``KeySource/store(_:)``).
    ///
    /// Set by ``DriverRegistry/open(_:options:)``.
    public var registry: DriverRegistry?

    /// Makes options.
    ///
    /// - Parameters:
    ///   - keySource: Where the passphrase or key comes from.
    ///   - prompt: Who asks the person for a passphrase.
    ///   - interaction: Whether opening may show a prompt of the store's own.
    ///   - creation: What to do about a store that does not exist.
    ///   - permissions: What is asked of the permissions of the files.
    ///   - weaknessNotice: Is told why a passphrase that is being chosen is easy to guess.
    ///   - timeout: How long opening may take.
    ///   - detectsRollback: Whether a store that is older than when it was last seen is refused.
    ///   - registry: Where another store is opened that keeps the key of this one.
    public init(
        keySource: KeySource? = nil,
        prompt: (any PassphrasePrompt)? = nil,
        interaction: InteractionPolicy = .allowed,
        creation: Creation = .never,
        permissions: Permissions = .ownerOnly,
        weaknessNotice: (@Sendable (_ weakness: String) -> Void)? = nil,
        timeout: Duration? = nil,
        detectsRollback: Bool = true,
        registry: DriverRegistry? = nil
    ) {
        self.keySource = keySource
        self.prompt = prompt
        self.interaction = interaction
        self.creation = creation
        self.permissions = permissions
        self.weaknessNotice = weaknessNotice
        self.timeout = timeout
        self.detectsRollback = detectsRollback
        self.registry = registry
    }
}
