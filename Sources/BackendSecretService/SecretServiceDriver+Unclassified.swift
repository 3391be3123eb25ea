// SPDX-License-Identifier: MIT
#if SecretService
    package import KeychainAPI

    extension SecretServiceDriver: UnclassifiedItemSource {
        /// Every item of the collection whose attributes are those of no class, with its value.
        package func unclassifiedItems(_ call: CallContext) throws(KeychainError) -> UnclassifiedItems {
            let reader = try reader(call)
            return try reader.link.retrying(call) { (session) throws(KeychainError) in
                let collection = try reader.finder.unlocked(session)
                let request = try reader.searchRequest([:], collection, session)
                let all = try reader.describe(
                    SecretServiceReader.paths(reader.finder.perform(request, session)),
                    session
                )
                var items: [UnclassifiedItems.Item] = []
                for item in all where reader.layout.record(of: item) == nil {
                    do throws(KeychainError) {
                        items.append(
                            UnclassifiedItems.Item(
                                attributes: item.attributes.pairs,
                                label: item.label,
                                // One of ours in another scheme has a form of its own.
                                value: try SecretServiceReader.value(reader.secret(at: item.path, session), of: item),
                                place: item.path
                            )
                        )
                    } catch {
                        // Vanished since it was listed.
                        guard error.trouble == .noObject else { throw error }
                    }
                }
                return UnclassifiedItems(items: items, total: all.count)
            }
        }
    }
#endif
