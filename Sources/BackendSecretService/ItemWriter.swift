// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI

    /// The single steps of a change.
    ///
    /// When the service goes away in the middle of a step, it is not known whether the step was done. A step is then
    /// repeated once on a new connection, after a look at what is there.
    struct ItemWriter {
        private let reader: SecretServiceReader

        private var call: CallContext { reader.call }

        init(_ reader: SecretServiceReader) {
            self.reader = reader
        }

        // MARK: Steps

        /// Creates an item.
        ///
        /// Asks for a replacement of an item with the very same attributes, of which the reference is one: a
        /// repetition cannot leave a second item.
        ///
        /// - Parameters:
        ///   - item: The item.
        ///   - bytes: What shall lie in the service.
        ///   - replacing: Whether an item that has all of its attributes, and perhaps more, is overwritten.
        /// - Returns: Its object path.
        func create(_ item: StoredItem, _ bytes: SecureBytes, replacing: Bool = true) throws(KeychainError) -> String {
            try twice { (session, isRepeated) throws(KeychainError) in
                if isRepeated {
                    let found = try reader.describe(try paths(item, session), session)
                    if let present = found.first(where: { isEqual($0, item) }) {
                        try setSecret(bytes, at: present.path, session)
                        return present.path
                    }
                }
                return try create(item, bytes, replacing: replacing, session)
            }
        }

        /// Creates a new item, and deletes the old one.
        ///
        /// - Parameters:
        ///   - old: The item as it is.
        ///   - new: The item as it shall be.
        ///   - bytes: What shall lie in the service.
        func replace(_ old: StoredItem, by new: StoredItem, _ bytes: SecureBytes) throws(KeychainError) {
            let path = try twice { (session, isRepeated) throws(KeychainError) in
                if isRepeated, let path = try paths(new, session).first(where: { $0 != old.path }) {
                    try setSecret(bytes, at: path, session)
                    return path
                }
                return try create(new, bytes, replacing: false, session)
            }
            // Should a service have replaced the old one all the same, it is the new one now.
            if path != old.path { _ = try delete(old) }
        }

        /// Creates an item again unless it is still there.
        func restore(_ item: StoredItem, _ bytes: SecureBytes) throws(KeychainError) {
            let isThere = try reader.link.retrying(call) { (session) throws(KeychainError) in
                try reader.describe([item.path], session).contains { isSame($0, item) }
            }
            // Not as a replacement: that would overwrite the item that took its place and has attributes besides.
            if !isThere { _ = try create(item, bytes, replacing: false) }
        }

        /// Replaces the attributes of an item.
        func setAttributes(_ attributes: LookupAttributes, of item: StoredItem) throws(KeychainError) {
            let value = try Variant.attributes(attributes.withoutServersOwn)
            try twice { (session, isRepeated) throws(KeychainError) in
                try refuseMark(attributes, session)
                if isRepeated { try requireUnchanged(item, orWith: attributes, session) }
                let request = session.request(
                    item.path,
                    ServiceName.properties,
                    "Set",
                    [.string(ServiceName.item), .string("Attributes"), .boxed(value)],
                    reply: "()",
                    "The attributes could not be changed"
                )
                try write(request, item.path, session)
            }
        }

        /// Replaces the value of an item.
        func setSecret(_ bytes: SecureBytes, of item: StoredItem) throws(KeychainError) {
            try twice { (session, isRepeated) throws(KeychainError) in
                if isRepeated { try requireUnchanged(item, orWith: nil, session) }
                try setSecret(bytes, at: item.path, session)
            }
        }

        /// Lets everyone who watches know that the value of an item was replaced.
        ///
        /// GNOME Keyring says nothing of a new secret (`SetSecret`), but of attributes and labels that are set, also to
        /// what they were. The value is stored by now: what goes wrong here is no failure of the change.
        ///
        /// - Parameters:
        ///   - item: The item as it shall be.
        ///   - isOwn: Whether it is in our layout, and its attributes tell when it was changed.
        func report(_ item: StoredItem, isOwn: Bool) {
            do {
                if isOwn { return try setAttributes(item.attributes, of: item) }
                // The attributes of another program's item are its own business.
                let session = try reader.link.session(call)
                let request = session.request(
                    item.path,
                    ServiceName.properties,
                    "Set",
                    [.string(ServiceName.item), .string("Label"), .boxed(.string(item.label))],
                    reply: "()",
                    "The change could not be reported"
                )
                _ = try session.perform(request, call, limit: ServiceSession.writeLimit)
            } catch {}
        }

        /// Deletes an item, if it is still the one that is meant.
        ///
        /// - Returns: Whether there was anything to delete.
        func delete(_ item: StoredItem) throws(KeychainError) -> Bool {
            try twice { (session, isRepeated) throws(KeychainError) in
                guard let present = try reader.describe([item.path], session).first, isSame(present, item) else {
                    return isRepeated
                }
                let action = "The item could not be removed"
                let request = session.request(
                    item.path,
                    ServiceName.item,
                    "Delete",
                    [],
                    reply: "(o)",
                    action
                )
                var isCertain = session.isGNOMEKeyring
                var prompt = "/"
                do throws(KeychainError) {
                    prompt = try write(request, item.path, session)[0].text
                } catch {
                    // Probably gone already, which is what was wanted.
                    guard error.trouble == .noObject else { throw error }
                    isCertain = false
                }
                // Apart from that: a prompt that is not there is no item that is gone.
                if prompt != "/" { _ = try ask(prompt, action, session) }
                if !isCertain, try !reader.describe([item.path], session).isEmpty {
                    throw KeychainError(
                        .io,
                        "\(action): the Secret Service says that it did, and has it still. Look at the keyring."
                    )
                }
                return true
            }
        }

        /// What lies in the service for an item.
        ///
        /// - Throws: `itemNotFound` if it has vanished.
        func secret(of item: StoredItem) throws(KeychainError) -> SecureBytes {
            do {
                return try reader.link.retrying(call) { (session) throws(KeychainError) in
                    try reader.secret(at: item.path, session)
                }
            } catch {
                throw error.trouble == .noObject ? reader.vanished : error
            }
        }

        // MARK: Calls

        private func create(
            _ item: StoredItem,
            _ bytes: SecureBytes,
            replacing: Bool,
            _ session: ServiceSession
        ) throws(KeychainError) -> String {
            try refuseMark(item.attributes, session)
            try refuseSize(bytes, session)
            let secrets = try session.secretSession(call)
            let collection = try reader.finder.path(session)
            let properties = Variant.properties([
                ("org.freedesktop.Secret.Item.Label", .string(item.label)),
                ("org.freedesktop.Secret.Item.Attributes", try .attributes(item.attributes.withoutServersOwn)),
            ])
            let action = "The item could not be stored"
            let request = session.request(
                collection,
                ServiceName.collection,
                "CreateItem",
                [properties, secrets.encode(bytes), .boolean(replacing)],
                reply: "(oo)",
                action
            )
            let answer = try write(request, collection, session)
            var path = answer[0].text
            if path == "/", answer[1].text != "/" { path = try ask(answer[1].text, action, session).text }
            guard path != "/", !path.isEmpty else {
                throw KeychainError(.io, "\(action), and the Secret Service does not say why. See its log.")
            }
            do throws(KeychainError) {
                try prove(bytes, at: path, secrets, session)
            } catch {
                // What has no value is no item: nothing could be read of it, and it would be in the way.
                if error.trouble == .other, try reader.finder.keepsNoDates(session) { discard(path, session) }
                throw error
            }
            return path
        }

        /// Deletes what was created just now; the error that leads here is the one that counts.
        private func discard(_ path: String, _ session: ServiceSession) {
            let action = "The item could not be removed"
            let request = session.request(path, ServiceName.item, "Delete", [], reply: "(o)", action)
            _ = try? session.perform(request, call, limit: ServiceSession.writeLimit)
        }

        /// Reads back the first value that was written in a session with a service other than GNOME Keyring, and every
        /// value with one that says that it stored what it did not.
        ///
        /// In one of a hundred sessions with KWallet the two sides have different keys (KDE bug 514194): what is
        /// written then is stored as something else, and nothing says so. And `pass_secret_service` says that it has
        /// stored what it could not encrypt, for example because the key has expired.
        ///
        /// - Throws: An error whose trouble is `noSession` if something else was stored and the session may be why;
        ///   `io` if the service is why.
        private func prove(
            _ bytes: SecureBytes,
            at path: String,
            _ secrets: SecretSession,
            _ session: ServiceSession
        ) throws(KeychainError) {
            guard !session.isGNOMEKeyring else { return }
            let isDateless = try reader.finder.keepsNoDates(session)
            guard isDateless || !secrets.isProven else { return }
            do throws(KeychainError) {
                if try reader.secret(at: path, session) == bytes { return secrets.prove() }
            } catch {
                guard isDateless, error.trouble == .other else { throw error }
                throw Self.unstored(error.underlying)
            }
            throw isDateless ? Self.unstored(nil) : SecretSession.undecryptable
        }

        private static func unstored(_ underlying: KeychainError.Underlying?) -> KeychainError {
            KeychainError(
                .io,
                "The value was not stored, although the Secret Service says that it was. See its log; with pass, look "
                    + "whether the key of the password store is there and has not expired.",
                underlying: underlying
            )
        }

        /// How many bytes are in the buffer of a pipe on Linux, pipe(7).
        private static let pipeSize = 64 << 10

        /// Refuses what `pass_secret_service` would store, and at which it would hang for good when it is to read it.
        private func refuseSize(_ bytes: SecureBytes, _ session: ServiceSession) throws(KeychainError) {
            guard bytes.count > Self.pipeSize, try reader.finder.keepsNoDates(session) else { return }
            throw KeychainError(
                .dataTooLarge,
                "The value takes \(bytes.count) bytes; pass_secret_service hangs when it reads more than "
                    + "\(Self.pipeSize). Store it in a file, and the key here."
            )
        }

        /// Refuses a text that services written with Qt would store without its beginning, and so as another one.
        private func refuseMark(_ attributes: LookupAttributes, _ session: ServiceSession) throws(KeychainError) {
            guard !session.isGNOMEKeyring,
                let pair = attributes.pairs.first(where: { $0.value.unicodeScalars.first == "\u{FEFF}" }),
                try !reader.finder.keepsNoDates(session)
            else { return }
            throw KeychainError(
                .invalidParameter,
                "The attribute ‘\(pair.name)’ begins with a byte order mark, which this keyring does not keep. Leave "
                    + "it out."
            )
        }

        private func setSecret(_ bytes: SecureBytes, at path: String, _ session: ServiceSession) throws(KeychainError) {
            try refuseSize(bytes, session)
            let secrets = try session.secretSession(call)
            let request = session.request(
                path,
                ServiceName.item,
                "SetSecret",
                [secrets.encode(bytes)],
                reply: "()",
                "The value could not be replaced"
            )
            try write(request, path, session)
            try prove(bytes, at: path, secrets, session)
        }

        @discardableResult
        private func write(_ request: BusCall, _ path: String, _ session: ServiceSession) throws(KeychainError)
            -> Variant
        {
            do {
                return try reader.unlocking(path, session) { () throws(KeychainError) in
                    try reader.finder.requireUnlocked(session)
                    // Creating is refused where it is not possible; done twice, it would leave two items.
                    return try request.method == "CreateItem"
                        ? session.perform(request, call, limit: ServiceSession.writeLimit)
                        : reader.finder.perform(request, session, limit: ServiceSession.writeLimit)
                }
            } catch {
                guard error.trouble == .unanswered else { throw error }
                throw KeychainError(
                    error.code,
                    "\(request.action) in time, or perhaps it was: the Secret Service did not answer. Look before "
                        + "you try again.",
                    underlying: error.underlying
                )
            }
        }

        private func ask(
            _ prompt: String,
            _ action: String,
            _ session: ServiceSession
        ) throws(KeychainError) -> Variant {
            try ServicePrompt(session: session, call: call, hasDisplay: reader.finder.hasDisplay).run(
                prompt,
                .change(action)
            )
        }

        /// Runs a step, and once more on a new connection if the service went away meanwhile.
        private func twice<Result>(
            _ step: (_ session: ServiceSession, _ isRepeated: Bool) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            let session = try reader.link.session(call)
            do {
                return try step(session, false)
            } catch {
                guard error.trouble == .lost || error.trouble == .noSession else { throw error }
                reader.link.drop(session)
            }
            let next = try reader.link.session(call)
            _ = try reader.finder.unlocked(next)
            return try step(next, true)
        }

        // MARK: Looking

        /// The items that have the attributes of an item.
        func find(_ item: StoredItem) throws(KeychainError) -> [StoredItem] {
            try reader.link.retrying(call) { (session) throws(KeychainError) in
                try reader.describe(try paths(item, session), session)
            }
        }

        private func paths(_ item: StoredItem, _ session: ServiceSession) throws(KeychainError) -> [String] {
            var needle = item.attributes.withoutServersOwn
            // GNOME Keyring does not find a schema of its own choosing in a keyring that was locked.
            needle[ItemLayout.schemaName] = nil
            let collection = try reader.finder.path(session)
            let search = try reader.searchRequest(needle, collection, session)
            return try SecretServiceReader.paths(reader.finder.perform(search, session))
        }

        private func requireUnchanged(
            _ item: StoredItem,
            orWith attributes: LookupAttributes?,
            _ session: ServiceSession
        ) throws(KeychainError) {
            guard let present = try reader.describe([item.path], session).first else { throw reader.vanished }
            if let attributes, present.attributes == attributes { return }
            guard isSame(present, item) else { throw reader.vanished }
        }

        /// Whether an item agrees with another one in every attribute that this library knows.
        private func isEqual(_ present: StoredItem, _ item: StoredItem) -> Bool {
            isSame(present, item)
                && reader.layout.record(of: present)?.attributes == reader.layout.record(of: item)?.attributes
        }

        /// Whether an item is still the one that was found, rather than another one that got its path.
        private func isSame(_ present: StoredItem, _ item: StoredItem) -> Bool {
            guard let left = reader.layout.record(of: present), let right = reader.layout.record(of: item) else {
                return false
            }
            return left.reference == right.reference && left.primaryKey == right.primaryKey
        }
    }
#endif
