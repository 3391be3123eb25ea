// SPDX-License-Identifier: MIT

import FoundationEssentials

/// Describes items of one class: all of those whose attributes equal every attribute that is set.
///
/// What is left out is a wildcard when items are read, changed or removed, and a default when one is stored.
///
/// ```swift
/// var query = SecItemQuery<GenericPassword>()
/// query.service = "OpenAI"
/// query.account = "bob"
/// ```
@dynamicMemberLookup
public struct SecItemQuery<Value: SecItem>: Sendable, Hashable {
    var attributes = AttributeSet()

    /// Whether local items are meant (the default), synchronizable ones, or both.
    public var synchronizable: Synchronizability?

    /// The access group, nil for the keychain's own.
    public var accessGroup: AccessGroup?

    /// The one item that a persistent reference names, nil for any.
    ///
    /// With a reference, an item is found whether or not it is marked for synchronization.
    public var persistentReference: PersistentReference<Value>?

    var matchesSubdomains = false

    /// Makes a query that sets nothing: it matches every local item of the class in the keychain's group.
    public init() {}

    /// An attribute of the class, nil if it is left out.
    public subscript<Attribute>(
        dynamicMember path: KeyPath<SecAttributes<Value>, SecAttribute<Attribute>>
    ) -> Attribute? {
        get {
            let attribute = SecAttributes<Value>()[keyPath: path]
            return attributes[attribute.name].flatMap(attribute.decode)
        }
        set {
            let attribute = SecAttributes<Value>()[keyPath: path]
            attributes[attribute.name] = newValue.map(attribute.encode)
        }
    }

    /// An attribute by its name, for programs that learn names at run time.
    ///
    /// - Parameter name: The name.
    public subscript(name: AttributeName) -> AttributeValue? {
        get { attributes[name] }
        set { attributes[name] = newValue }
    }

    /// Whether nothing is set that tells one item of the class from another.
    public var isEmpty: Bool { attributes.isEmpty && persistentReference == nil }

    /// The item that a persistent reference names.
    ///
    /// - Parameter reference: What ``SecItemInfo/persistentReference`` or ``SecReturnType/persistentReference`` gave.
    public static func item(_ reference: PersistentReference<Value>) -> SecItemQuery {
        var query = SecItemQuery()
        query.persistentReference = reference
        return query
    }
}

extension SecItemQuery where Value == InternetPassword {
    /// Whether `server` also matches the subdomains of the host it names; not for storing.
    public var matchSubdomains: Bool {
        get { matchesSubdomains }
        set { matchesSubdomains = newValue }
    }
}

extension SecItemQuery where Value == GenericPassword {
    /// The password of a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - synchronizable: Whether synchronizable items are meant; left out, local ones.
    public static func credential(for service: String, synchronizable: Synchronizability? = nil) -> SecItemQuery {
        var query = SecItemQuery()
        query.service = service
        query.synchronizable = synchronizable
        return query
    }
}

extension SecItemQuery where Value == InternetPassword {
    /// The password of a user in a protection space.
    ///
    /// - Parameters:
    ///   - user: The account.
    ///   - space: Server, protocol, port, path, realm and authentication type.
    ///   - synchronizable: Whether synchronizable items are meant; left out, local ones.
    public static func credential(
        for user: String,
        space: WebProtectionSpace,
        synchronizable: Synchronizability? = nil
    ) -> SecItemQuery {
        var query = SecItemQuery()
        query.account = user
        query.server = space.host
        query.protocol = space.protocol
        query.port = space.port
        query.path = space.path
        query.securityDomain = space.securityDomain
        query.authenticationType = space.authenticationType
        query.synchronizable = synchronizable
        return query
    }
}

extension SecItemQuery where Value == SecKey {
    /// A key.
    ///
    /// - Parameters:
    ///   - applicationTag: The application's own tag; left out, any.
    ///   - descriptor: The algorithm, and which half.
    ///   - synchronizable: Whether synchronizable items are meant; left out, local ones.
    public static func key(
        for applicationTag: String? = nil,
        descriptor: SecKeyDescriptor = .ecPrivateKey,
        synchronizable: Synchronizability? = nil
    ) -> SecItemQuery {
        var query = SecItemQuery()
        query.applicationTag = applicationTag.map { Data($0.utf8) }
        query.keyType = descriptor.keyType
        query.keyClass = descriptor.keyClass
        query.synchronizable = synchronizable
        return query
    }
}

extension SecItemQuery where Value == SecCertificate {
    /// A certificate.
    ///
    /// - Parameters:
    ///   - label: The label; left out, any.
    ///   - synchronizable: Whether synchronizable items are meant; left out, local ones.
    public static func certificate(for label: String?, synchronizable: Synchronizability? = nil) -> SecItemQuery {
        var query = SecItemQuery()
        query.label = label
        query.synchronizable = synchronizable
        return query
    }
}

extension SecItemQuery where Value == SecIdentity {
    /// A digital identity.
    ///
    /// - Parameters:
    ///   - label: The certificate's label; left out, any.
    ///   - synchronizable: Whether synchronizable items are meant; left out, local ones.
    public static func identity(for label: String?, synchronizable: Synchronizability? = nil) -> SecItemQuery {
        var query = SecItemQuery()
        query.label = label
        query.synchronizable = synchronizable
        return query
    }
}

extension SecItemQuery: CustomStringConvertible, CustomDebugStringConvertible {
    /// The class and the names of the attributes that are set; no values.
    public var description: String {
        let names = attributes.map { $0.name.rawValue }.joined(separator: ", ")
        return "\(Value.itemClass)" + (names.isEmpty ? "" : " by \(names)")
    }
    /// The same as the description.
    public var debugDescription: String { description }
}
