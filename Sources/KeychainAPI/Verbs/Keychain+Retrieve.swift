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
        try decoded(first(query, values: true, valueCall(query)))
    }

    /// The value of the first item that a query matches, the oldest; nil if none does.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func retrieve<Value: SecDataConvertible, Item: SecStorable>(
        _ query: SecItemQuery<Item>
    ) async throws(KeychainError) -> Value? {
        try decoded(await first(query, values: true, valueCall(query)))
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
        try first(query, values: returning.contains(.data), call(.retrieve, isForOneMatch: true))?.secValue(returning)
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
        try await first(query, values: returning.contains(.data), call(.retrieve, isForOneMatch: true))?
            .secValue(returning)
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
        return try fetch(query, values: values, call(.retrieve)).compactMap { $0.secValue(returning) }
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
        return try await fetch(query, values: values, call(.retrieve))
            .compactMap { $0.secValue(returning) }
    }

    /// The attributes of the first item that a query matches, the oldest; nil if none does.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The item.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func info<Item: SecItem>(for query: SecItemQuery<Item>) throws(KeychainError) -> SecItemInfo<Item>? {
        try first(query, values: false, call(.info, isForOneMatch: true)).map {
            SecItemInfo(record: $0.shown)
        }
    }

    /// The attributes of the first item that a query matches, the oldest; nil if none does.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func info<Item: SecItem>(for query: SecItemQuery<Item>) async throws(KeychainError) -> SecItemInfo<Item>? {
        try await first(query, values: false, call(.info, isForOneMatch: true)).map {
            SecItemInfo(record: $0.shown)
        }
    }

    /// The attributes of every item that a query matches, the oldest first.
    ///
    /// Never asks to unlock the store.
    ///
    /// - Parameter query: The items.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func infoAll<Item: SecItem>(for query: SecItemQuery<Item>) throws(KeychainError) -> [SecItemInfo<Item>] {
        try fetch(query, values: false, call(.info)).map { SecItemInfo(record: $0.shown) }
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
        try await fetch(query, values: false, call(.info)).map { SecItemInfo(record: $0.shown) }
    }

    /// Whether an item matches a query.
    ///
    /// Decrypts no value and never shows a prompt.
    ///
    /// - Parameter query: The item.
    /// - Throws: `interactionNotAllowed` if the store is locked and cannot tell, and as `retrieve(_:)`.
    public func contains<Item: SecItem>(_ query: SecItemQuery<Item>) throws(KeychainError) -> Bool {
        try first(query, values: false, call(.contains, isForOneMatch: true)) != nil
    }

    /// Whether an item matches a query.
    ///
    /// Decrypts no value and never shows a prompt.
    ///
    /// - Parameter query: The item.
    /// - Throws: As the synchronous form, and `cancelled`.
    public func contains<Item: SecItem>(_ query: SecItemQuery<Item>) async throws(KeychainError) -> Bool {
        try await first(query, values: false, call(.contains, isForOneMatch: true)) != nil
    }

    /// A call that reads one value, and nothing else of its item; only a label that has to match is looked at.
    private func valueCall<Item>(_ query: SecItemQuery<Item>) -> CallContext {
        call(.retrieve, isForOneMatch: true, isForValue: selection(query).attributes[.label] == nil)
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

extension Keychain {
    /// The first item that a query matches, with its value in guarded memory.
    package func item<Item: SecItem>(
        _ query: SecItemQuery<Item>
    ) throws(KeychainError) -> (info: SecItemInfo<Item>, value: SecureBytes)? {
        try first(query, values: true, call(.retrieve, isForOneMatch: true))?.pair()
    }

    /// The first item that a query matches, with its value in guarded memory.
    package func item<Item: SecItem>(
        _ query: SecItemQuery<Item>
    ) async throws(KeychainError) -> (info: SecItemInfo<Item>, value: SecureBytes)? {
        try await first(query, values: true, call(.retrieve, isForOneMatch: true))?.pair()
    }

    /// Every item that a query matches, with its value in guarded memory.
    package func items<Item: SecItem>(
        _ query: SecItemQuery<Item>
    ) throws(KeychainError) -> [(info: SecItemInfo<Item>, value: SecureBytes)] {
        try fetch(query, values: true, call(.retrieve)).compactMap { $0.pair() }
    }

    /// Every item that a query matches, with its value in guarded memory.
    package func items<Item: SecItem>(
        _ query: SecItemQuery<Item>
    ) async throws(KeychainError) -> [(info: SecItemInfo<Item>, value: SecureBytes)] {
        try await fetch(query, values: true, call(.retrieve)).compactMap { $0.pair() }
    }

    /// The error with the place of this store, for a module that makes more of values than bytes.
    package func located(_ error: KeychainError, _ operation: KeychainOperation) -> KeychainError {
        error.located(driver: driver.identifier, location: driver.location, operation: operation)
    }
}

/// An item that was read.
struct FetchedItem: Sendable {
    /// What the store has.
    let record: ItemRecord
    /// What the caller sees of it: an identity has the attributes of its key as well.
    let shown: ItemRecord
    let value: SecureBytes?

    init(record: ItemRecord, shown: ItemRecord, value: SecureBytes?) {
        self.record = record
        self.shown = shown
        self.value = value
    }

    init(_ match: Match, _ value: SecureBytes?) {
        self.init(record: match.record, shown: match.shown, value: value)
    }

    func pair<Item>() -> (info: SecItemInfo<Item>, value: SecureBytes)? {
        value.map { (SecItemInfo(record: shown), $0) }
    }

    func secValue<Item>(_ returning: SecReturnType) -> SecValue<Item>? {
        SecValue(shown, value, returning: returning)
    }
}

extension Keychain {
    private func first<Item>(
        _ query: SecItemQuery<Item>,
        values: Bool,
        _ call: CallContext
    ) async throws(KeychainError) -> FetchedItem? {
        try await CallExecutor.run(call) { () throws(KeychainError) in try first(query, values: values, call) }
    }

    private func fetch<Item>(
        _ query: SecItemQuery<Item>,
        values: Bool,
        _ call: CallContext
    ) async throws(KeychainError) -> [FetchedItem] {
        try await CallExecutor.run(call) { () throws(KeychainError) in try fetch(query, values: values, call) }
    }

    /// Reads the first item that a query matches, with its value if that is wanted.
    private func first<Item>(
        _ query: SecItemQuery<Item>,
        values: Bool,
        _ call: CallContext
    ) throws(KeychainError) -> FetchedItem? {
        do throws(KeychainError) { try validate(query) } catch { throw located(error, call) }
        let selection = selection(query)
        let item = try confirming(call) { (confirmed, reader) throws(KeychainError) in
            try first(selection, values, confirmed, reader)
        }
        guard let item else { return nil }
        return try opened(item, call)
    }

    /// Reads the items that a query matches, with their values if they are wanted.
    ///
    /// - Parameters:
    ///   - isWanted: Tells by its record whether an item is to be read at all.
    ///   - step: How many values are read between two reports of progress.
    func fetch<Item>(
        _ query: SecItemQuery<Item>,
        values: Bool,
        _ call: CallContext,
        where isWanted: (ItemRecord) -> Bool = { _ in true },
        step: Int = .max,
        progress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(KeychainError) -> [FetchedItem] {
        do throws(KeychainError) { try validate(query) } catch { throw located(error, call) }
        return try fetch(selection(query), values: values, call, where: isWanted, step: step, progress: progress)
    }

    /// Reads the items of a selection, with their values if they are wanted.
    ///
    /// - Parameters:
    ///   - step: How many values are read between two reports of progress.
    func fetch(
        _ selection: RecordSelection,
        values: Bool,
        _ call: CallContext,
        where isWanted: (ItemRecord) -> Bool = { _ in true },
        step: Int = .max,
        progress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(KeychainError) -> [FetchedItem] {
        let items = try confirming(call) { (confirmed, reader) throws(KeychainError) in
            try fetch(selection, values, confirmed, isWanted, step, progress, reader)
        }
        guard values else { return items }
        var opened: [FetchedItem] = []
        for item in items { opened.append(try self.opened(item, call)) }
        return opened
    }

    /// An item with its value as it was before it was sealed; the store is not held meanwhile.
    private func opened(_ item: FetchedItem, _ call: CallContext) throws(KeychainError) -> FetchedItem {
        guard let value = item.value, item.record.isSealed else { return item }
        do throws(KeychainError) {
            try call.check()
            return FetchedItem(record: item.record, shown: item.shown, value: try opened(value, item.record, call))
        } catch {
            throw located(error, call)
        }
    }

    private enum FetchOutcome<Items> {
        case items(Items)
        case needs(AccessPolicy.Options)
    }

    /// Reads until what has to be confirmed for it has been confirmed.
    private func confirming<Items>(
        _ call: CallContext,
        _ body: (AccessPolicy.Options, any RecordReader) throws(KeychainError) -> FetchOutcome<Items>
    ) throws(KeychainError) -> Items {
        var confirmed: AccessPolicy.Options = []
        while true {
            let needed: AccessPolicy.Options
            switch try read(call, { (reader) throws(KeychainError) in try body(confirmed, reader) }) {
            case .items(let items): return items
            case .needs(let options): needed = options
            }
            // Asked outside of the reading: a person may take minutes, and holds up no one meanwhile.
            try confirm(needed, call)
            confirmed.formUnion(needed)
        }
    }

    private func first(
        _ selection: RecordSelection,
        _ values: Bool,
        _ confirmed: AccessPolicy.Options,
        _ reader: any RecordReader
    ) throws(KeychainError) -> FetchOutcome<FetchedItem?> {
        // An item that vanished between search and reading is skipped: the next one is then the first.
        for match in try matches(selection, reader) {
            guard values else { return .items(FetchedItem(match, nil)) }
            let options = AccessPolicy.options(of: match.record)
            if !options.isSubset(of: confirmed) { return .needs(options) }
            do throws(KeychainError) {
                return .items(FetchedItem(match, try reader.value(of: match.record)))
            } catch .itemNotFound {}
        }
        return .items(nil)
    }

    private func fetch(
        _ selection: RecordSelection,
        _ values: Bool,
        _ confirmed: AccessPolicy.Options,
        _ isWanted: (ItemRecord) -> Bool,
        _ step: Int,
        _ progress: (_ completed: Int, _ total: Int) -> Void,
        _ reader: any RecordReader
    ) throws(KeychainError) -> FetchOutcome<[FetchedItem]> {
        let matches = try matches(selection, reader).filter { isWanted($0.record) }
        guard values, !matches.isEmpty else { return .items(matches.map { FetchedItem($0, nil) }) }
        for match in matches {
            let options = AccessPolicy.options(of: match.record)
            if !options.isSubset(of: confirmed) { return .needs(options) }
        }
        // An item that vanished between search and reading is skipped.
        let step = min(step, matches.count)
        var items: [FetchedItem] = []
        for start in stride(from: 0, to: matches.count, by: step) {
            let part = matches[start..<min(start + step, matches.count)]
            let bytes = try reader.values(of: part.map(\.record))
            items += zip(part, bytes).compactMap { match, value in value.map { FetchedItem(match, $0) } }
            progress(part.endIndex, matches.count)
        }
        return .items(items)
    }

    private static let unconfirmed = KeychainError(
        .interactionNotAllowed,
        "The item's policy asks for the person's confirmation. Give the keychain an AuthenticationContext and allow "
            + "interaction."
    )

    private func confirm(_ options: AccessPolicy.Options, _ call: CallContext) throws(KeychainError) {
        do throws(KeychainError) {
            // Looked at before the value is read: who has no password has no use for it.
            if options.contains(.applicationPassword) { _ = try requirePassword() }
            // An option of a later version, which this one does not know, is asked for as well.
            let questions = options.subtracting(.applicationPassword)
            guard !questions.isEmpty else { return }
            guard let context = self.authenticationContext else { throw Self.unconfirmed }
            try context.reuse.confirm(questions, call) { () throws(KeychainError) in
                guard call.interaction.allowsPrompts else { throw Self.unconfirmed }
                try context.authenticate(questions, reason: self.authenticationReason, call)
            }
        } catch {
            throw located(error, call)
        }
    }
}
