// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI
    import Synchronization

    /// Finds items and reads their values.
    ///
    /// Each question is asked anew, since other programs change the same items. A search, the look at what it found
    /// and the reading of a value are separate calls of the service: what vanishes in between is searched for again.
    final class SecretServiceReader: RecordReader {
        let link: ServiceLink
        let finder: CollectionFinder
        let layout: ItemLayout
        let call: CallContext
        /// The items behind the records that were returned, by path.
        var items: [String: StoredItem] = [:]
        /// Values that came with the record, not decrypted yet.
        var secrets: [String: (SecretSession, Variant)] = [:]

        init(link: ServiceLink, finder: CollectionFinder, layout: ItemLayout, call: CallContext) {
            self.link = link
            self.finder = finder
            self.layout = layout
            self.call = call
        }

        /// A reader of the same collection for another call.
        func again(_ call: CallContext) -> SecretServiceReader {
            let finder = CollectionFinder(name: finder.name, call: call, hasDisplay: finder.hasDisplay)
            return SecretServiceReader(link: link, finder: finder, layout: layout, call: call)
        }

        // MARK: Records

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            let plan = SearchPlan(selection, layout)
            return try link.retrying(call) { (session) throws(KeychainError) in
                if let items = try remembered(plan.needles, session) { return records(from: items) }
                let found = try search(plan.needles, session) { (paths, error) throws(KeychainError) in
                    try LockedSearch(reader: self, session: session).records(plan, selection, paths, error)
                }
                guard case .items(let items) = found else { return found.records }
                if let reference = selection.reference, items.isEmpty, plan.includesForeign {
                    return records(from: try foreign(reference, session))
                }
                return records(from: items)
            }
        }

        /// What a search came to: items, or the records that a locked collection gives away.
        enum Found {
            case items([StoredItem])
            case records([ItemRecord])

            var records: [ItemRecord] {
                if case .records(let records) = self { records } else { [] }
            }
        }

        /// Searches the collection, and looks at every hit.
        ///
        /// - Parameters:
        ///   - needles: What is searched for; a hit has all attributes of one of them.
        ///   - session: The session.
        ///   - whenLocked: Is asked for an answer when the collection is locked and no prompt is allowed.
        private func search(
            _ needles: [LookupAttributes],
            _ session: ServiceSession,
            whenLocked: (_ paths: [String], _ error: KeychainError) throws(KeychainError) -> [ItemRecord]
        ) throws(KeychainError) -> Found {
            var known: [String: StoredItem] = [:]
            var found: [String]?
            var isComplete = false
            let generation = session.cache?.generation
            // A search is repeated until nothing of what it found has vanished: what is replaced by another program,
            // or by another process of ours, would else look as if it were not there. Only what is new is looked at
            // again.
            for _ in 0..<8 {
                let collection = try finder.path(session)
                var requests = [finder.lockedRequest(collection, session)]
                if let refresh = finder.refreshRequest(session) { requests.append(refresh) }
                let first = requests.count
                for needle in needles { requests.append(try searchRequest(needle, collection, session)) }
                // KeePassXC finds nothing in what is locked: it must have been open before and after.
                if !session.isGNOMEKeyring { requests.append(requests[0]) }
                let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
                if first > 1, try !finder.refresh(answers[1].get(), collection, session) { continue }
                let isLockedBefore = try finder.isLocked(answers[0], session)
                let isLocked =
                    try session.isGNOMEKeyring
                    ? isLockedBefore : finder.isLocked(answers[answers.count - 1], session) || isLockedBefore
                let paths = try union(answers[first..<(first + needles.count)])
                if isLocked {
                    found = nil
                    do {
                        try finder.unlock(collection, session)
                        continue
                    } catch {
                        guard error.code == .interactionNotAllowed, !call.allowsUnlockPrompt else { throw error }
                        return .records(try whenLocked(paths, error))
                    }
                }
                found = paths
                let missing = paths.filter { known[$0] == nil }
                let described: [StoredItem]
                do throws(KeychainError) {
                    // A value is only given out by a collection that is unlocked; other services' are looked at twice.
                    if session.isGNOMEKeyring, call.isForOneMatch, call.operation == .retrieve, missing.count == 1 {
                        described = try describeWithValue(missing[0], session)
                    } else {
                        described = try describeOnce(missing, session, areByDate: needles.count == 1)
                    }
                } catch {
                    guard error.trouble == .locked else { throw error }
                    found = nil
                    continue
                }
                for item in described { known[item.path] = item }
                isComplete = described.count == missing.count
                if isComplete { break }
            }
            // Still nothing seen of it unlocked: that is not the same as nothing there.
            guard let found else { throw finder.stillLocked }
            // Nor is what the service finds, and does not know when it is asked about it.
            guard isComplete else {
                throw KeychainError(
                    .io,
                    "The items could not be looked at: whatever the Secret Service finds is gone at the next moment. "
                        + "Try again; if that fails, see its log."
                )
            }
            let items = found.compactMap { known[$0] }
            if items.count <= 1, let cache = session.cache, let generation {
                cache.remember(items.first, for: try key(needles, session), since: generation)
            }
            return .items(items)
        }

        /// What a search has found before, if nothing has changed and the collection is unlocked; nil if that is not
        /// certain.
        ///
        /// One round trip: whatever has to be asked anew is asked together, and the value comes with it.
        private func remembered(
            _ needles: [LookupAttributes],
            _ session: ServiceSession
        ) throws(KeychainError) -> [StoredItem]? {
            guard call.isForOneMatch, let cache = session.cache,
                let collection = session.collections.withLock({ $0[finder.name] }),
                let entry = cache[try key(needles, session)], entry.item?.isWhole ?? true || call.isForValue
            else { return nil }
            let refresh = finder.refreshRequest(session)
            // A value is only given out by a collection that is unlocked.
            let secretSession = call.operation == .retrieve && entry.item != nil ? try session.secretSession(call) : nil
            var requests = refresh.map { [$0] } ?? []
            if let item = entry.item {
                if !call.isForValue { requests.append(propertyRequest("Modified", item.path, session)) }
                if let secretSession { requests.append(secretRequest(item.path, secretSession, session)) }
            }
            if secretSession == nil { requests.append(finder.lockedRequest(collection, session)) }
            let results = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
            // Whatever went wrong is found out by asking for all of it.
            var answers = results.compactMap { try? $0.get()[0] }[...]
            guard answers.count == results.count, cache.generation == entry.generation else { return nil }
            if refresh != nil, answers.removeFirst().text != collection { return nil }
            if secretSession == nil {
                let isLocked = answers.removeLast().unboxed
                if isLocked.type != "b" || isLocked.flag { return nil }
            }
            guard var item = entry.item else { return [] }
            if !call.isForValue { item.modified = answers.removeFirst().unboxed.unsigned }
            if let secretSession { secrets[item.path] = (secretSession, answers.removeFirst()) }
            return [item]
        }

        /// What a search is remembered by.
        private func key(_ needles: [LookupAttributes], _ session: ServiceSession) throws(KeychainError) -> [UInt8] {
            var key = Array(try finder.path(session).utf8)
            for needle in needles {
                // Neither a name nor a value has a NUL in it.
                key += [0, 0]
                for (name, value) in needle.pairs { key += Array(name.utf8) + [0] + Array(value.utf8) + [0] }
            }
            return key
        }

        private func union(
            _ answers: ArraySlice<Result<Variant, KeychainError>>
        ) throws(KeychainError) -> [String] {
            var paths: [String] = []
            var seen: Set<String> = []
            for answer in answers {
                for path in try Self.paths(answer.get()) where seen.insert(path).inserted { paths.append(path) }
            }
            return paths
        }

        /// The paths in the answer to ``searchRequest(_:_:_:)``.
        static func paths(_ answer: Variant) throws(KeychainError) -> [String] {
            // The type of what is in a box was not checked with the answer.
            let list = answer[0].unboxed
            guard list.type == "ao" else { throw .nonsense("The items could not be listed") }
            return list.texts
        }

        /// A call that searches a collection; the answer may be in a box.
        func searchRequest(
            _ needle: LookupAttributes,
            _ collection: String,
            _ session: ServiceSession
        ) throws(KeychainError) -> BusCall {
            if needle.isEmpty && !session.isGNOMEKeyring {
                // KeePassXC finds nothing by no attributes.
                return session.property(collection, ServiceName.collection, "Items", "The items could not be listed")
            }
            return session.request(
                collection,
                ServiceName.collection,
                "SearchItems",
                [try .attributes(needle)],
                reply: "(ao)",
                "The items could not be searched"
            )
        }

        /// The records of items, which are remembered for reading and changing them.
        func records(from found: [StoredItem]) -> [ItemRecord] {
            var records: [ItemRecord] = []
            for item in found {
                guard let record = layout.record(of: item) else { continue }
                items[item.path] = item
                records.append(record)
            }
            return Self.separatingTies(records)
        }

        /// Makes the later one of several items for one primary key the most recently modified, when the service's
        /// whole seconds do not tell them apart.
        ///
        /// The one that was added later has the higher number in its path, or else no order can be known.
        static func separatingTies(_ records: [ItemRecord]) -> [ItemRecord] {
            guard records.count > 1 else { return records }
            var latest: [PrimaryKey: ItemDate] = [:]
            var result = records
            for index in records.indices.sorted(by: { records[$0].pathNumber < records[$1].pathNumber }) {
                let key = records[index].primaryKey
                if let date = latest[key], date.second == records[index].modificationDate.second {
                    result[index].modificationDate = ItemDate(microseconds: date.microseconds + 1)
                }
                latest[key] = max(latest[key] ?? result[index].modificationDate, result[index].modificationDate)
            }
            return result
        }

        /// The item of another program whose reference is the one of its path.
        private func foreign(_ reference: UUID, _ session: ServiceSession) throws(KeychainError) -> [StoredItem] {
            let collection = try finder.unlocked(session)
            let request = try searchRequest([:], collection, session)
            let paths = try Self.paths(finder.perform(request, session))
            return try describe(paths.filter { ItemLayout.reference(of: $0) == reference }, session)
        }

        /// The item behind a record, looked at now if it was not before; nil if it has vanished.
        func item(_ record: ItemRecord, _ session: ServiceSession) throws(KeychainError) -> StoredItem? {
            if let item = items[record.handle] { return item }
            guard let item = try describe([record.handle], session).first else { return nil }
            items[item.path] = item
            return item
        }

        /// Forgets what is known of an item that is being changed.
        func forget(_ path: String) {
            items[path] = nil
        }
    }

    extension ItemRecord {
        /// The number at the end of the object path, 0 if there is none.
        fileprivate var pathNumber: Int { handle.split(separator: "/").last.flatMap { Int($0) } ?? 0 }
    }

    extension ItemDate {
        fileprivate var second: Int64 { microseconds / 1_000_000 }
    }
#endif
