// SPDX-License-Identifier: MIT

extension KeychainError {
    /// What went wrong, as a stable name for programs, logs and scripts.
    ///
    /// A structure over a name rather than an enumeration, so that a later version can add codes.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable name, for example `itemNotFound`.
        public let rawValue: String

        /// Makes a code from its stable name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stable name.
        public var description: String { rawValue }

        /// An item with the same primary key exists already.
        public static let duplicateItem = Code(rawValue: "duplicateItem")
        /// No item matches, and the store was able to look.
        public static let itemNotFound = Code(rawValue: "itemNotFound")
        /// An argument is not valid.
        public static let invalidParameter = Code(rawValue: "invalidParameter")
        /// The store, or this platform, cannot do what was asked.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The passphrase or key is wrong.
        public static let authenticationFailed = Code(rawValue: "authenticationFailed")
        /// The store is locked, and no prompt is allowed or possible.
        public static let interactionNotAllowed = Code(rawValue: "interactionNotAllowed")
        /// The person dismissed a prompt.
        public static let userCanceled = Code(rawValue: "userCanceled")
        /// There is no store: no bus, no service, no file.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The system denies the access.
        public static let accessDenied = Code(rawValue: "accessDenied")
        /// The store can be read only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The deadline has passed.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The call was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Another process holds the store's lock.
        public static let busy = Code(rawValue: "busy")
        /// The value or an attribute is larger than the store takes.
        public static let dataTooLarge = Code(rawValue: "dataTooLarge")
        /// The bytes are not of the type that was asked for.
        public static let decode = Code(rawValue: "decode")
        /// The store or the item is damaged.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The store is older than it was when it was last seen: someone has put a former state in its place.
        public static let rolledBack = Code(rawValue: "rolledBack")
        /// Others than the owner may read or write the store.
        public static let insecurePermissions = Code(rawValue: "insecurePermissions")
        /// No space is left.
        public static let outOfSpace = Code(rawValue: "outOfSpace")
        /// Reading or writing failed.
        public static let io = Code(rawValue: "io")
        /// Several items match where one was asked for.
        public static let ambiguous = Code(rawValue: "ambiguous")
        /// The library contradicts itself; please report it.
        public static let `internal` = Code(rawValue: "internal")

        /// Every code of this version.
        public static let all: [Code] = [
            .duplicateItem, .itemNotFound, .invalidParameter, .unsupported, .authenticationFailed,
            .interactionNotAllowed, .userCanceled, .unavailable, .accessDenied, .readOnly, .timedOut, .cancelled, .busy,
            .dataTooLarge, .decode, .corrupt, .rolledBack, .insecurePermissions, .outOfSpace, .io, .ambiguous,
            .internal,
        ]
    }

    /// Matches an error whose code is `itemNotFound` in a `catch`.
    public static let itemNotFound = KeychainError(.itemNotFound, "No item matches the query.")
    /// Matches an error whose code is `duplicateItem` in a `catch`.
    public static let duplicateItem = KeychainError(
        .duplicateItem,
        "An item with the same primary key exists. Update it, or store with ifExists: .replaceValue or .replace."
    )
}
