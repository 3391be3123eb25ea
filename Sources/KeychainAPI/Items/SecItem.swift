// SPDX-License-Identifier: MIT

/// A class of keychain items, used as the type parameter of queries, so that a wrong attribute does not compile.
public protocol SecItem: Sendable {
    /// The class that the type stands for.
    static var itemClass: ItemClass { get }
}

/// A class of items that hold bytes of their own and can be stored.
///
/// All classes but ``SecIdentity``, which is the join of a key and a certificate.
public protocol SecStorable: SecItem {}

/// A class of items that are passwords: ``GenericPassword`` and ``InternetPassword``.
public protocol SecData: SecStorable {}

/// A class of items that have the attributes of a certificate: ``SecCertificate`` and ``SecIdentity``.
public protocol SecCertificateAttributed: SecItem {}

/// A class of items that have the attributes of a key: ``SecKey`` and ``SecIdentity``.
public protocol SecKeyAttributed: SecItem {}

/// A password of an application or service.
///
/// Unique by service and account.
public enum GenericPassword: SecData {
    /// The class: `genericPassword`.
    public static let itemClass = ItemClass.genericPassword
}

/// A password for a server on a network.
///
/// Unique by server, protocol, port, path, account, authentication type and security domain.
public enum InternetPassword: SecData {
    /// The class: `internetPassword`.
    public static let itemClass = ItemClass.internetPassword
}

/// A cryptographic key.
///
/// Unique by class, type, sizes, application tag and application label.
public enum SecKey: SecStorable, SecKeyAttributed {
    /// The class: `key`.
    public static let itemClass = ItemClass.key
}

/// An X.509 certificate.
///
/// Unique by certificate type, issuer and serial number.
public enum SecCertificate: SecStorable, SecCertificateAttributed {
    /// The class: `certificate`.
    public static let itemClass = ItemClass.certificate
}

/// A digital identity: a private ``SecKey`` joined with the ``SecCertificate`` over its public half.
///
/// An identity has no record of its own. It exists where a private key's application label equals a
/// certificate's public key hash.
public enum SecIdentity: SecKeyAttributed, SecCertificateAttributed {
    /// The class: `identity`.
    public static let itemClass = ItemClass.identity
}
