// SPDX-License-Identifier: MIT

/// One item that a query matched.
struct Match {
    /// The item.
    var record: ItemRecord
    /// Other records with the same primary key, which other programs left and which are the same item here.
    var shadowed: [ItemRecord] = []
    /// For an identity, the private key; the record is then the certificate's.
    var key: ItemRecord?

    /// The attributes as an info shows them: for an identity, those of both parts.
    var shown: ItemRecord {
        guard let key else { return record }
        var shown = record
        for attribute in key.attributes where shown.attributes[attribute.name] == nil {
            shown.attributes[attribute.name] = attribute.value
        }
        return shown
    }
}

extension Keychain {
    /// Refuses what no store may see.
    func validate<Value>(_ query: SecItemQuery<Value>) throws(KeychainError) {
        let schema = AttributeSchema.schema(of: Value.itemClass)
        for attribute in query.attributes { try Self.validate(attribute.name, attribute.value, schema) }
        try Self.validate(query.accessGroup ?? self.accessGroup)
    }

    static func validate(_ group: AccessGroup) throws(KeychainError) {
        guard !group.rawValue.containsNUL else {
            throw KeychainError(.invalidParameter, "An access group cannot contain NUL.")
        }
        guard group.rawValue.utf8.count <= maximumAttributeSize else {
            throw KeychainError(
                .dataTooLarge,
                "The name of the access group is larger than \(maximumAttributeSize) bytes. Choose a shorter one."
            )
        }
    }

    /// The largest attribute, in bytes, on every driver.
    static let maximumAttributeSize = 64 * 1024

    /// Refuses an attribute that the class does not have, which only a name at run time can bring, and a value that no
    /// store may see.
    static func validate(
        _ name: AttributeName,
        _ value: AttributeValue?,
        _ schema: AttributeSchema
    ) throws(KeychainError) {
        guard let form = schema.form(of: name) else {
            throw KeychainError(.invalidParameter, "Items of this class have no attribute ‘\(name)’.")
        }
        guard let value else { return }
        guard value.form == form else {
            throw KeychainError(.invalidParameter, "The attribute \(name) takes a value of the form \(form).")
        }
        if case .text(let text) = value, text.containsNUL {
            throw KeychainError(.invalidParameter, "The attribute \(name) cannot contain NUL.")
        }
        guard value.byteCount <= maximumAttributeSize else {
            throw KeychainError(
                .dataTooLarge,
                "The attribute \(name) is larger than \(maximumAttributeSize) bytes. Put it in the value."
            )
        }
        if name == .port, case .integer(let port) = value, !(0...65535).contains(port) {
            throw KeychainError(.invalidParameter, "A port is a number from 0 to 65535.")
        }
    }

    /// Refuses to write a policy as bare attributes, past what ``AccessPolicy/validate()`` refuses.
    static func requireNoPolicy(in names: [AttributeName]) throws(KeychainError) {
        guard !names.contains(.accessible), !names.contains(.accessControl) else {
            throw KeychainError(.invalidParameter, "An access policy is given as accessPolicy, not as an attribute.")
        }
    }

    /// What a query selects, with its defaults filled in.
    package func selection<Value>(_ query: SecItemQuery<Value>) -> RecordSelection {
        let anySync = query.persistentReference != nil && query.synchronizable == nil
        return RecordSelection(
            itemClass: Value.itemClass,
            accessGroup: (query.accessGroup ?? self.accessGroup).rawValue,
            isSynchronizable: anySync ? nil : (query.synchronizable ?? self.synchronizable).flag,
            attributes: query.attributes,
            reference: query.persistentReference?.uuid,
            matchesSubdomains: query.matchesSubdomains
        )
    }

    /// The items that a query matches, oldest first.
    func matches<Value>(
        _ query: SecItemQuery<Value>,
        _ reader: any RecordReader
    ) throws(KeychainError) -> [Match] {
        try matches(selection(query), reader)
    }

    /// Refuses to change what a reference names if it is more than one item.
    ///
    /// Another program may have copied an item with all that this library wrote to it, the reference included.
    func requireOne<Value>(_ matches: [Match], namedBy query: SecItemQuery<Value>) throws(KeychainError) {
        guard query.persistentReference != nil, matches.count > 1, Value.itemClass != .identity else { return }
        throw KeychainError(
            .ambiguous,
            "\(matches.count) items have this reference: another program has copied one. Name the one that you mean by "
                + "its attributes."
        )
    }

    /// The items that a selection matches, oldest first.
    func matches(
        _ selection: RecordSelection,
        _ reader: any RecordReader
    ) throws(KeychainError) -> [Match] {
        if selection.itemClass == .identity { return try identities(selection, reader) }
        let candidates = try reader.records(selection)
        // Most calls are about one item.
        if candidates.count == 1 { return selection.matches(candidates[0]) ? [Match(record: candidates[0])] : [] }
        var matches: [Match]
        if driver.capabilities.contains(.sharedWithOtherPrograms) {
            // Other programs may have left several records for one key: the newest speaks, and only then is it asked
            // whether it matches.
            matches = Dictionary(grouping: candidates, by: \.primaryKey).values.map { records in
                let newestFirst = records.sorted {
                    $0.modificationDate != $1.modificationDate
                        ? $0.modificationDate > $1.modificationDate : $1.isOrderedBefore($0)
                }
                return Match(record: newestFirst[0], shadowed: Array(newestFirst.dropFirst()))
            }
        } else {
            matches = candidates.map { Match(record: $0) }
        }
        matches.removeAll { !selection.matches($0.record) }
        if self.refusesDuplicates, let match = matches.first(where: { !$0.shadowed.isEmpty }) {
            throw KeychainError(
                .ambiguous,
                "Other programs have left \(match.shadowed.count + 1) items for one \(match.record.itemClass), and which "
                    + "of them counts is not to be guessed. Remove all but one of them, for example in Seahorse "
                    + "(Passwords and Keys)."
            )
        }
        matches.sort { $0.record.isOrderedBefore($1.record) }
        return matches
    }

    /// The identities that a selection matches: each certificate whose public key hash is a private key's label.
    private func identities(
        _ selection: RecordSelection,
        _ reader: any RecordReader
    ) throws(KeychainError) -> [Match] {
        var certificates = selection
        certificates.itemClass = .certificate
        var keys = selection
        keys.itemClass = .key
        keys.reference = nil
        let certificateSchema = AttributeSchema.schema(of: .certificate)
        for attribute in selection.attributes {
            if certificateSchema.all.contains(where: { $0.name == attribute.name }) {
                keys.attributes[attribute.name] = nil
            } else {
                certificates.attributes[attribute.name] = nil
            }
        }
        guard keys.attributes[.keyClass].map({ $0 == .text(KeyClass.private.rawValue) }) ?? true else { return [] }
        keys.attributes[.keyClass] = .text(KeyClass.private.rawValue)
        var keyOfHash: [AttributeValue: ItemRecord] = [:]
        for key in try matches(keys, reader) {
            guard let hash = key.record.attributes[.applicationLabel] else { continue }
            keyOfHash[hash] = keyOfHash[hash] ?? key.record
        }
        return try matches(certificates, reader).compactMap { certificate in
            guard let hash = certificate.record.attributes[.publicKeyHash], let key = keyOfHash[hash] else {
                return nil
            }
            return Match(record: certificate.record, shadowed: certificate.shadowed, key: key)
        }
    }
}
