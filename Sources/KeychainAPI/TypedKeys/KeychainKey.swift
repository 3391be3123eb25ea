// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The name of one item, the type of its value, and how the one becomes the other; see ``KeychainKeys``.
///
/// A key names one item exactly: what is left out of it is a default, and no wildcard.
///
/// Unchecked, since its superclass is: it has constants alone, each of them `Sendable`.
public final class KeychainKey<Value: Sendable>: KeychainKeys, @unchecked Sendable {
    /// What the item is.
    enum Place: Sendable {
        case generic(SecItemQuery<GenericPassword>)
        case internet(SecItemQuery<InternetPassword>)
    }

    let place: Place
    let codec: KeychainCodec<Value>
    /// The account.
    public let account: String
    /// When the item may be read, once the key has stored it anew; nil for the keychain's own policy.
    public let accessPolicy: AccessPolicy?

    /// Makes the key of a generic password.
    ///
    /// - Parameters:
    ///   - account: The account, which tells the keys of a service apart.
    ///   - service: The service; nil for the application identifier of the keychain that the key is used with.
    ///   - codec: How values become bytes.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    ///   - configure: Sets further attributes of an item that is stored anew, as its label; those of one that is there stay.
    public init(
        _ account: String,
        service: String? = nil,
        codec: KeychainCodec<Value>,
        accessPolicy: AccessPolicy? = nil,
        configure: (inout SecItemQuery<GenericPassword>) -> Void = { _ in }
    ) {
        var query = SecItemQuery<GenericPassword>()
        configure(&query)
        query.service = service
        query.account = account
        place = .generic(query)
        self.codec = codec
        self.account = account
        self.accessPolicy = accessPolicy
        super.init()
    }

    /// Makes the key of an internet password.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - space: The host, and what else tells its passwords apart.
    ///   - codec: How values become bytes.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    ///   - configure: Sets further attributes of an item that is stored anew.
    public init(
        _ account: String,
        space: WebProtectionSpace,
        codec: KeychainCodec<Value>,
        accessPolicy: AccessPolicy? = nil,
        configure: (inout SecItemQuery<InternetPassword>) -> Void = { _ in }
    ) {
        var query = SecItemQuery<InternetPassword>.credential(for: account, space: space)
        configure(&query)
        query.account = account
        place = .internet(query)
        self.codec = codec
        self.account = account
        self.accessPolicy = accessPolicy
        super.init()
    }

    /// Makes the key of an internet password from a URL.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - url: Scheme, host, port and path.
    ///   - codec: How values become bytes.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    /// - Throws: `invalidParameter` for a URL without a host.
    public convenience init(
        _ account: String,
        url: URL,
        codec: KeychainCodec<Value>,
        accessPolicy: AccessPolicy? = nil
    ) throws(KeychainError) {
        self.init(account, space: try WebProtectionSpace(url: url), codec: codec, accessPolicy: accessPolicy)
    }
}

extension KeychainKey where Value: SecDataConvertible {
    /// Makes the key of a generic password whose values are stored in their type's own form.
    ///
    /// - Parameters:
    ///   - account: The account, which tells the keys of a service apart.
    ///   - service: The service; nil for the application identifier of the keychain that the key is used with.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    ///   - configure: Sets further attributes of an item that is stored anew, as its label; those of one that is there stay.
    public convenience init(
        _ account: String,
        service: String? = nil,
        accessPolicy: AccessPolicy? = nil,
        configure: (inout SecItemQuery<GenericPassword>) -> Void = { _ in }
    ) {
        self.init(account, service: service, codec: .raw, accessPolicy: accessPolicy, configure: configure)
    }

    /// Makes the key of an internet password whose values are stored in their type's own form.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - space: The host, and what else tells its passwords apart.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    ///   - configure: Sets further attributes of an item that is stored anew.
    public convenience init(
        _ account: String,
        space: WebProtectionSpace,
        accessPolicy: AccessPolicy? = nil,
        configure: (inout SecItemQuery<InternetPassword>) -> Void = { _ in }
    ) {
        self.init(account, space: space, codec: .raw, accessPolicy: accessPolicy, configure: configure)
    }

    /// Makes the key of an internet password from a URL.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - url: Scheme, host, port and path.
    ///   - accessPolicy: When an item that is stored anew may be read, nil for the keychain's own policy.
    /// - Throws: `invalidParameter` for a URL without a host.
    public convenience init(
        _ account: String,
        url: URL,
        accessPolicy: AccessPolicy? = nil
    ) throws(KeychainError) {
        try self.init(account, url: url, codec: .raw, accessPolicy: accessPolicy)
    }
}
