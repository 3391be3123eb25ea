// SPDX-License-Identifier: MIT

extension ItemRecord {
    /// Whether the value is encrypted with an application password.
    var isSealed: Bool { AccessPolicy.options(of: self).contains(.applicationPassword) }

    /// Has the value sealed in here if it is to be sealed there: where a policy stays, this much of another one is added, so
    /// that a value which was to be encrypted is never kept as it is.
    mutating func keepSealed(as other: ItemRecord) {
        guard other.isSealed, !isSealed else { return }
        let own = AccessPolicy(of: self)
        AccessPolicy(own.accessibility, options: own.options.union(.applicationPassword)).write(to: &attributes)
    }
}

extension Keychain {
    /// The value of an item as its store is to keep it: sealed if the policy of the item demands that.
    func stored(_ value: SecureBytes, _ record: ItemRecord, _ call: CallContext) throws(KeychainError) -> SecureBytes {
        guard record.isSealed else { return value }
        let sealed = try requirePassword().seal(value, for: record.reference, call)
        try validate(sealed)
        return sealed
    }

    /// The value of an item, from what its store keeps.
    func opened(_ value: SecureBytes, _ record: ItemRecord, _ call: CallContext) throws(KeychainError) -> SecureBytes {
        guard record.isSealed else { return value }
        return try requirePassword().open(value, for: record.reference, call)
    }

    /// What the store is to keep of an item that changes and has no new value: nil for what it has.
    ///
    /// A policy that begins or ceases to demand an application password changes what is kept.
    func restored(
        _ old: ItemRecord,
        as new: ItemRecord,
        _ reader: any RecordReader,
        _ call: CallContext
    ) throws(KeychainError) -> SecureBytes? {
        guard old.isSealed != new.isSealed else { return nil }
        return try stored(opened(reader.value(of: old), old, call), new, call)
    }

    /// Makes the password ready before a store is held, where it will be needed: the person may have to be asked for it.
    ///
    /// - Parameters:
    ///   - policy: The policy that is demanded.
    ///   - selection: Items that keep their own policy, nil if none does.
    func preparePassword(
        for policy: AccessPolicy,
        orThatOf selection: RecordSelection? = nil,
        _ call: CallContext
    ) throws(KeychainError) {
        if policy.options.contains(.applicationPassword) { return try requirePassword().prepare(call) }
        guard let selection, let password = self.applicationPassword else { return }
        let isNeeded = try read(call) { (reader) throws(KeychainError) in
            try matches(selection, reader).contains { $0.record.isSealed }
        }
        if isNeeded { try password.prepare(call) }
    }

    func requirePassword() throws(KeychainError) -> any ApplicationPassword {
        guard let password = self.applicationPassword else {
            throw KeychainError(
                .interactionNotAllowed,
                "The item's policy asks for an application password. Give the keychain one: "
                    + "keychain.with { $0.applicationPassword = … }."
            )
        }
        return password
    }
}
