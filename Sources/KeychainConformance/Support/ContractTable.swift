// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// The contract's table of classes, written down again: the suite does not take it from the code that it checks.
enum ContractTable {
    /// The attributes of one class.
    struct Row {
        let key: [AttributeName]
        let others: [AttributeName]
    }

    static func row(_ itemClass: ItemClass) -> Row {
        let password: [AttributeName] = [
            .label, .comment, .description, .creator, .type, .isInvisible, .isNegative,
        ]
        return switch itemClass {
        case .genericPassword: Row(key: [.service, .account], others: password + [.generic])
        case .internetPassword:
            Row(
                key: [.server, .protocol, .port, .path, .account, .authenticationType, .securityDomain],
                others: password
            )
        case .key:
            Row(
                key: [.keyClass, .keyType, .keySizeInBits, .effectiveKeySize, .applicationTag, .applicationLabel],
                others: [
                    .label, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
                    .isPermanent,
                ]
            )
        case .certificate:
            Row(
                key: [.certificateType, .issuer, .serialNumber],
                others: [.label, .subject, .subjectKeyID, .publicKeyHash, .certificateEncoding]
            )
        case .identity: Row(key: [], others: [])
        }
    }

    private static let integers: Set<AttributeName> = [
        .port, .creator, .type, .keySizeInBits, .effectiveKeySize, .certificateType, .certificateEncoding,
    ]
    private static let bytes: Set<AttributeName> = [
        .generic, .applicationTag, .applicationLabel, .issuer, .serialNumber, .subject, .subjectKeyID, .publicKeyHash,
    ]
    private static let texts: Set<AttributeName> = [
        .service, .account, .server, .protocol, .path, .authenticationType, .securityDomain, .label, .comment,
        .description,
        .keyClass, .keyType,
    ]

    static func isText(_ name: AttributeName) -> Bool { texts.contains(name) }

    /// A value for an attribute; two variants differ.
    static func sample(_ name: AttributeName, _ variant: Int = 0) -> AttributeValue {
        if texts.contains(name) { return .text(variant == 0 ? "first" : "other\(variant)") }
        if integers.contains(name) { return .integer(Int64(1_000 + variant)) }
        if bytes.contains(name) { return .data(Data([0x00, 0xFF, UInt8(truncatingIfNeeded: variant), 0x0A])) }
        return .boolean(variant == 0)
    }

    /// What a key attribute is that is left out.
    static func absent(_ name: AttributeName) -> AttributeValue {
        if texts.contains(name) { return .text("") }
        if integers.contains(name) { return .integer(0) }
        return .data(Data())
    }
}

extension SecItemQuery where Value: SecStorable {
    /// A query with a value for each key attribute.
    static var sample: SecItemQuery {
        var query = SecItemQuery()
        for name in ContractTable.row(Value.itemClass).key { query[name] = ContractTable.sample(name) }
        return query
    }

    /// A query with a value for each attribute.
    static var full: SecItemQuery {
        var query = sample
        for name in ContractTable.row(Value.itemClass).others { query[name] = ContractTable.sample(name) }
        return query
    }

    /// The same query with an attribute set, or left out.
    func with(_ name: AttributeName, _ value: AttributeValue?) -> SecItemQuery {
        var query = self
        query[name] = value
        return query
    }

    func synchronizable(_ synchronizable: Synchronizability?) -> SecItemQuery {
        var query = self
        query.synchronizable = synchronizable
        return query
    }
}

/// A generic password's query.
func password(_ service: String, _ account: String? = nil) -> SecItemQuery<GenericPassword> {
    var query = SecItemQuery<GenericPassword>.credential(for: service)
    query.account = account
    return query
}

/// An internet password's query.
func login(_ server: String, _ account: String? = nil, port: Int? = nil) -> SecItemQuery<InternetPassword> {
    var query = SecItemQuery<InternetPassword>()
    query.server = server
    query.account = account
    query.port = port
    return query
}

/// The bytes of a text.
func bytes(_ text: String) -> Data { Data(text.utf8) }
