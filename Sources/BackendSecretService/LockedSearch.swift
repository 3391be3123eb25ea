// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI
    import KeychainSystem

    /// What can be said about a collection that is locked, for a call that may not ask for it to be unlocked.
    ///
    /// GNOME Keyring searches a locked collection by hashes, and shows the attributes of its items in clear or
    /// hashed. What is proved by that is an answer; that nothing was found is none.
    struct LockedSearch {
        let reader: SecretServiceReader
        let session: ServiceSession

        /// The records that are certain to match.
        ///
        /// - Parameters:
        ///   - plan: How the selection was searched for.
        ///   - selection: What is looked for.
        ///   - paths: What the searches found.
        ///   - error: Why the collection stays locked.
        /// - Throws: The error, if nothing is certain.
        func records(
            _ plan: SearchPlan,
            _ selection: RecordSelection,
            _ paths: [String],
            _ error: KeychainError
        ) throws(KeychainError) -> [ItemRecord] {
            let items = try reader.describe(paths, session)
            if !items.isEmpty, items.allSatisfy({ !$0.attributes.areHashed }) {
                let records = reader.records(from: items).filter(selection.matches)
                if !records.isEmpty { return records }
            } else if reader.call.operation == .contains, let identity = plan.identity,
                let path = try proof(identity, plan, selection, items), let itemClass = selection.itemClass
            {
                return [
                    ItemRecord(
                        reference: ItemLayout.reference(of: path),
                        itemClass: itemClass,
                        accessGroup: selection.accessGroup ?? "",
                        isSynchronizable: selection.isSynchronizable ?? false,
                        attributes: selection.attributes,
                        creationDate: ItemDate(microseconds: 0),
                        modificationDate: ItemDate(microseconds: 0),
                        handle: path
                    )
                ]
            }
            throw error
        }

        /// The path of an item that is certain to have the identity that is looked for.
        private func proof(
            _ identity: LookupAttributes,
            _ plan: SearchPlan,
            _ selection: RecordSelection,
            _ items: [StoredItem]
        ) throws(KeychainError) -> String? {
            // The service itself has compared all of our item's key attributes.
            let collection = try reader.finder.path(session)
            let search = try reader.searchRequest(identity, collection, session)
            let own = try SecretServiceReader.paths(session.perform(search, reader.call))
            if let path = own.first { return path }
            guard plan.includesForeign, let itemClass = selection.itemClass else { return nil }
            // Those that other programs leave out were not searched for, and must not be there.
            let unsearched = AttributeSchema.schema(of: itemClass).primaryKey
                .map { reader.layout.name(of: $0.name, in: itemClass) }
                .filter { plan.needles[0][$0] == nil }
            return items.first { item in
                reader.layout.foreignClass(of: item.attributes) == itemClass
                    && !WebForm.isOfSomeoneElse(item.attributes, selection)
                    && unsearched.allSatisfy { !item.attributes.hasName($0) }
            }?.path
        }
    }
#endif
