// SPDX-License-Identifier: MIT

/// When an item may be read, and what the person must confirm for it.
///
/// The policy is stored with the item and read back. What Linux cannot enforce is refused with `unsupported` when the
/// item is stored, never silently accepted; see ``validate()``.
public struct AccessPolicy: Hashable, Sendable {
    /// When an item may be read.
    ///
    /// The raw value is Apple's (`kSecAttrAccessible…`).
    public enum Accessibility: String, Sendable, Hashable, CaseIterable {
        /// Only while a passcode is set, and never on another device. Linux knows no device passcode: `unsupported`.
        case whenPasscodeSetThisDeviceOnly = "akpu"
        /// While the store is unlocked, and never on another device.
        case whenUnlockedThisDeviceOnly = "aku"
        /// While the store is unlocked.
        case whenUnlocked = "ak"
        /// Once the store has been unlocked, and never on another device.
        case afterFirstUnlockThisDeviceOnly = "cku"
        /// Once the store has been unlocked.
        case afterFirstUnlock = "ck"

        /// Whether the item is left out of copies to other stores.
        public var isThisDeviceOnly: Bool {
            switch self {
            case .whenPasscodeSetThisDeviceOnly, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly: true
            case .whenUnlocked, .afterFirstUnlock: false
            }
        }
    }

    /// What the person must confirm before a value is read.
    public struct Options: OptionSet, Sendable, Hashable {
        /// Apple's bits (`SecAccessControlCreateFlags`).
        public let rawValue: UInt32

        /// Makes a set from Apple's bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The person's presence, however it is shown.
        public static let userPresence = Options(rawValue: 1 << 0)
        /// Any enrolled biometry.
        public static let biometryAny = Options(rawValue: 1 << 1)
        /// The biometry that is enrolled now.
        public static let biometryCurrentSet = Options(rawValue: 1 << 3)
        /// The login password.
        public static let devicePasscode = Options(rawValue: 1 << 4)
        /// A paired watch, of which Linux knows none: `unsupported`.
        public static let watch = Options(rawValue: 1 << 5)
        /// Any one of the others is enough.
        public static let or = Options(rawValue: 1 << 14)
        /// All of the others are needed.
        public static let and = Options(rawValue: 1 << 15)
        /// The key may be used but not read, for which there is no hardware that every machine has: `unsupported`.
        public static let privateKeyUsage = Options(rawValue: 1 << 30)
        /// A password of the application's own, with which the value is encrypted; see ``ApplicationPassword``.
        public static let applicationPassword = Options(rawValue: 1 << 31)
    }

    /// When the item may be read.
    public let accessibility: Accessibility
    /// What the person must confirm.
    public let options: Options

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - accessibility: When the item may be read.
    ///   - options: What the person must confirm.
    public init(_ accessibility: Accessibility, options: Options = []) {
        self.accessibility = accessibility
        self.options = options
    }

    /// Readable once the store has been unlocked, without further confirmation.
    public static let `default` = AccessPolicy(.afterFirstUnlock)

    /// What an ``AuthenticationContext`` is asked for.
    static let confirmations: Options = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .or, .and]
    private static let persons = confirmations.subtracting([.or, .and])

    /// Throws unless the policy can be kept on Linux.
    ///
    /// - Throws: `unsupported` for a device passcode, a key that cannot be read and a watch; `invalidParameter` for
    ///   options that contradict each other, as Apple's keychain does.
    public func validate() throws(KeychainError) {
        if accessibility == .whenPasscodeSetThisDeviceOnly {
            throw KeychainError(
                .unsupported,
                "Linux has no device passcode, so whenPasscodeSetThisDeviceOnly cannot be kept. Use "
                    + "whenUnlockedThisDeviceOnly."
            )
        }
        if !options.isSubset(of: Self.confirmations.union(.applicationPassword)) {
            throw KeychainError(
                .unsupported,
                "A key that can only be used, a watch, and unknown options cannot be kept here. Leave them out of the "
                    + "policy's options."
            )
        }
        let combines = options.isSuperset(of: [.or, .and])
        let biometries = options.isSuperset(of: [.biometryAny, .biometryCurrentSet])
        let alone = options.contains(.userPresence) && options.intersection(Self.persons) != .userPresence
        let lonely = options.intersection(Self.persons).isEmpty && !options.isDisjoint(with: [.or, .and])
        if combines || biometries || alone || lonely {
            throw KeychainError(
                .invalidParameter,
                "The policy's options contradict each other: ‘or’ and ‘and’ exclude each other, as do both biometries, "
                    + "and userPresence stands alone."
            )
        }
    }

    func write(to attributes: inout AttributeSet) {
        attributes[.accessible] = .text(accessibility.rawValue)
        attributes[.accessControl] = options.isEmpty ? nil : .integer(Int64(options.rawValue))
    }

    /// The policy of a record; the default one for an item that another program stored.
    ///
    /// A policy that is there and cannot be read, of a later version perhaps, is taken for a strict one.
    package init(of record: ItemRecord) {
        var accessibility = Self.default.accessibility
        if let stored = record.attributes[.accessible] {
            accessibility = .whenUnlockedThisDeviceOnly
            if case .text(let text) = stored, let known = Accessibility(rawValue: text) { accessibility = known }
        }
        self.init(accessibility, options: Self.options(of: record))
    }

    /// What the person must confirm before the value of a record is read.
    static func options(of record: ItemRecord) -> Options {
        guard let stored = record.attributes[.accessControl] else { return [] }
        guard case .integer(let bits) = stored, let bits = UInt32(exactly: bits) else { return .userPresence }
        return Options(rawValue: bits)
    }
}
