// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The attributes that a class of items has.
///
/// The one table from which ``SecItemQuery``, ``SecItemUpdate`` and ``SecItemInfo`` take their properties. An
/// attribute that a class does not have does not compile.
public struct SecAttributes<Item: SecItem>: Sendable {
    init() {}
}

extension SecAttributes {
    /// The label that a person sees; never makes two items different.
    public var label: SecAttribute<String> { .text(.label) }
}

extension SecAttributes where Item: SecData {
    /// The account; part of the primary key.
    public var account: SecAttribute<String> { .text(.account) }
    /// A comment that the person may edit.
    public var comment: SecAttribute<String> { .text(.comment) }
    /// What kind of password it is, in words that a person sees.
    public var description: SecAttribute<String> { .text(.description) }
    /// The four-character code of the creator.
    public var creator: SecAttribute<FourCharCode> { .fourCharCode(.creator) }
    /// The four-character code of the type.
    public var type: SecAttribute<FourCharCode> { .fourCharCode(.type) }
    /// Whether the item should be hidden from listings for people.
    public var isInvisible: SecAttribute<Bool> { .boolean(.isInvisible) }
    /// Whether the item says that there is no password.
    public var isNegative: SecAttribute<Bool> { .boolean(.isNegative) }
}

extension SecAttributes where Item == GenericPassword {
    /// The service; part of the primary key.
    public var service: SecAttribute<String> { .text(.service) }
    /// Bytes of the application's own; not part of the primary key.
    public var generic: SecAttribute<Data> { .data(.generic) }
}

extension SecAttributes where Item == InternetPassword {
    /// The host name or address; part of the primary key.
    public var server: SecAttribute<String> { .text(.server) }
    /// The protocol; part of the primary key.
    public var `protocol`: SecAttribute<ProtocolType> { .named(.protocol) }
    /// The port, 0 to 65535; part of the primary key.
    public var port: SecAttribute<Int> { .integer(.port) }
    /// The path; part of the primary key.
    public var path: SecAttribute<String> { .text(.path) }
    /// The authentication type; part of the primary key.
    public var authenticationType: SecAttribute<AuthenticationType> { .named(.authenticationType) }
    /// The security domain (realm); part of the primary key.
    public var securityDomain: SecAttribute<String> { .text(.securityDomain) }
}

extension SecAttributes where Item: SecKeyAttributed {
    /// Public, private or symmetric; part of the primary key.
    public var keyClass: SecAttribute<KeyClass> { .named(.keyClass) }
    /// The algorithm; part of the primary key.
    public var keyType: SecAttribute<KeyType> { .named(.keyType) }
    /// The size in bits; part of the primary key.
    public var keySizeInBits: SecAttribute<Int> { .integer(.keySizeInBits) }
    /// The effective size in bits; part of the primary key.
    public var effectiveKeySize: SecAttribute<Int> { .integer(.effectiveKeySize) }
    /// The application's own tag; part of the primary key.
    public var applicationTag: SecAttribute<Data> { .data(.applicationTag) }
    /// The SHA-1 of the public key; part of the primary key.
    public var applicationLabel: SecAttribute<Data> { .data(.applicationLabel) }
    /// Whether the key can encrypt.
    public var canEncrypt: SecAttribute<Bool> { .boolean(.canEncrypt) }
    /// Whether the key can decrypt.
    public var canDecrypt: SecAttribute<Bool> { .boolean(.canDecrypt) }
    /// Whether other keys can be derived from the key.
    public var canDerive: SecAttribute<Bool> { .boolean(.canDerive) }
    /// Whether the key can sign.
    public var canSign: SecAttribute<Bool> { .boolean(.canSign) }
    /// Whether the key can verify signatures.
    public var canVerify: SecAttribute<Bool> { .boolean(.canVerify) }
    /// Whether the key can wrap other keys.
    public var canWrap: SecAttribute<Bool> { .boolean(.canWrap) }
    /// Whether the key can unwrap other keys.
    public var canUnwrap: SecAttribute<Bool> { .boolean(.canUnwrap) }
    /// Whether the key is kept for good.
    public var isPermanent: SecAttribute<Bool> { .boolean(.isPermanent) }
}

extension SecAttributes where Item: SecCertificateAttributed {
    /// The X.509 version, 1 to 3; part of the primary key.
    public var certificateType: SecAttribute<Int> { .integer(.certificateType) }
    /// The normalized issuer in DER; part of the primary key.
    public var issuer: SecAttribute<Data> { .data(.issuer) }
    /// The serial number; part of the primary key.
    public var serialNumber: SecAttribute<Data> { .data(.serialNumber) }
    /// The normalized subject in DER.
    public var subject: SecAttribute<Data> { .data(.subject) }
    /// The subject key identifier.
    public var subjectKeyID: SecAttribute<Data> { .data(.subjectKeyID) }
    /// The SHA-1 of the public key: what joins a certificate to its private key.
    public var publicKeyHash: SecAttribute<Data> { .data(.publicKeyHash) }
    /// The encoding; 3 is DER.
    public var certificateEncoding: SecAttribute<Int> { .integer(.certificateEncoding) }
}
