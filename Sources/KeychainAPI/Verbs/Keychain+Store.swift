// SPDX-License-Identifier: MIT

extension Keychain {
    /// Stores an item.
    ///
    /// The query's attributes become the item's; a key attribute that is left out has its default.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Throws: `duplicateItem` if one exists and the policy is ``IfExists/fail``; `invalidParameter`,
    ///   `dataTooLarge`, `unsupported`; and why the store could not be written. Then nothing was changed.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) throws(KeychainError) {
        _ = try store(value.secureRepresentation, query, accessPolicy, ifExists, call(.store))
    }

    /// Stores an item.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) {
        let bytes = value.secureRepresentation
        let call = call(.store)
        _ = try await CallExecutor.run(call) { () throws(KeychainError) in
            try store(bytes, query, accessPolicy, ifExists, call)
        }
    }

    /// Stores an item and returns what the store then knows of it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - returning: What is returned.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Returns: nil if nothing was asked for.
    /// - Throws: As `store(_:query:accessPolicy:ifExists:)`.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        returning: SecReturnType,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) throws(KeychainError) -> SecValue<Item>? {
        let bytes = value.secureRepresentation
        let record = try store(bytes, query, accessPolicy, ifExists, call(.store))
        return SecValue(record, bytes, returning: returning)
    }

    /// Stores an item and returns what the store then knows of it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - returning: What is returned.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read, nil for the keychain's own policy.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Returns: nil if nothing was asked for.
    /// - Throws: As `store(_:query:accessPolicy:ifExists:)`, and `cancelled`.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        returning: SecReturnType,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy? = nil,
        ifExists: IfExists = .fail
    ) async throws(KeychainError) -> SecValue<Item>? {
        let bytes = value.secureRepresentation
        let call = call(.store)
        let record = try await CallExecutor.run(call) { () throws(KeychainError) in
            try store(bytes, query, accessPolicy, ifExists, call)
        }
        return SecValue(record, bytes, returning: returning)
    }

    private func store<Item>(
        _ value: SecureBytes,
        _ query: SecItemQuery<Item>,
        _ accessPolicy: AccessPolicy?,
        _ ifExists: IfExists,
        _ call: CallContext
    ) throws(KeychainError) -> ItemRecord {
        let accessPolicy = accessPolicy ?? self.accessPolicy
        do throws(KeychainError) {
            try validate(query)
            try Self.requireNoPolicy(in: query.attributes.map(\.name))
            try accessPolicy.validate()
            try validate(value)
            guard query.persistentReference == nil, !query.matchesSubdomains, query.synchronizable != .any else {
                throw KeychainError(
                    .invalidParameter,
                    "A persistent reference, matchSubdomains and ‘any’ find items; an item cannot be stored with them."
                )
            }
        } catch {
            throw located(error, call)
        }
        var attributes = query.attributes
        accessPolicy.write(to: &attributes)
        let record = ItemRecord(
            itemClass: Item.itemClass,
            accessGroup: query.accessGroup ?? self.accessGroup,
            isSynchronizable: (query.synchronizable ?? self.synchronizable) == .synchronizable,
            attributes: attributes,
            driver.stamps
        )
        let kept = ifExists == .replaceValue ? RecordSelection(record.primaryKey) : nil
        do throws(KeychainError) { try preparePassword(for: accessPolicy, orThatOf: kept, call) } catch {
            throw located(error, call)
        }
        return try write(call) { (writer) throws(KeychainError) in
            let placed = try place(record, value, ifExists, writer, call)
            try writer.commit([placed.mutation])
            return placed.record
        }
    }

    func validate(_ value: SecureBytes) throws(KeychainError) {
        guard value.count <= driver.maximumValueSize else {
            throw KeychainError(
                .dataTooLarge,
                "The value has \(value.count) bytes; this store takes at most \(driver.maximumValueSize)."
            )
        }
    }

    /// Decides how a new item comes into a store: added, or in place of the one with the same key.
    func place(
        _ record: ItemRecord,
        _ value: SecureBytes,
        _ ifExists: IfExists,
        _ writer: any RecordWriter,
        _ call: CallContext
    ) throws(KeychainError) -> (record: ItemRecord, mutation: RecordMutation) {
        guard let existing = try matches(RecordSelection(record.primaryKey), writer).first?.record else {
            return (record, .insert(record, try stored(value, record, call)))
        }
        var placed = existing
        switch ifExists {
        case .fail: throw .duplicateItem
        case .replaceValue: break
        case .replace: placed.attributes = record.attributes
        }
        placed.keepSealed(as: record)
        placed.touch(record.modificationDate)
        return (placed, .update(old: existing, new: placed, value: try stored(value, placed, call)))
    }
}

extension ItemRecord {
    /// Moves the modification date forward, by the least step if the clock has not moved since the last change.
    mutating func touch(_ now: ItemDate) {
        let (next, overflow) = modificationDate.microseconds.addingReportingOverflow(1)
        modificationDate = max(now, overflow ? modificationDate : ItemDate(microseconds: next))
    }

    /// Whether the item is in a group, compared byte by byte.
    func isIn(_ group: AccessGroup) -> Bool { accessGroup.isIdentical(to: group.rawValue) }
}
