// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI
    import KeychainSystem

    /// Which searches find everything that a selection can match: our items and those of other programs.
    ///
    /// The service searches for exact attributes only, so a plan finds too much rather than too little. Other
    /// programs' items are local ones of the default group. They are found together with ours, by the names that both
    /// have: a second writer may have added an item next to ours, and the most recently modified one counts.
    struct SearchPlan: Sendable {
        /// The searches; what is found is the union.
        let needles: [LookupAttributes]
        /// Whether items that carry no attributes of ours can match.
        let includesForeign: Bool
        /// The exact identity of the one item of ours that can match, if the selection is that narrow and asks for no
        /// more.
        let identity: LookupAttributes?

        init(_ selection: RecordSelection, _ layout: ItemLayout) {
            let includesForeign =
                (selection.accessGroup ?? "").isEmpty && !(selection.isSynchronizable ?? false)
                && (selection.itemClass.map { [.genericPassword, .internetPassword].contains($0) } ?? true)
            self.includesForeign = includesForeign
            identity = Self.identity(selection, layout)
            if let reference = selection.reference {
                needles = [[ItemLayout.referenceName: reference.uuidString]]
                return
            }
            guard includesForeign else {
                needles = [Self.own(selection, layout)]
                return
            }
            var shared = LookupAttributes()
            var other: LookupAttributes?
            if let itemClass = selection.itemClass {
                for attribute in AttributeSchema.schema(of: itemClass).primaryKey {
                    guard let value = selection.attributes[attribute.name],
                        !(selection.matchesSubdomains && attribute.name == .server)
                    else { continue }
                    // Other programs leave out what they do not need in an internet password; a service and a user
                    // they have.
                    if itemClass == .internetPassword && value == attribute.form.defaultValue { continue }
                    shared[layout.name(of: attribute.name, in: itemClass)] = AttributeText.text(
                        of: value,
                        attribute.name,
                        in: itemClass
                    )
                }
                if let name = layout.alternativeName(of: .account, in: itemClass),
                    let account = shared[layout.scheme.account]
                {
                    var alternative = shared
                    alternative[layout.scheme.account] = nil
                    alternative[name] = account
                    other = alternative
                }
            }
            if let object = shared["object"], !object.hasPrefix("/") {
                other = shared
                other?["object"] = "/\(object)"
            }
            // Whoever searches for all finds those as well.
            let form = shared.isEmpty ? nil : WebForm.needle(selection)
            needles = [shared] + [other, form].compactMap { $0 }
        }

        /// What all items of ours that match have in common.
        private static func own(_ selection: RecordSelection, _ layout: ItemLayout) -> LookupAttributes {
            var needle = LookupAttributes()
            if let group = selection.accessGroup { needle[ItemLayout.groupName] = group }
            if let isSynchronizable = selection.isSynchronizable {
                needle[ItemLayout.syncName] = isSynchronizable ? "1" : "0"
            }
            if let itemClass = selection.itemClass, itemClass != .identity {
                needle[ItemLayout.className] = itemClass.rawValue
                for attribute in AttributeSchema.schema(of: itemClass).primaryKey {
                    guard let value = selection.attributes[attribute.name],
                        !(selection.matchesSubdomains && attribute.name == .server)
                    else { continue }
                    needle[layout.name(of: attribute.name, in: itemClass)] = AttributeText.text(
                        of: value,
                        attribute.name,
                        in: itemClass
                    )
                }
            }
            return needle
        }

        private static func identity(_ selection: RecordSelection, _ layout: ItemLayout) -> LookupAttributes? {
            guard selection.isFullIdentity, selection.reference == nil,
                let itemClass = selection.itemClass,
                selection.attributes.count == AttributeSchema.schema(of: itemClass).primaryKey.count
            else { return nil }
            return own(selection, layout)
        }
    }
#endif
