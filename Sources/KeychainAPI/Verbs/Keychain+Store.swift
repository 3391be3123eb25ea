// SPDX-License-Identifier: MIT

extension Keychain {
    /// Stores an item.
    ///
    /// The query's attributes become the item's; a key attribute that is left out has its default.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Throws: `duplicateItem` if one exists and the policy is ``IfExists/fail``; `invalidParameter`,
    ///   `dataTooLarge`, `unsupported`; and why the store could not be written. Then nothing was changed.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy = .default,
        ifExists: IfExists = .fail
    ) throws(KeychainError) {
        _ = try store(value.secureRepresentation, query, accessPolicy, ifExists, call(.store))
    }

    /// Stores an item.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - query: The attributes.
    ///   - accessPolicy: When the item may be read.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy = .default,
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
    ///   - accessPolicy: When the item may be read.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Returns: nil if nothing was asked for.
    /// - Throws: As ``store(_:query:accessPolicy:ifExists:)``.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        returning: SecReturnType,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy = .default,
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
    ///   - accessPolicy: When the item may be read.
    ///   - ifExists: What happens if an item with the same primary key exists.
    /// - Returns: nil if nothing was asked for.
    /// - Throws: As ``store(_:query:accessPolicy:ifExists:)``, and `cancelled`.
    public func store<Item: SecStorable>(
        _ value: some SecDataConvertible,
        returning: SecReturnType,
        query: SecItemQuery<Item>,
        accessPolicy: AccessPolicy = .default,
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
        _ accessPolicy: AccessPolicy,
        _ ifExists: IfExists,
        _ call: CallContext
    ) throws(KeychainError) -> ItemRecord {
        do throws(KeychainError) {
            try validate(query)
            try accessPolicy.validate()
            try validate(value)
            guard query.persistentReference == nil, !query.matchesSubdomains, query.synchronizable != .any else {
                throw KeychainError(
                    .invalidParameter,
                    "A persistent reference, matchSubdomains and ‘any’ find items; an item cannot be stored with them."
                )
            }
            guard query.attributes[.accessible] == nil, query.attributes[.accessControl] == nil else {
                throw KeychainError(.invalidParameter, "An item's policy is given as accessPolicy, not in the query.")
            }
        } catch {
            throw located(error, call)
        }
        let now = driver.stamps.now()
        var attributes = query.attributes
        accessPolicy.write(to: &attributes)
        let record = ItemRecord(
            reference: driver.stamps.makeReference(),
            itemClass: Item.itemClass,
            accessGroup: (query.accessGroup ?? accessGroup).rawValue,
            isSynchronizable: query.synchronizable == .synchronizable,
            attributes: attributes,
            creationDate: now,
            modificationDate: now
        )
        return try write(call) { (writer) throws(KeychainError) in
            let placed = try place(record, value, ifExists, writer)
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
        _ writer: any RecordWriter
    ) throws(KeychainError) -> (record: ItemRecord, mutation: RecordMutation) {
        guard let existing = try matches(RecordSelection(record.primaryKey), writer).first?.record else {
            return (record, .insert(record, value))
        }
        var placed = existing
        switch ifExists {
        case .fail: throw .duplicateItem
        case .replaceValue: break
        case .replace: placed.attributes = record.attributes
        }
        placed.touch(record.modificationDate)
        return (placed, .update(old: existing, new: placed, value: value))
    }
}

extension ItemRecord {
    /// Moves the modification date forward, by the least step if the clock has not moved since the last change.
    mutating func touch(_ now: ItemDate) {
        modificationDate = max(now, ItemDate(microseconds: modificationDate.microseconds + 1))
    }
}
