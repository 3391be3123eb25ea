// SPDX-License-Identifier: MIT

extension AttributeName {
    // Passwords.

    /// The service of a generic password.
    public static let service = AttributeName(rawValue: "service")
    /// The account of a password.
    public static let account = AttributeName(rawValue: "account")
    /// The host of an internet password.
    public static let server = AttributeName(rawValue: "server")
    /// The protocol of an internet password, as a ``ProtocolType``'s raw value.
    public static let `protocol` = AttributeName(rawValue: "protocol")
    /// The port of an internet password.
    public static let port = AttributeName(rawValue: "port")
    /// The path of an internet password.
    public static let path = AttributeName(rawValue: "path")
    /// The authentication type of an internet password, as an ``AuthenticationType``'s raw value.
    public static let authenticationType = AttributeName(rawValue: "authenticationType")
    /// The security domain (realm) of an internet password.
    public static let securityDomain = AttributeName(rawValue: "securityDomain")
    /// A comment that the user may edit.
    public static let comment = AttributeName(rawValue: "comment")
    /// What kind of password it is, in words that a user sees.
    public static let description = AttributeName(rawValue: "description")
    /// The four-character code of the item's creator.
    public static let creator = AttributeName(rawValue: "creator")
    /// The four-character code of the item's type.
    public static let type = AttributeName(rawValue: "type")
    /// Bytes of the application's own.
    public static let generic = AttributeName(rawValue: "generic")
    /// Whether the item should be hidden from listings for people.
    public static let isInvisible = AttributeName(rawValue: "isInvisible")
    /// Whether the item says that there is no password.
    public static let isNegative = AttributeName(rawValue: "isNegative")

    // Every class.

    /// The label that a user sees.
    public static let label = AttributeName(rawValue: "label")
    /// When the item may be read, as an ``AccessPolicy/Accessibility``'s raw value.
    public static let accessible = AttributeName(rawValue: "accessible")
    /// Which confirmations reading needs, as ``AccessPolicy/Options``' raw value.
    public static let accessControl = AttributeName(rawValue: "accessControl")

    // Keys.

    /// The class of a key, as a ``KeyClass``' raw value.
    public static let keyClass = AttributeName(rawValue: "keyClass")
    /// The type of a key, as a ``KeyType``'s raw value.
    public static let keyType = AttributeName(rawValue: "keyType")
    /// The size of a key in bits.
    public static let keySizeInBits = AttributeName(rawValue: "keySizeInBits")
    /// The effective size of a key in bits.
    public static let effectiveKeySize = AttributeName(rawValue: "effectiveKeySize")
    /// The application's own tag of a key.
    public static let applicationTag = AttributeName(rawValue: "applicationTag")
    /// The SHA-1 of a key's public half.
    public static let applicationLabel = AttributeName(rawValue: "applicationLabel")
    /// Whether a key can encrypt.
    public static let canEncrypt = AttributeName(rawValue: "canEncrypt")
    /// Whether a key can decrypt.
    public static let canDecrypt = AttributeName(rawValue: "canDecrypt")
    /// Whether other keys can be derived from a key.
    public static let canDerive = AttributeName(rawValue: "canDerive")
    /// Whether a key can sign.
    public static let canSign = AttributeName(rawValue: "canSign")
    /// Whether a key can verify signatures.
    public static let canVerify = AttributeName(rawValue: "canVerify")
    /// Whether a key can wrap other keys.
    public static let canWrap = AttributeName(rawValue: "canWrap")
    /// Whether a key can unwrap other keys.
    public static let canUnwrap = AttributeName(rawValue: "canUnwrap")
    /// Whether a key is kept for good.
    public static let isPermanent = AttributeName(rawValue: "isPermanent")

    // Certificates.

    /// The X.509 version of a certificate, 1 to 3.
    public static let certificateType = AttributeName(rawValue: "certificateType")
    /// The normalized issuer of a certificate, in DER.
    public static let issuer = AttributeName(rawValue: "issuer")
    /// The serial number of a certificate.
    public static let serialNumber = AttributeName(rawValue: "serialNumber")
    /// The normalized subject of a certificate, in DER.
    public static let subject = AttributeName(rawValue: "subject")
    /// The subject key identifier of a certificate.
    public static let subjectKeyID = AttributeName(rawValue: "subjectKeyID")
    /// The SHA-1 of a certificate's public key.
    public static let publicKeyHash = AttributeName(rawValue: "publicKeyHash")
    /// The encoding of a certificate; 3 is DER.
    public static let certificateEncoding = AttributeName(rawValue: "certificateEncoding")
}
