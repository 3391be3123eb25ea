// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import KeychainAPI

    /// How items are looked at: by asking the service, or by remembering what it said.
    extension SecretServiceReader {
        /// Looks at items; what has vanished is left out.
        ///
        /// - Parameters:
        ///   - paths: The items.
        ///   - session: The session.
        /// - Throws: An error whose trouble is `locked` if items may be missing only because of that.
        func describe(_ paths: [String], _ session: ServiceSession) throws(KeychainError) -> [StoredItem] {
            let requests = paths.map { descriptionRequest($0, session) }
            let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
            var described: [StoredItem] = []
            for (path, answer) in zip(paths, answers) {
                do throws(KeychainError) {
                    // Without attributes it would look like an item that is nobody's business.
                    guard let item = StoredItem(path, properties: try answer.get()[0]) else {
                        throw .nonsense("An item could not be looked at")
                    }
                    described.append(item)
                } catch {
                    guard error.trouble == .noObject else { throw error }
                }
            }
            if described.count < paths.count { try finder.requireUnlocked(session) }
            return described
        }

        /// Looks at those of a search's items that are not known from before.
        ///
        /// Only for calls that read: what is changed is always looked at.
        ///
        /// - Parameters:
        ///   - paths: The items, as the search returned them.
        ///   - session: The session.
        ///   - areByDate: Whether they are in the order in which GNOME Keyring returns them.
        /// - Throws: As ``describe(_:_:)``.
        func describeOnce(
            _ paths: [String],
            _ session: ServiceSession,
            areByDate: Bool
        ) throws(KeychainError) -> [StoredItem] {
            guard let cache = session.cache, areByDate, [.retrieve, .info, .contains].contains(call.operation) else {
                return try describe(paths, session)
            }
            let second = UInt64(max(0, Date().timeIntervalSince1970))
            let generation = cache.generation
            let known = try withDates(cache.descriptions(of: paths), paths, session)
            let unknown = try describe(paths.filter { known[$0] == nil }, session)
            cache.remember(unknown, at: second, since: generation)
            if known.isEmpty { return unknown }
            let found = known.merging(unknown.map { ($0.path, $0) }) { $1 }
            return paths.compactMap { found[$0] }
        }

        /// What is known of items, with the times of their last changes as they are now; without those that have vanished.
        ///
        /// A value that was replaced is told by no signal. But the item that it belongs to is now the first in a search's
        /// result, where the last changed ones stand: once an item was not changed since all were looked at, those
        /// behind it were not either. Right as long as the clock is not set back.
        private func withDates(
            _ known: [String: ItemCache.Description],
            _ paths: [String],
            _ session: ServiceSession
        ) throws(KeychainError) -> [String: StoredItem] {
            guard let second = known.values.map(\.second).min() else { return [:] }
            var items = known.mapValues(\.item)
            var rest = paths.filter { known[$0] != nil }[...]
            var count = 1
            while !rest.isEmpty {
                let next = rest.prefix(count)
                rest = rest.dropFirst(count)
                count = min(count * 4, 64)
                let requests = next.map { propertyRequest("Modified", $0, session) }
                let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
                for (path, answer) in zip(next, answers) {
                    guard let modified = try? answer.get()[0].unboxed, modified.type == "t" else {
                        items[path] = nil
                        continue
                    }
                    items[path]?.modified = modified.unsigned
                    if modified.unsigned + 1 < second { rest = [] }
                }
            }
            return items
        }

        /// Looks at an item, unless it is known from before, and has its value sent along, which is kept if it comes.
        ///
        /// - Returns: The item, nothing if it has vanished.
        /// - Throws: As ``describe(_:_:)``.
        func describeWithValue(_ path: String, _ session: ServiceSession) throws(KeychainError) -> [StoredItem] {
            let secretSession = try session.secretSession(call)
            var requests = [secretRequest(path, secretSession, session)]
            let known = call.isForValue ? session.cache?.descriptions(of: [path])[path]?.item : nil
            if known == nil {
                requests.append(
                    call.isForValue
                        ? propertyRequest("Attributes", path, session) : descriptionRequest(path, session)
                )
            }
            let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
            do throws(KeychainError) {
                secrets[path] = (secretSession, try answers[0].get()[0])
            } catch {
                // Whatever else went wrong is found out when the value is asked for again.
                if error.trouble == .noObject { return [] }
            }
            if let known { return [known] }
            let answer: Variant
            do throws(KeychainError) {
                answer = try answers[1].get()[0]
            } catch {
                guard error.trouble == .noObject else { throw error }
                return []
            }
            let item =
                call.isForValue
                ? StoredItem(path, attributes: answer.unboxed) : StoredItem(path, properties: answer)
            guard let item else { throw .nonsense("An item could not be looked at") }
            return [item]
        }

        private func descriptionRequest(_ path: String, _ session: ServiceSession) -> BusCall {
            session.request(
                path,
                ServiceName.properties,
                "GetAll",
                [.string(ServiceName.item)],
                reply: "(a{sv})",
                "An item could not be looked at"
            )
        }

        func propertyRequest(_ name: String, _ path: String, _ session: ServiceSession) -> BusCall {
            session.property(path, ServiceName.item, name, "An item could not be looked at")
        }
    }

    extension StoredItem {
        /// Makes an item of which no more is known than its attributes; nil if they are none.
        fileprivate init?(_ path: String, attributes: Variant) {
            guard let attributes = attributes.lookupAttributes else { return nil }
            self.init(path: path, attributes: attributes, label: "", created: 0, modified: 0)
            isWhole = false
        }

        /// Makes an item from its properties, as `GetAll` returns them; nil if there are no attributes among them.
        fileprivate init?(_ path: String, properties: Variant) {
            self.init(path: path, attributes: LookupAttributes(), label: "", created: 0, modified: 0)
            var hasAttributes = false
            for pair in properties.children {
                let value = pair[1].unboxed
                switch pair[0].text {
                case "Attributes":
                    guard let found = value.lookupAttributes else { return nil }
                    attributes = found
                    hasAttributes = true
                case "Label": label = value.text
                case "Created": created = value.unsigned
                case "Modified": modified = value.unsigned
                default: break
                }
            }
            guard hasAttributes else { return nil }
        }
    }
#endif
