// SPDX-License-Identifier: MIT

extension Keychain {
    /// Changes every item that a query matches: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - changes: What is set, cleared or replaced.
    /// - Returns: How many items were changed; at least one.
    /// - Throws: `itemNotFound` if none matches; `duplicateItem` if two items would have one primary key;
    ///   `invalidParameter` if the changes are empty. Then nothing was changed.
    @discardableResult
    public func update<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        _ changes: SecItemUpdate<Item>
    ) throws(KeychainError) -> Int {
        try update(query, changes, call(.update))
    }

    /// Changes every item that a query matches: all of them, or none.
    ///
    /// - Parameters:
    ///   - query: The items.
    ///   - changes: What is set, cleared or replaced.
    /// - Returns: How many items were changed; at least one.
    /// - Throws: As the synchronous form, and `cancelled`.
    @discardableResult
    public func update<Item: SecStorable>(
        _ query: SecItemQuery<Item>,
        _ changes: SecItemUpdate<Item>
    ) async throws(KeychainError) -> Int {
        let call = call(.update)
        return try await CallExecutor.run(call) { () throws(KeychainError) in try update(query, changes, call) }
    }

    private func update<Item>(
        _ query: SecItemQuery<Item>,
        _ changes: SecItemUpdate<Item>,
        _ call: CallContext
    ) throws(KeychainError) -> Int {
        do throws(KeychainError) {
            try validate(query)
            try Self.requireNoPolicy(in: changes.attributes.map(\.key))
            for (name, value) in changes.attributes {
                try Self.validate(name, value, AttributeSchema.schema(of: Item.itemClass))
            }
            try changes.accessPolicy?.validate()
            if let accessibility = changes.accessibility { try AccessPolicy(accessibility).validate() }
            if let value = changes.value { try validate(value) }
            guard !changes.isEmpty else {
                throw KeychainError(.invalidParameter, "The update changes nothing. Set an attribute or a value.")
            }
            let kept = changes.value != nil || changes.accessPolicy != nil ? selection(query) : nil
            try preparePassword(for: changes.accessPolicy ?? .default, orThatOf: kept, call)
        } catch {
            throw located(error, call)
        }
        return try write(call) { (writer) throws(KeychainError) in
            let matches = try matches(query, writer)
            guard !matches.isEmpty else { throw .itemNotFound }
            try requireOne(matches, namedBy: query)
            let now = driver.stamps.now()
            let changed = matches.map { (old: $0.record, new: changes.applied(to: $0.record, now)) }
            try requireUnique(changed, writer)
            var mutations: [RecordMutation] = []
            for (old, new) in changed {
                let value =
                    if let value = changes.value { try stored(value, new, call) } else {
                        try restored(old, as: new, writer, call)
                    }
                mutations.append(.update(old: old, new: new, value: value))
            }
            // An item that leaves its key takes along what it has been hiding there, which would come to light again.
            for (match, change) in zip(matches, changed) where change.new.primaryKey != change.old.primaryKey {
                mutations += match.shadowed.map { .delete($0) }
            }
            try writer.commit(mutations)
            return changed.count
        }
    }

    /// Throws `duplicateItem` if, after the changes, two items would have one primary key.
    private func requireUnique(
        _ changed: [(old: ItemRecord, new: ItemRecord)],
        _ reader: any RecordReader
    ) throws(KeychainError) {
        let touched = Set(changed.map(\.old.reference))
        var keys: Set<PrimaryKey> = []
        for (old, new) in changed {
            let key = new.primaryKey
            guard keys.insert(key).inserted else { throw .duplicateItem }
            guard key != old.primaryKey else { continue }
            let others = try matches(RecordSelection(key), reader)
            guard others.allSatisfy({ touched.contains($0.record.reference) }) else { throw .duplicateItem }
        }
    }
}

extension SecItemUpdate {
    func applied(to record: ItemRecord, _ now: ItemDate) -> ItemRecord {
        var attributes = record.attributes
        for (name, value) in self.attributes { attributes[name] = value }
        accessPolicy?.write(to: &attributes)
        if let accessibility { attributes[.accessible] = .text(accessibility.rawValue) }
        var changed = ItemRecord(
            reference: record.reference,
            itemClass: record.itemClass,
            accessGroup: record.accessGroup,
            isSynchronizable: isSynchronizable ?? record.isSynchronizable,
            attributes: attributes,
            creationDate: record.creationDate,
            modificationDate: record.modificationDate,
            handle: record.handle
        )
        changed.touch(now)
        return changed
    }
}
