// SPDX-License-Identifier: MIT

/// The class of an item, which decides its attributes and what makes it unique.
///
/// The raw value is the four-character code of the Apple keychain's table; drivers may store it.
public enum ItemClass: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// A password of an application or service: ``GenericPassword``.
    case genericPassword = "genp"
    /// A password for a server on a network: ``InternetPassword``.
    case internetPassword = "inet"
    /// A cryptographic key: ``SecKey``.
    case key = "keys"
    /// An X.509 certificate: ``SecCertificate``.
    case certificate = "cert"
    /// A private key together with its certificate: ``SecIdentity``. Never stored itself.
    case identity = "idnt"

    /// The classes that have records of their own; an identity is the join of two of them.
    public static let stored: [ItemClass] = [.genericPassword, .internetPassword, .key, .certificate]

    /// The class in words, as messages use it.
    public var description: String {
        switch self {
        case .genericPassword: "generic password"
        case .internetPassword: "internet password"
        case .key: "key"
        case .certificate: "certificate"
        case .identity: "identity"
        }
    }
}
