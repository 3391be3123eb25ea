// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI

    /// Changes items, while the lock between processes is held.
    ///
    /// The service has no transactions. A single call of it is atomic, so each mutation is a sequence of calls after
    /// each of which the old item or the new one can be read:
    /// - A value alone is replaced in place (`SetSecret`), attributes alone too.
    /// - Where both change, or the label, a new item is created and then the old one deleted; in between, the new
    ///   one counts, being the most recently modified.
    ///
    /// When a call fails, what was done before is undone as far as the service lets it.
    final class SecretServiceWriter: RecordWriter {
        private let reader: SecretServiceReader
        private let valueForm: SecretServiceDriver.ValueForm
        private let maximumValueSize: Int

        private var call: CallContext { reader.call }

        init(reader: SecretServiceReader, valueForm: SecretServiceDriver.ValueForm, maximumValueSize: Int) {
            self.reader = reader
            self.valueForm = valueForm
            self.maximumValueSize = maximumValueSize
        }

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try reader.records(selection)
        }
        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try reader.value(of: record) }
        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] { try reader.values(of: records) }

        // MARK: Mutations

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            for mutation in mutations { try checkSize(mutation) }
            var undo = UndoLog(isNeeded: mutations.count > 1)
            do {
                for mutation in mutations {
                    try call.check()
                    switch mutation {
                    case .insert(let record, let value): try insert(record, value, &undo)
                    case .update(let old, let new, let value): try update(old, new, value, &undo)
                    case .delete(let record): try delete(record, &undo)
                    }
                }
            } catch {
                throw undo.roll(back: reader, error)
            }
        }

        private func checkSize(_ mutation: RecordMutation) throws(KeychainError) {
            let value: SecureBytes?
            switch mutation {
            case .insert(_, let inserted): value = inserted
            case .update(_, _, let updated): value = updated
            case .delete: value = nil
            }
            guard let value, value.count > maximumValueSize else { return }
            throw KeychainError(
                .dataTooLarge,
                "The value has \(value.count) bytes; this keyring takes \(maximumValueSize). Store it in a file, "
                    + "and the key here."
            )
        }

        private func insert(_ record: ItemRecord, _ value: SecureBytes, _ undo: inout UndoLog) throws(KeychainError) {
            let item = StoredItem(
                path: "",
                attributes: try reader.layout.attributes(of: record, valueCount: value.count),
                label: reader.layout.shownLabel(record),
                created: 0,
                modified: 0
            )
            if undo.isNeeded { undo.append(.created(item)) }
            _ = try ItemWriter(reader).create(item, encoded(value))
        }

        private func update(
            _ old: ItemRecord,
            _ new: ItemRecord,
            _ value: SecureBytes?,
            _ undo: inout UndoLog
        ) throws(KeychainError) {
            let item = try located(old)
            // Group and synchronizability exist in our layout only: another program's item that gets one becomes ours.
            let staysForeign =
                !item.isOwn && new.accessGroup.isEmpty && !new.isSynchronizable
                && reader.layout.canStayForeign(new, item.attributes)
            var target = item
            if staysForeign {
                target.attributes = try reader.layout.attributes(ofForeign: new, over: item.attributes)
            } else {
                target.attributes = try reader.layout.attributes(
                    of: new,
                    valueCount: value?.count ?? item.valueLimit ?? maximumValueSize,
                    over: item.attributes
                )
            }
            target.label = changedLabel(old, new) ?? item.label
            let becomesOwn = !item.isOwn && !staysForeign
            let canSetAttributes = try canSet(target.attributes, over: item.attributes, undo)
            let isInPlace = target.label.hasSameBytes(as: item.label) && !becomesOwn && canSetAttributes
            let keepsAttributes = target.attributes.equals(
                item.attributes,
                exceptFor: [ItemLayout.lengthName, ItemLayout.modifiedName]
            )
            let writer = ItemWriter(reader)
            switch value {
            case nil where isInPlace:
                guard !keepsAttributes else { return }
                if undo.isNeeded { undo.append(.attributesChanged(item)) }
                try writer.setAttributes(target.attributes, of: item)
            case let value? where isInPlace && keepsAttributes:
                let limit = target.valueLimit ?? 0
                if item.isOwn, limit > item.valueLimit ?? 0 {
                    // First, so that what is recorded is never less than what is there.
                    try writer.setAttributes(target.attributes, of: item)
                } else {
                    target.attributes[ItemLayout.lengthName] = item.attributes[ItemLayout.lengthName]
                }
                if undo.isNeeded { undo.append(.secretChanged(item, try writer.secret(of: item))) }
                try writer.setSecret(staysForeign ? foreign(value, item) : encoded(value), of: item)
                writer.report(target, isOwn: !staysForeign)
            default:
                let before = try writer.secret(of: item)
                if staysForeign { ItemLayout.stamp(&target.attributes, old) }
                let bytes: SecureBytes
                if let value {
                    bytes = staysForeign ? foreign(value, item) : encoded(value)
                } else {
                    // What is damaged must not take the place of what may be read the next time.
                    let plain = try SecretServiceReader.value(before, of: item)
                    bytes = becomesOwn ? encoded(plain) : before
                }
                undo.append(.replaced(item, by: target, before))
                try writer.replace(item, by: target, bytes)
            }
            reader.forget(item.path)
        }

        /// Whether attributes can be set such that the others are gone, and be taken back.
        ///
        /// KeePassXC keeps an attribute that is left out: only a new item is without it.
        private func canSet(
            _ new: LookupAttributes,
            over old: LookupAttributes,
            _ undo: UndoLog
        ) throws(KeychainError) -> Bool {
            if try reader.link.session(call).isGNOMEKeyring { return true }
            return new.hasNames(of: old) && (!undo.isNeeded || old.hasNames(of: new))
        }

        private func delete(_ record: ItemRecord, _ undo: inout UndoLog) throws(KeychainError) {
            guard let item = try locatedIfThere(record) else { return }
            let writer = ItemWriter(reader)
            if undo.isNeeded {
                do {
                    undo.append(.deleted(item, try writer.secret(of: item)))
                } catch {
                    // Gone already, which is what was wanted.
                    guard error.code == .itemNotFound else { throw error }
                    return
                }
            }
            _ = try writer.delete(item)
            reader.forget(item.path)
        }

        /// The label that other programs shall show, nil if it stays.
        private func changedLabel(_ old: ItemRecord, _ new: ItemRecord) -> String? {
            let label = reader.layout.shownLabel(new)
            return label.hasSameBytes(as: reader.layout.shownLabel(old)) ? nil : label
        }

        /// What lies in the service for a value.
        private func encoded(_ value: SecureBytes) -> SecureBytes {
            let isWrapped: Bool
            switch valueForm {
            case .safe: isWrapped = value.withBytes(SecretEnvelope.needsWrapping)
            // Without its envelope, an empty value would pass for a damaged one, and one that looks like an envelope
            // for another.
            case .raw: isWrapped = value.isEmpty || SecretEnvelope.isWrapped(value)
            }
            return isWrapped ? SecretEnvelope.wrap(value) : value
        }

        /// What lies in the service for the value of another program's item.
        private func foreign(_ value: SecureBytes, _ item: StoredItem) -> SecureBytes {
            item.isBase64 ? SecretEnvelope.base64(value) : value
        }

        private func located(_ record: ItemRecord) throws(KeychainError) -> StoredItem {
            guard let item = try locatedIfThere(record) else { throw reader.vanished }
            return item
        }

        private func locatedIfThere(_ record: ItemRecord) throws(KeychainError) -> StoredItem? {
            try reader.link.retrying(call) { (session) throws(KeychainError) -> StoredItem? in
                if !record.handle.isEmpty, let item = try reader.item(record, session) { return item }
                return try reader.successor(of: record, session)
            }
        }
    }

    extension LookupAttributes {
        /// Whether two sets are the same, some names aside.
        fileprivate func equals(_ other: LookupAttributes, exceptFor names: [String]) -> Bool {
            var left = self
            var right = other
            for name in names {
                left[name] = nil
                right[name] = nil
            }
            return left == right
        }

        /// Whether every name of another set is in this one.
        fileprivate func hasNames(of other: LookupAttributes) -> Bool {
            other.pairs.allSatisfy { self[$0.name] != nil }
        }
    }
#endif
