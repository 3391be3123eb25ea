// SPDX-License-Identifier: MIT

/// The attributes of one class of items: their names, their forms, and which of them make an item unique.
///
/// - SeeAlso: Apple's documentation of `errSecDuplicateItem` for the primary keys.
public struct AttributeSchema: Sendable {
    /// One attribute of a class.
    public struct Attribute: Sendable, Hashable {
        /// The name under which drivers store the attribute.
        public let name: AttributeName
        /// The form of its values.
        public let form: AttributeValue.Form
    }

    /// The attributes that make an item unique, access group and synchronizability aside.
    public let primaryKey: [Attribute]
    /// The attributes that do not.
    public let others: [Attribute]

    /// All attributes of the class.
    public var all: [Attribute] { primaryKey + others }

    /// Whether an attribute belongs to the primary key.
    ///
    /// - Parameter name: The attribute's name.
    public func isPrimaryKey(_ name: AttributeName) -> Bool {
        primaryKey.contains { $0.name == name }
    }

    /// Whether an attribute belongs to the primary key and has its default, which is the same as its absence.
    package func isDefaultOfKey(_ attribute: AttributeSet.Element) -> Bool {
        attribute.value.isDefault
            && primaryKey.contains { $0.name == attribute.name && $0.form == attribute.value.form }
    }

    /// The form of an attribute's values, nil if the class does not have the attribute.
    ///
    /// - Parameter name: The attribute's name.
    public func form(of name: AttributeName) -> AttributeValue.Form? {
        (primaryKey.first { $0.name == name } ?? others.first { $0.name == name })?.form
    }

    /// The schema of a class.
    ///
    /// That of an identity is the one of its certificate and its key together.
    ///
    /// - Parameter itemClass: The class.
    public static func schema(of itemClass: ItemClass) -> AttributeSchema {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .key: key
        case .certificate: certificate
        case .identity: identity
        }
    }

    private init(primaryKey: [(AttributeName, AttributeValue.Form)], others: [(AttributeName, AttributeValue.Form)]) {
        self.primaryKey = primaryKey.map { Attribute(name: $0, form: $1) }
        self.others = others.map { Attribute(name: $0, form: $1) }
    }

    private static let policy: [(AttributeName, AttributeValue.Form)] = [
        (.accessible, .text), (.accessControl, .integer),
    ]

    private static let password: [(AttributeName, AttributeValue.Form)] = [
        (.label, .text), (.comment, .text), (.description, .text), (.creator, .integer), (.type, .integer),
        (.isInvisible, .boolean), (.isNegative, .boolean),
    ]

    private static let genericPassword = AttributeSchema(
        primaryKey: [(.service, .text), (.account, .text)],
        others: password + [(.generic, .data)] + policy
    )

    private static let internetPassword = AttributeSchema(
        primaryKey: [
            (.server, .text), (.protocol, .text), (.port, .integer), (.path, .text), (.account, .text),
            (.authenticationType, .text), (.securityDomain, .text),
        ],
        others: password + policy
    )

    private static let key = AttributeSchema(
        primaryKey: [
            (.keyClass, .text), (.keyType, .text), (.keySizeInBits, .integer), (.effectiveKeySize, .integer),
            (.applicationTag, .data), (.applicationLabel, .data),
        ],
        others: [
            (.label, .text), (.canEncrypt, .boolean), (.canDecrypt, .boolean), (.canDerive, .boolean),
            (.canSign, .boolean), (.canVerify, .boolean), (.canWrap, .boolean), (.canUnwrap, .boolean),
            (.isPermanent, .boolean),
        ] + policy
    )

    private static let certificate = AttributeSchema(
        primaryKey: [(.certificateType, .integer), (.issuer, .data), (.serialNumber, .data)],
        others: [
            (.label, .text), (.subject, .data), (.subjectKeyID, .data), (.publicKeyHash, .data),
            (.certificateEncoding, .integer),
        ] + policy
    )

    private static let identity: AttributeSchema = {
        let known = Set(certificate.all)
        return AttributeSchema(
            primaryKey: [],
            others: (certificate.all + key.all.filter { !known.contains($0) }).map { ($0.name, $0.form) }
        )
    }()
}
