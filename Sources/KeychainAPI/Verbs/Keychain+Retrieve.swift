// SPDX-License-Identifier: MIT

extension Keychain {
    /// The value of the first item that a query matches, the oldest; nil if none does.
    ///
    /// - Parameter query: The item.
    /// - Throws: `decode` if the value is not of the type that was asked for; `interactionNotAllowed`, `userCanceled`,
    ///   `unavailable`, `corrupt`, `timedOut` and others if the store could not look.
    public func retrieve<Value: SecDataConvertible, Item: SecStorable>(
        _ query: SecItemQuery<Item>
    ) throws(KeychainError) -> Value? {
        try decoded(fetch(query, limit: 1, values: true, call(.retrieve, isForOneMatch: true)).first)
    }

    /// The value of the first item that a query matches, the oldest; nil if none does.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func retrieve<Value: SecDataConvertible, Item: SecStorable>(
        _ query: SecItemQuery<Item>
    ) async throws(KeychainError) -> Value? {
        try decoded(await fetch(query, limit: 1, values: true, call(.retrieve, isForOneMatch: true)).first)
    }

    /// The first item that a query matches, the oldest, in the form that is asked for; nil if none does.
    ///
    /// - Parameters:
    ///   - returning: What is returned; the value is only decrypted if it is asked for.
    ///   - query: The item.
    /// - Throws: As `retrieve(_:)`, except `decode`.
    public func retrieve<Item: SecItem>(
        _ returning: SecReturnType,
        query: SecItemQuery<Item>
    ) throws(KeychainError) -> SecValue<Item>? {
        let values = returning.contains(.data)
        return try fetch(query, limit: 1, values: values, call(.retrieve, isForOneMatch: true)).first?.secValue(
            returning
        )
    }

    /// The first item that a query matches, the oldest, in the form that is asked for; nil if none does.
    ///
    /// - Parameters:
    ///   - returning: What is returned; the value is only decrypted if it is asked for.
    ///   - query: The item.
    /// - Throws: As `retrieve(_:)`, except `decode`, and `cancelled`.
    public func retrieve<Item: SecItem>(
        _ returning: SecReturnType,
        query: SecItemQuery<Item>
    ) async throws(KeychainError) -> SecValue<Item>? {
        let values = returning.contains(.data)
        return try await fetch(query, limit: 1, values: values, call(.retrieve, isForOneMatch: true)).first?.secValue(
            returning
        )
    }

    /// Every item that a query matches, the oldest first.
    ///
    /// - Parameters:
    ///   - returning: What is returned of each; without any option the result is empty.
    ///   - query: The items.
    /// - Throws: As `retrieve(_:)`, except `decode`.
    public func retrieveAll<Item: SecItem>(
        _ returning: SecReturnType = .all,
        query: SecItemQuery<Item>
    ) throws(KeychainError) -> [SecValue<Item>] {
        let values = returning.contains(.data)
        return try fetch(query, limit: nil, values: values, call(.retrieve)).compactMap { $0.secValue(returning) }
    }

    /// Every item that a query matches, the oldest first.
    ///
    /// - Parameters:
    ///   - returning: What is returned of each; without any option the result is empty.
    ///   - query: The items.
    /// - Throws: As `retrieve(_:)`, except `decode`, and `cancelled`.
    public func retrieveAll<Item: SecItem>(
        _ returning: SecReturnType = .all,
        query: SecItemQuery<Item>
    ) async throws(KeychainError) -> [SecValue<Item>] {
        let values = returning.contains(.data)
        return try await fetch(query, limit: nil, values: values, call(.retrieve))
            .compactMap { $0.secValue(returning) }
    }

    /// The attributes of the first item that a query matches, the oldest; nil if none does.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The item.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func info<Item: SecItem>(for query: SecItemQuery<Item>) throws(KeychainError) -> SecItemInfo<Item>? {
        try fetch(query, limit: 1, values: false, call(.info, isForOneMatch: true)).first.map {
            SecItemInfo(record: $0.record)
        }
    }

    /// The attributes of the first item that a query matches, the oldest; nil if none does.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func info<Item: SecItem>(for query: SecItemQuery<Item>) async throws(KeychainError) -> SecItemInfo<Item>? {
        try await fetch(query, limit: 1, values: false, call(.info, isForOneMatch: true)).first.map {
            SecItemInfo(record: $0.record)
        }
    }

    /// The attributes of every item that a query matches, the oldest first.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The items.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func infoAll<Item: SecItem>(for query: SecItemQuery<Item>) throws(KeychainError) -> [SecItemInfo<Item>] {
        try fetch(query, limit: nil, values: false, call(.info)).map { SecItemInfo(record: $0.record) }
    }

    /// The attributes of every item that a query matches, the oldest first.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The items.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func infoAll<Item: SecItem>(
        for query: SecItemQuery<Item>
    ) async throws(KeychainError) -> [SecItemInfo<Item>] {
        try await fetch(query, limit: nil, values: false, call(.info)).map { SecItemInfo(record: $0.record) }
    }

    /// Whether an item matches a query.
    ///
    /// Decrypts no value and never shows a prompt.
    ///
    /// - Parameter query: The item.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func contains<Item: SecItem>(_ query: SecItemQuery<Item>) throws(KeychainError) -> Bool {
        try !fetch(query, limit: 1, values: false, call(.contains, isForOneMatch: true)).isEmpty
    }

    /// Whether an item matches a query.
    ///
    /// Decrypts no value and never shows a prompt.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func contains<Item: SecItem>(_ query: SecItemQuery<Item>) async throws(KeychainError) -> Bool {
        try await !fetch(query, limit: 1, values: false, call(.contains, isForOneMatch: true)).isEmpty
    }

    private func decoded<Value: SecDataConvertible>(_ item: FetchedItem?) throws(KeychainError) -> Value? {
        guard let value = item?.value else { return nil }
        do throws(KeychainError) {
            return try value.decoded(as: Value.self)
        } catch {
            throw error.located(driver: driver.identifier, location: driver.location, operation: .retrieve)
        }
    }
}

/// An item that was read.
struct FetchedItem: Sendable {
    let record: ItemRecord
    let value: SecureBytes?

    func secValue<Item>(_ returning: SecReturnType) -> SecValue<Item>? {
        SecValue(record, value, returning: returning)
    }
}

extension Keychain {
    private func fetch<Item>(
        _ query: SecItemQuery<Item>,
        limit: Int?,
        values: Bool,
        _ call: CallContext
    ) async throws(KeychainError) -> [FetchedItem] {
        try await CallExecutor.run(call) { () throws(KeychainError) in
            try fetch(query, limit: limit, values: values, call)
        }
    }

    /// Reads the first items that a query matches, with their values if they are wanted.
    ///
    /// - Parameter isWanted: Tells by its record whether an item is to be read at all.
    func fetch<Item>(
        _ query: SecItemQuery<Item>,
        limit: Int?,
        values: Bool,
        _ call: CallContext,
        where isWanted: (ItemRecord) -> Bool = { _ in true }
    ) throws(KeychainError) -> [FetchedItem] {
        do throws(KeychainError) { try validate(query) } catch { throw located(error, call) }
        var confirmed: AccessPolicy.Options = []
        while true {
            let needed: AccessPolicy.Options
            switch try read(
                call,
                { (reader) throws(KeychainError) in
                    try fetch(query, limit, values, confirmed, isWanted, reader)
                }
            ) {
            case .items(let items): return items
            case .needs(let options): needed = options
            }
            // Asked outside of the reading: a person may take minutes, and holds up no one meanwhile.
            try confirm(needed, call)
            confirmed.formUnion(needed)
        }
    }

    private enum FetchOutcome {
        case items([FetchedItem])
        case needs(AccessPolicy.Options)
    }

    private func fetch<Item>(
        _ query: SecItemQuery<Item>,
        _ limit: Int?,
        _ values: Bool,
        _ confirmed: AccessPolicy.Options,
        _ isWanted: (ItemRecord) -> Bool,
        _ reader: any RecordReader
    ) throws(KeychainError) -> FetchOutcome {
        let all = try matches(query, reader).filter { isWanted($0.record) }
        guard values else {
            return .items(all.prefix(limit ?? all.count).map { FetchedItem(record: $0.shown, value: nil) })
        }
        // An item that vanished between search and reading is skipped; where one is wanted, the next one is the first.
        if limit == 1 {
            for match in all {
                let options = AccessPolicy.options(of: match.record)
                if !options.isSubset(of: confirmed) { return .needs(options) }
                if case let value?? = try reader.values(of: [match.record]).first {
                    return .items([FetchedItem(record: match.shown, value: value)])
                }
            }
            return .items([])
        }
        var items: [FetchedItem] = []
        var rest = all[...]
        while !rest.isEmpty, limit.map({ items.count < $0 }) ?? true {
            let batch = rest.prefix(limit.map { $0 - items.count } ?? rest.count)
            rest = rest.dropFirst(batch.count)
            for match in batch {
                let options = AccessPolicy.options(of: match.record)
                if !options.isSubset(of: confirmed) { return .needs(options) }
            }
            let bytes = try reader.values(of: batch.map(\.record))
            for (match, value) in zip(batch, bytes) where value != nil {
                items.append(FetchedItem(record: match.shown, value: value))
            }
        }
        return .items(items)
    }

    private func confirm(_ options: AccessPolicy.Options, _ call: CallContext) throws(KeychainError) {
        do throws(KeychainError) {
            guard let authenticationContext, call.interaction.allowsPrompts else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The item's policy asks for the person's confirmation. Give the keychain an AuthenticationContext "
                        + "and allow interaction."
                )
            }
            try authenticationContext.authenticate(options, call)
        } catch {
            throw located(error, call)
        }
    }
}
