// SPDX-License-Identifier: MIT
#if File
    public import KeychainAPI
    import KeychainSodium
    import Synchronization

    // A master key that nobody sees encrypts the file. Each key slot wraps it with one passphrase or key, so that these
    // can be added, removed and changed without touching the items.
    extension FileDriver {
        /// The ways to unlock the file, by number; needs no passphrase or key.
        ///
        /// - Throws: `unavailable` if there is no file, and why its head cannot be read.
        public func keySlots() throws(KeychainError) -> [FileKeySlot] {
            try FileKeySlot.all(of: head)
        }

        /// The ways to unlock the file, by number, and which of them a passphrase or key opens.
        ///
        /// - Parameters:
        ///   - source: Where the passphrase or key comes from.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Returns: All slots; ``FileKeySlot/opens`` is true for those that are opened, which may be none.
        /// - Throws: Why the source cannot be read, and as ``keySlots()``.
        /// - Complexity: One derivation of a key for each slot, if it is a passphrase.
        public func keySlots(
            openedBy source: KeySource,
            _ call: CallContext
        ) throws(KeychainError) -> [FileKeySlot] {
            let head = try head
            return try FileKeySlot.all(of: head, opened: try finder.slots(of: head, openedBy: source, call))
        }

        /// The number of the slot with which this driver has unlocked the file, and where its passphrase or key came from;
        /// nil if it was not unlocked but made.
        package func usedKey(_ call: CallContext) throws(KeychainError) -> (slot: Int, source: KeySource)? {
            guard try view(call) != nil else { throw noFile }
            return used.withLock { $0.map { ($0.slot, $0.source) } }
        }

        /// Adds a way to unlock the file.
        ///
        /// For `KeySource.store(_:)` a key is made and stored there, another one each time.
        ///
        /// - Parameters:
        ///   - source: Where the new passphrase or key comes from.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Returns: The new slot.
        /// - Throws: `unsupported` if all fifteen slots are taken, `duplicateItem` if the passphrase or key opens one of them
        ///   already, why the source cannot be read, and why the file cannot be unlocked or written; nothing has changed
        ///   then.
        /// - Complexity: O(1), and one derivation of a key for each slot.
        @discardableResult
        public func addKey(_ source: KeySource, _ call: CallContext) throws(KeychainError) -> FileKeySlot {
            // Before anyone is asked, and before another store is given a key.
            _ = try freeSlot(of: try head)
            guard try view(call) != nil else { throw noFile }
            let source = try finder.settled(source, call)
            try requireNew(source, call)
            let made = try newSlot(source, call)
            return try changeHead(call) { (header) throws(KeychainError) in
                let number = try freeSlot(of: header)
                return (header.replacing(slot: number, with: made), FileKeySlot(number, made))
            }
        }

        /// Puts another passphrase or key in the place of one.
        ///
        /// - Parameters:
        ///   - number: The slot.
        ///   - source: Where the new passphrase or key comes from.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Returns: The changed slot.
        /// - Throws: As ``addKey(_:_:)``, and `invalidParameter` if there is no such slot.
        /// - Complexity: O(1), and one derivation of a key.
        @discardableResult
        public func changeKey(
            _ number: Int,
            to source: KeySource,
            _ call: CallContext
        ) throws(KeychainError) -> FileKeySlot {
            try requireSlot(number, in: try head)
            let made = try newSlot(source, call)
            return try changeHead(call) { (header) throws(KeychainError) in
                try requireSlot(number, in: header)
                return (header.replacing(slot: number, with: made), FileKeySlot(number, made))
            }
        }

        /// Removes a way to unlock the file.
        ///
        /// Who has seen the file before may still hold the master key: after a passphrase or key got into wrong hands,
        /// ``rotate(_:_:)`` as well. What another store keeps for a slot stays there.
        ///
        /// - Parameters:
        ///   - number: The slot.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Throws: `invalidParameter` if there is no such slot, `unsupported` for the last one, without which the file could
        ///   never be unlocked again.
        /// - Complexity: O(1).
        public func removeKey(_ number: Int, _ call: CallContext) throws(KeychainError) {
            try changeHead(call) { (header) throws(KeychainError) in
                try requireSlot(number, in: header)
                guard try header.keySlots().count > 1 else {
                    throw KeychainError(
                        .unsupported,
                        "This is the last key slot; without it the file could never be unlocked again. Add another first."
                    )
                }
                return (header.replacing(slot: number, with: nil), ())
            }
        }

        /// Encrypts everything anew under a new master key.
        ///
        /// The file then has a slot for each of the sources, and no other.
        ///
        /// - Parameters:
        ///   - sources: Where the passphrases and keys come from; at least one, at most fifteen.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Throws: `corrupt` if a value is damaged, `outOfSpace`, and as ``addKey(_:_:)``; the file is as it was then.
        /// - Complexity: O(n) in the size of what the file contains.
        public func rotate(_ sources: [KeySource], _ call: CallContext) throws(KeychainError) {
            try rotate(sources, call) { (_) throws(KeychainError) in }
        }

        /// The same, if the slots that would be lost may be lost.
        ///
        /// - Parameter accept: Throws if they may not. Is called before anyone is asked for anything, and again while no one
        ///   else can change them.
        package func rotate(
            _ sources: [KeySource],
            _ call: CallContext,
            accept: ([FileKeySlot]) throws(KeychainError) -> Void
        ) throws(KeychainError) {
            guard (1...FileLayout.slotCount).contains(sources.count) else {
                throw KeychainError(
                    .invalidParameter,
                    "A file is unlocked with one to \(FileLayout.slotCount) passphrases or keys."
                )
            }
            guard try view(call) != nil else { throw noFile }
            let storeID = try head.storeID
            try accept(try keySlots())
            let master = Sodium.randomKey()
            let slots = try sources.map { (source) throws(KeychainError) in
                try finder.slot(source, for: master, storeID: storeID, call)
            }
            try exclusively(call) { () throws(KeychainError) in
                guard let store = session.withLock({ $0.store }), store.file.header.storeID == storeID else {
                    throw noFile
                }
                let head = try store.file.currentHead().header
                try accept(try FileKeySlot.all(of: head))
                let rewritten = try store.rewritten(
                    head.successor(after: store.file.tip.sequence, slots: slots),
                    StoreKeys(master: master),
                    call
                )
                try adopt(rewritten)
                remember(rewritten.file)
            }
        }

        private var head: FileHeader {
            get throws(KeychainError) {
                guard try place.status() != nil else { throw noFile }
                return try SealedFile(place).header
            }
        }

        private func freeSlot(of header: FileHeader) throws(KeychainError) -> Int {
            if let number = header.freeSlot { return number }
            throw KeychainError(
                .unsupported,
                "All \(FileLayout.slotCount) key slots are taken. Remove one that is no longer needed."
            )
        }

        /// Refuses a passphrase or key that opens a slot already; another store is given another key each time.
        private func requireNew(_ source: KeySource, _ call: CallContext) throws(KeychainError) {
            if case .store = source { return }
            guard let number = try finder.slots(of: try head, openedBy: source, call).min() else { return }
            throw KeychainError(
                .duplicateItem,
                "This passphrase or key opens key slot \(number) already. Nothing was changed; give another one."
            )
        }

        private func newSlot(_ source: KeySource, _ call: CallContext) throws(KeychainError) -> KeySlot {
            // Before the lock is taken: a person may have to type.
            guard try view(call) != nil, let file = session.withLock({ $0.store?.file }) else { throw noFile }
            return try finder.slot(source, for: file.keys.master, storeID: file.header.storeID, call)
        }

        private func requireSlot(_ number: Int, in header: FileHeader) throws(KeychainError) {
            guard try header.keySlots().contains(where: { $0.number == number }) else {
                throw KeychainError(
                    .invalidParameter,
                    "The keychain file has no key slot \(number). keychainctl key list shows those that it has."
                )
            }
        }

        private func changeHead<Result>(
            _ call: CallContext,
            _ change: (FileHeader) throws(KeychainError) -> (FileHeader, Result)
        ) throws(KeychainError) -> Result {
            try exclusively(call) { () throws(KeychainError) in
                guard var file = session.withLock({ $0.store?.file }) else { throw noFile }
                var outcome: Result?
                do throws(KeychainError) {
                    try file.changeHead { (header) throws(KeychainError) in
                        let (changed, result) = try change(header)
                        outcome = result
                        return changed
                    }
                } catch {
                    session.withLock { $0.doubt() }
                    throw error
                }
                session.withLock { $0.committed(file, nil) }
                remember(file)
                // The closure has been called: what it makes is thrown away by no path that gets here.
                guard let outcome else { throw noFile }
                return outcome
            }
        }
    }
#endif
