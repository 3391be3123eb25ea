// SPDX-License-Identifier: MIT

/// One generic password as a place for a value of any type: `keychain.container(for: "session")`.
///
/// What is in it is replaced by what is stored, attributes stay. Compared by keychain, service and key.
public struct KeychainContainer: Sendable {
    /// Where the item is.
    public let keychain: Keychain
    /// The service of the item.
    public let service: String
    /// The account of the item.
    public let key: String

    private var query: SecItemQuery<GenericPassword> {
        var query = SecItemQuery<GenericPassword>.credential(for: service)
        query.account = key
        return query
    }

    private func isSame(as other: KeychainContainer) -> Bool {
        keychain.location.isIdentical(to: other.keychain.location)
            && keychain.accessGroup == other.keychain.accessGroup
            && keychain.synchronizable == other.keychain.synchronizable
            && service.isIdentical(to: other.service) && key.isIdentical(to: other.key)
    }
}

extension KeychainContainer {
    /// Puts a value into the container, in the place of what is in it.
    ///
    /// - Parameter value: The value.
    /// - Throws: As `Keychain.store(_:query:accessPolicy:ifExists:)`.
    public func store(_ value: some SecDataConvertible) throws(KeychainError) {
        try keychain.store(value, query: query, ifExists: .replaceValue)
    }

    /// Puts a value into the container, in the place of what is in it.
    ///
    /// - Parameter value: The value.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func store(_ value: some SecDataConvertible) async throws(KeychainError) {
        try await keychain.store(value, query: query, ifExists: .replaceValue)
    }

    /// The value in the container; nil if it is empty.
    ///
    /// - Parameter type: The type of the value; left out where it can be inferred.
    /// - Throws: `decode` for a value of another type; and as `Keychain.retrieve(_:)`.
    public func fetch<Value: SecDataConvertible>(_ type: Value.Type = Value.self) throws(KeychainError) -> Value? {
        try keychain.retrieve(query)
    }

    /// The value in the container; nil if it is empty.
    ///
    /// - Parameter type: The type of the value; left out where it can be inferred.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func fetch<Value: SecDataConvertible>(
        _ type: Value.Type = Value.self
    ) async throws(KeychainError) -> Value? {
        try await keychain.retrieve(query)
    }

    /// Takes the value out of the container; nil if it was empty.
    ///
    /// What cannot be read stays. On a store without ``DriverCapabilities/transactions``, or where the person has to be asked, a
    /// value that someone else puts into
    /// the container between the reading and the emptying is removed unread.
    ///
    /// - Parameter type: The type of the value; left out where it can be inferred.
    /// - Throws: As `fetch(_:)` and `empty()`.
    public func drop<Value: SecDataConvertible>(_ type: Value.Type = Value.self) throws(KeychainError) -> Value? {
        let isGuarded = try keychain.info(for: query).map { !$0.accessPolicy.options.isEmpty } ?? false
        guard keychain.capabilities.contains(.transactions), !isGuarded else { return try taken(from: keychain) }
        do {
            return try keychain.transaction { try taken(from: $0) }
        } catch {
            throw Self.failure(error)
        }
    }

    /// Takes the value out of the container; nil if it was empty.
    ///
    /// - Parameter type: The type of the value; left out where it can be inferred.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func drop<Value: SecDataConvertible>(
        _ type: Value.Type = Value.self
    ) async throws(KeychainError) -> Value? {
        let isGuarded = try await keychain.info(for: query).map { !$0.accessPolicy.options.isEmpty } ?? false
        guard keychain.capabilities.contains(.transactions), !isGuarded else {
            guard let value: Value = try await keychain.retrieve(query) else { return nil }
            try await keychain.remove(query)
            return value
        }
        do {
            return try await keychain.transaction { try taken(from: $0) }
        } catch {
            throw Self.failure(error)
        }
    }

    private func taken<Value: SecDataConvertible>(from keychain: Keychain) throws(KeychainError) -> Value? {
        guard let value: Value = try keychain.retrieve(query) else { return nil }
        try keychain.remove(query)
        return value
    }

    /// What a transaction throws, which is whatever its closure does.
    private static func failure(_ error: any Error) -> KeychainError {
        error as? KeychainError
            ?? KeychainError(.internal, "The transaction ended with another error. Please report it.")
    }

    /// Empties the container.
    ///
    /// - Returns: Whether there was anything in it.
    /// - Throws: As `Keychain.remove(_:)`.
    @discardableResult
    public func empty() throws(KeychainError) -> Bool { try keychain.remove(query) }

    /// Empties the container.
    ///
    /// - Returns: Whether there was anything in it.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func empty() async throws(KeychainError) -> Bool { try await keychain.remove(query) }

    /// Whether there is nothing in the container; a store that could not look is an error.
    ///
    /// - Throws: As `Keychain.contains(_:)`.
    public func isEmpty() throws(KeychainError) -> Bool { try !keychain.contains(query) }

    /// Whether there is nothing in the container; a store that could not look is an error.
    ///
    /// - Throws: As the synchronous form, and `cancelled`.
    public func isEmpty() async throws(KeychainError) -> Bool { try await !keychain.contains(query) }
}

extension KeychainContainer {
    /// Copies the value into another container, of any keychain, in the place of what is in it.
    ///
    /// Into an empty container the item's policy goes along; one that has an item keeps its own. Onto itself nothing
    /// happens.
    ///
    /// - Parameter target: The other container.
    /// - Throws: `itemNotFound` if there is nothing to copy: the target stays as it is. `unsupported` for an item whose
    ///   policy keeps it on this device, into another store.
    public func copy(to target: KeychainContainer) throws(KeychainError) {
        guard let item = try leaving(keychain.item(query), for: target) else { return }
        try target.take(item)
    }

    /// Copies the value into another container, of any keychain, in the place of what is in it.
    ///
    /// - Parameter target: The other container.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func copy(to target: KeychainContainer) async throws(KeychainError) {
        guard let item = try await leaving(keychain.item(query), for: target) else { return }
        try await target.take(item)
    }

    /// Moves the value into another container, of any keychain, in the place of what is in it.
    ///
    /// Onto itself nothing happens. A crash in between leaves the value in both: it is never lost.
    ///
    /// - Parameter target: The other container.
    /// - Throws: As `copy(to:)`; `busy` if the value changed while it was moved. Then both are as they were.
    public func move(to target: KeychainContainer) throws(KeychainError) {
        guard let item = try leaving(keychain.item(query), for: target) else { return }
        let before: SecureBytes? = try target.fetch()
        try target.take(item)
        do throws(KeychainError) {
            try requireUnchanged(item.info, keychain.info(for: query))
            try keychain.remove(query)
        } catch {
            target.restore(before)
            throw error
        }
    }

    /// Moves the value into another container, of any keychain, in the place of what is in it.
    ///
    /// - Parameter target: The other container.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func move(to target: KeychainContainer) async throws(KeychainError) {
        guard let item = try await leaving(keychain.item(query), for: target) else { return }
        let before: SecureBytes? = try await target.fetch()
        try await target.take(item)
        do throws(KeychainError) {
            try requireUnchanged(item.info, await keychain.info(for: query))
            try await keychain.remove(query)
        } catch {
            // Not asynchronously: the task may be the reason, cancelled.
            target.restore(before)
            throw error
        }
    }

    /// Puts in what another container has, under the policy that it has there unless there is one here.
    private func take(_ item: Item) throws(KeychainError) {
        let policy = item.info.accessPolicy
        try keychain.store(item.value, query: query, accessPolicy: policy, ifExists: .replaceValue)
    }

    private func take(_ item: Item) async throws(KeychainError) {
        let policy = item.info.accessPolicy
        try await keychain.store(item.value, query: query, accessPolicy: policy, ifExists: .replaceValue)
    }

    private typealias Item = (info: SecItemInfo<GenericPassword>, value: SecureBytes)

    /// What may go into another container; nil if that is the same one.
    private func leaving(_ item: Item?, for target: KeychainContainer) throws(KeychainError) -> Item? {
        guard let item else { throw keychain.located(.itemNotFound, .copy) }
        if isSame(as: target) { return nil }
        let isSameStore = keychain.location.isIdentical(to: target.keychain.location)
        guard isSameStore || !item.info.accessPolicy.accessibility.isThisDeviceOnly else {
            throw keychain.located(
                KeychainError(
                    .unsupported,
                    "The item's policy keeps it on this device. Store it again without a ThisDeviceOnly policy."
                ),
                .copy
            )
        }
        return item
    }

    private func requireUnchanged(
        _ before: SecItemInfo<GenericPassword>,
        _ now: SecItemInfo<GenericPassword>?
    ) throws(KeychainError) {
        guard let now, now.persistentReference == before.persistentReference,
            now.modificationDate == before.modificationDate
        else {
            let error = KeychainError(.busy, "The value changed while it was moved. Nothing was moved; try again.")
            throw keychain.located(error, .move)
        }
    }

    private func restore(_ value: SecureBytes?) {
        if let value { try? store(value) } else { _ = try? empty() }
    }
}

extension KeychainContainer: Hashable {
    /// Whether both name the same item.
    public static func == (left: KeychainContainer, right: KeychainContainer) -> Bool { left.isSame(as: right) }

    /// Hashes what names the item.
    public func hash(into hasher: inout Hasher) {
        for text in [keychain.location, keychain.accessGroup.rawValue, service, key] { hasher.combine(text) }
    }
}

extension Keychain {
    /// A container.
    ///
    /// - Parameters:
    ///   - key: The account of its item.
    ///   - service: The service of its item, nil for the keychain's application identifier.
    public func container(for key: String, service: String? = nil) -> KeychainContainer {
        KeychainContainer(keychain: self, service: service ?? self.applicationIdentifier, key: key)
    }

    /// The containers of a service that are not empty, the oldest first.
    ///
    /// - Parameter service: The service, nil for the keychain's application identifier.
    /// - Throws: As `infoAll(for:)`.
    public func containers(service: String? = nil) throws(KeychainError) -> [KeychainContainer] {
        let service = service ?? self.applicationIdentifier
        return try containers(infoAll(for: .credential(for: service)), service)
    }

    /// The containers of a service that are not empty, the oldest first.
    ///
    /// - Parameter service: The service, nil for the keychain's application identifier.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func containers(service: String? = nil) async throws(KeychainError) -> [KeychainContainer] {
        let service = service ?? self.applicationIdentifier
        return try containers(await infoAll(for: .credential(for: service)), service)
    }

    private func containers(_ infos: [SecItemInfo<GenericPassword>], _ service: String) -> [KeychainContainer] {
        infos.map { container(for: $0.account ?? "", service: service) }
    }
}
