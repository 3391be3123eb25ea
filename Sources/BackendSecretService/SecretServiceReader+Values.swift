// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI

    /// How values are read: with the record, alone, or many together.
    extension SecretServiceReader {
        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            if let (session, secret) = secrets.removeValue(forKey: record.handle), let item = items[record.handle],
                let bytes = try? session.decode(secret)
            {
                return try Self.value(bytes, of: item)
            }
            let found = try link.retrying(call) { (session) throws(KeychainError) -> (StoredItem, SecureBytes) in
                guard let item = try item(record, session) else { throw vanished }
                do throws(KeychainError) {
                    return (item, try secret(at: item.path, session))
                } catch {
                    guard error.trouble == .noObject else { throw error }
                    forget(item.path)
                    // Another process has replaced it by an item with the same reference.
                    guard let moved = try successor(of: record, session) else { throw vanished }
                    return (moved, try secret(at: moved.path, session))
                }
            }
            return try Self.value(found.1, of: found.0)
        }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            guard records.count > 1 else { return try records.map(valueIfThere) }
            // What is left out of the answer has vanished, or has been locked, or cannot be believed.
            let found = try link.retrying(call) { (session) throws(KeychainError) in
                try secrets(of: records.map(\.handle), session)
            }
            return try records.map { (record) throws(KeychainError) -> SecureBytes? in
                guard let bytes = found[record.handle], let item = items[record.handle] else {
                    return try valueIfThere(record)
                }
                return try Self.value(bytes, of: item)
            }
        }

        private func valueIfThere(_ record: ItemRecord) throws(KeychainError) -> SecureBytes? {
            do {
                return try value(of: record)
            } catch {
                guard error.code == .itemNotFound else { throw error }
                return nil
            }
        }

        /// The value for what lies in the service: other programs' bytes as they are, ours from the form they are in.
        ///
        /// - Throws: `corrupt` for an item of ours that was cut, of which nothing at all may be left.
        static func value(_ bytes: SecureBytes, of item: StoredItem) throws(KeychainError) -> SecureBytes {
            if item.isBase64 { return try SecretEnvelope.decodedBase64(bytes) }
            guard item.isOwn else { return bytes }
            if bytes.isEmpty { throw SecretEnvelope.damaged }
            return SecretEnvelope.isWrapped(bytes) ? try SecretEnvelope.unwrap(bytes) : bytes
        }

        /// What lies in the service for an item, unlocking it if need be.
        ///
        /// - Throws: An error whose trouble is `noObject` if the item has vanished.
        func secret(at path: String, _ session: ServiceSession) throws(KeychainError) -> SecureBytes {
            let secrets = try session.secretSession(call)
            let request = secretRequest(path, secrets, session)
            let answer = try unlocking(path, session) { () throws(KeychainError) in
                try finder.perform(request, session)
            }
            return try secrets.decode(answer[0])
        }

        func secretRequest(_ path: String, _ secrets: SecretSession, _ session: ServiceSession) -> BusCall {
            session.request(
                path,
                ServiceName.item,
                "GetSecret",
                [.objectPath(secrets.path)],
                reply: "((oayays))",
                "The value could not be read"
            )
        }

        /// Runs a closure again after the collection was unlocked, and after the item was, if it fails because of that.
        func unlocking<Result>(
            _ path: String,
            _ session: ServiceSession,
            _ body: () throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            var locked = [path, try finder.path(session)]
            while true {
                do {
                    return try body()
                } catch {
                    guard error.trouble == .locked, let next = locked.popLast() else { throw error }
                    try finder.unlock(next, session)
                }
            }
        }

        /// Which of several values a single answer may carry: far below the 64 MiB at which the bus throws the
        /// service out.
        private static let answerSize = 8 << 20

        private func secrets(of paths: [String], _ session: ServiceSession) throws(KeychainError) -> [String:
            SecureBytes]
        {
            let secrets = try session.secretSession(call)
            // It runs gpg for each value, one after the other: an answer must not have to wait for many.
            let isSlow = try finder.keepsNoDates(session)
            let requests = chunks(paths, isSlow ? 8 : 64).map { chunk in
                session.request(
                    ServiceName.path,
                    ServiceName.service,
                    "GetSecrets",
                    [.objectPaths(chunk), .objectPath(secrets.path)],
                    reply: "(a{o(oayays)})",
                    "The values could not be read"
                )
            }
            let answers = try session.connection.perform(
                requests,
                call,
                limit: ServiceSession.answerLimit,
                window: isSlow ? 1 : 4
            )
            var found: [String: SecureBytes] = [:]
            for answer in answers {
                do {
                    for pair in try answer.get()[0].children { found[pair[0].text] = try secrets.decode(pair[1]) }
                } catch {
                    // Some services refuse them all when one has vanished, each with an error of its own; they are
                    // read one by one.
                    guard [.noObject, .locked, .other].contains(error.trouble) else { throw error }
                }
            }
            do {
                try finder.requireUnlocked(session)
            } catch {
                guard error.trouble == .locked else { throw error }
                return [:]
            }
            return found
        }

        private func chunks(_ paths: [String], _ count: Int) -> [[String]] {
            var chunks: [[String]] = []
            var size = 0
            for path in paths {
                // Values in the safe form are a third longer; what another program stored may be of any length.
                let limit = items[path]?.valueLimit.map { $0 / 3 * 4 + 256 } ?? Self.answerSize
                if size + limit > Self.answerSize || (chunks.last?.count ?? count) >= count {
                    chunks.append([])
                    size = 0
                }
                chunks[chunks.count - 1].append(path)
                size += limit
            }
            return chunks
        }

        /// The item that has taken a record's place.
        func successor(of record: ItemRecord, _ session: ServiceSession) throws(KeychainError) -> StoredItem? {
            let collection = try finder.path(session)
            let needle: LookupAttributes = [ItemLayout.referenceName: record.reference.uuidString]
            let paths = try Self.paths(finder.perform(try searchRequest(needle, collection, session), session))
            let item = try describe(paths, session).max { lastChange(of: $0) < lastChange(of: $1) }
            if let item { items[item.path] = item }
            return item
        }

        /// When an item was last changed, by the service's clock and what lies in the item.
        private func lastChange(of item: StoredItem) -> ItemDate {
            layout.record(of: item)?.modificationDate ?? ItemDate(microseconds: 0)
        }

        var vanished: KeychainError {
            KeychainError(.itemNotFound, "The item was removed by another program in the meantime.")
        }
    }
#endif
