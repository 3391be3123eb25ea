// SPDX-License-Identifier: MIT

extension Keychain {
    /// The value of a key; nil if there is none.
    ///
    /// - Parameter key: The key.
    /// - Throws: `decode`, with the names of the key and of the type, for a value that is none of the type; and as
    ///   `retrieve(_:)`.
    public func get<Value>(_ key: KeychainKey<Value>) throws(KeychainError) -> Value? {
        let bytes: SecureBytes? =
            switch key.place {
            case .generic(let query): try retrieve(exact(query))
            case .internet(let query): try retrieve(exact(query))
            }
        return try decoded(bytes, key)
    }

    /// The value of a key; nil if there is none.
    ///
    /// - Parameter key: The key.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func get<Value>(_ key: KeychainKey<Value>) async throws(KeychainError) -> Value? {
        let bytes: SecureBytes? =
            switch key.place {
            case .generic(let query): try await retrieve(exact(query))
            case .internet(let query): try await retrieve(exact(query))
            }
        return try decoded(bytes, key)
    }

    /// The value of a key, or another one if there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fallback: What is returned if there is none; it is not stored.
    /// - Throws: As `get(_:)`: a value that cannot be read is not replaced.
    public func get<Value>(_ key: KeychainKey<Value>, default fallback: @autoclosure () -> Value) throws(KeychainError)
        -> Value
    {
        try get(key) ?? fallback()
    }

    /// The value of a key, or another one if there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fallback: What is returned if there is none; it is not stored.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func get<Value>(_ key: KeychainKey<Value>, default fallback: @autoclosure () -> Value)
        async throws(KeychainError) -> Value
    {
        try await get(key) ?? fallback()
    }

    /// Stores the value of a key, whether there is one or not.
    ///
    /// The attributes of an item that is there stay; a new one gets those of the key.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: `invalidParameter` for a value that the codec cannot encode; and as `store(_:query:accessPolicy:ifExists:)`.
    public func set<Value>(_ value: Value, for key: KeychainKey<Value>) throws(KeychainError) {
        let bytes = try encoded(value, key)
        let policy = key.accessPolicy
        switch key.place {
        case .generic(let query):
            try store(bytes, query: placed(query), accessPolicy: policy, ifExists: .replaceValue)
        case .internet(let query):
            try store(bytes, query: placed(query), accessPolicy: policy, ifExists: .replaceValue)
        }
    }

    /// Stores the value of a key, whether there is one or not.
    ///
    /// The attributes of an item that is there stay; a new one gets those of the key.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func set<Value>(_ value: Value, for key: KeychainKey<Value>) async throws(KeychainError) {
        let bytes = try encoded(value, key)
        let policy = key.accessPolicy
        switch key.place {
        case .generic(let query):
            try await store(bytes, query: placed(query), accessPolicy: policy, ifExists: .replaceValue)
        case .internet(let query):
            try await store(bytes, query: placed(query), accessPolicy: policy, ifExists: .replaceValue)
        }
    }

    /// Removes the item of a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there was one.
    /// - Throws: As `remove(_:)`.
    @discardableResult
    public func remove<Value>(_ key: KeychainKey<Value>) throws(KeychainError) -> Bool {
        switch key.place {
        case .generic(let query): try remove(exact(query))
        case .internet(let query): try remove(exact(query))
        }
    }

    /// Removes the item of a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there was one.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func remove<Value>(_ key: KeychainKey<Value>) async throws(KeychainError) -> Bool {
        switch key.place {
        case .generic(let query): try await remove(exact(query))
        case .internet(let query): try await remove(exact(query))
        }
    }

    /// Whether there is an item for a key; its value is not decrypted, and nothing is ever asked.
    ///
    /// - Parameter key: The key.
    /// - Throws: As `contains(_:)`.
    public func contains<Value>(_ key: KeychainKey<Value>) throws(KeychainError) -> Bool {
        switch key.place {
        case .generic(let query): try contains(exact(query))
        case .internet(let query): try contains(exact(query))
        }
    }

    /// Whether there is an item for a key; its value is not decrypted, and nothing is ever asked.
    ///
    /// - Parameter key: The key.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func contains<Value>(_ key: KeychainKey<Value>) async throws(KeychainError) -> Bool {
        switch key.place {
        case .generic(let query): try await contains(exact(query))
        case .internet(let query): try await contains(exact(query))
        }
    }

    /// What the store knows of the item of a key; nil if there is none.
    ///
    /// - Parameter key: The key.
    /// - Throws: As `info(for:)`.
    public func info<Value>(for key: KeychainKey<Value>) throws(KeychainError) -> KeychainKeyInfo? {
        switch key.place {
        case .generic(let query): try info(for: exact(query)).map { KeychainKeyInfo($0) }
        case .internet(let query): try info(for: exact(query)).map { KeychainKeyInfo($0) }
        }
    }

    /// What the store knows of the item of a key; nil if there is none.
    ///
    /// - Parameter key: The key.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func info<Value>(for key: KeychainKey<Value>) async throws(KeychainError) -> KeychainKeyInfo? {
        switch key.place {
        case .generic(let query): try await info(for: exact(query)).map { KeychainKeyInfo($0) }
        case .internet(let query): try await info(for: exact(query)).map { KeychainKeyInfo($0) }
        }
    }

    /// The value of a key, or why it could not be read.
    ///
    /// - Parameter key: The key.
    public subscript<Value>(key: KeychainKey<Value>) -> Result<Value?, KeychainError> {
        do throws(KeychainError) { return .success(try get(key)) } catch { return .failure(error) }
    }

    /// The value of a key, or another one if there is none, or why it could not be read.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fallback: What stands for no value; it is not stored.
    public subscript<Value>(
        key: KeychainKey<Value>,
        default fallback: @autoclosure () -> Value
    ) -> Result<Value, KeychainError> {
        do throws(KeychainError) { return .success(try get(key) ?? fallback()) } catch { return .failure(error) }
    }

    /// The value of a key, as in `keychain(.accessToken)`.
    ///
    /// - Parameter key: The key.
    /// - Throws: As `get(_:)`.
    public func callAsFunction<Value>(_ key: KeychainKey<Value>) throws(KeychainError) -> Value? { try get(key) }

    /// The value of a key, as in `await keychain(.accessToken)`.
    ///
    /// - Parameter key: The key.
    /// - Throws: As `get(_:)`, and `cancelled`.
    public func callAsFunction<Value>(_ key: KeychainKey<Value>) async throws(KeychainError) -> Value? {
        try await get(key)
    }

    // MARK: Between keys and items

    /// The one item of a key: what its primary key leaves out is the default and no wildcard, and nothing else counts.
    func exact<Item: SecStorable>(_ query: SecItemQuery<Item>) -> SecItemQuery<Item> {
        let placed = placed(query)
        var exact = SecItemQuery<Item>()
        exact.synchronizable = placed.synchronizable
        exact.accessGroup = placed.accessGroup
        for attribute in AttributeSchema.schema(of: Item.itemClass).primaryKey {
            exact[attribute.name] = placed[attribute.name] ?? attribute.form.defaultValue
        }
        return exact
    }

    /// The query of a key with what the keychain gives to it: the service, and on which side of synchronization it is.
    private func placed<Item: SecStorable>(_ query: SecItemQuery<Item>) -> SecItemQuery<Item> {
        var placed = query
        if Item.itemClass == .genericPassword, query[.service] == nil {
            placed[.service] = .text(self.applicationIdentifier)
        }
        if query.synchronizable == nil { placed.synchronizable = self.synchronizable == .synchronizable ? true : false }
        return placed
    }

    /// What a key selects: the one item that it names.
    package func selection<Value>(_ key: KeychainKey<Value>) -> RecordSelection {
        switch key.place {
        case .generic(let query): selection(exact(query))
        case .internet(let query): selection(exact(query))
        }
    }

    private func encoded<Value>(
        _ value: Value,
        _ key: KeychainKey<Value>
    ) throws(KeychainError) -> SecureBytes {
        do throws(KeychainError) { return try key.codec.encode(value, for: key.account) } catch {
            throw located(error, .store)
        }
    }

    private func decoded<Value>(
        _ bytes: SecureBytes?,
        _ key: KeychainKey<Value>
    ) throws(KeychainError) -> Value? {
        guard let bytes else { return nil }
        do throws(KeychainError) { return try key.codec.decode(bytes, for: key.account) } catch {
            throw located(error, .retrieve)
        }
    }
}
