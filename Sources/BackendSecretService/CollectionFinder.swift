// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI
    import Synchronization

    /// Finds and unlocks the collection that a store's name stands for.
    struct CollectionFinder {
        /// The name as it was given: `""`, an object path, a label, or an alias.
        let name: String
        let call: CallContext
        let hasDisplay: Bool

        /// The alias that the name is, nil if it is first taken for a label.
        private var alias: String? { name.isEmpty || name == "default" ? "default" : nil }

        // MARK: Finding

        /// The object path of the collection, as it was when it was last looked up in this session.
        ///
        /// - Throws: `unavailable` if there is none, with what there is instead; `ambiguous` if a label is not unique.
        func path(_ session: ServiceSession) throws(KeychainError) -> String {
            if let path = session.collections.withLock({ $0[name] }) { return path }
            let path = try find(session)
            remember(path, session)
            return path
        }

        /// Asks once more what the default collection is, together with other requests; nil if the name is no alias.
        func refreshRequest(_ session: ServiceSession) -> BusCall? {
            alias.map { aliasRequest($0, session) }
        }

        /// Takes in the answer to ``refreshRequest(_:)``.
        ///
        /// - Returns: Whether the collection is still the one it was.
        func refresh(_ answer: Variant, _ path: String, _ session: ServiceSession) throws(KeychainError) -> Bool {
            if answer[0].text == path { return true }
            remember(nil, session)
            return false
        }

        /// Forgets what the name stood for.
        func remember(_ path: String?, _ session: ServiceSession) {
            session.collections.withLock { $0[name] = path }
        }

        private func find(_ session: ServiceSession) throws(KeychainError) -> String {
            if let alias {
                let path = try session.perform(aliasRequest(alias, session), call)[0].text
                if path != "/" { return path }
                let advice = try advice(session)
                // Asked again: GNOME Keyring was seen to say so once, under load, of a collection that it listed.
                let second = try session.perform(aliasRequest(alias, session), call)[0].text
                if second != "/" { return second }
                throw KeychainError(
                    .unavailable,
                    "The keyring has no default collection. \(advice) To create one: "
                        + "keychainctl init --store secret-service:"
                )
            }
            if name.hasPrefix("/") { return name }
            let found = try labelled(session).filter { $0.label.hasSameBytes(as: name) }
            if found.count == 1 { return found[0].path }
            if found.count > 1 {
                let paths = found.map(\.path).joined(separator: ", ")
                throw KeychainError(
                    .ambiguous,
                    "Several collections are called ‘\(name)’. Name one by its path: \(paths)."
                )
            }
            let path = try session.perform(aliasRequest(name, session), call)[0].text
            if path != "/" { return path }
            throw missing(try advice(session))
        }

        /// The error for a collection that is not there.
        func missing(_ advice: String) -> KeychainError {
            KeychainError(.unavailable, "The keyring has no collection ‘\(name)’. \(advice)")
        }

        /// What there is, and what to do, as sentences.
        func advice(_ session: ServiceSession) throws(KeychainError) -> String {
            let names = try labelled(session).map { $0.label.isEmpty ? $0.path : "‘\($0.label)’ (\($0.path))" }
            let list = names.isEmpty ? "It has none at all." : "It has \(names.joined(separator: ", "))."
            return
                "\(list) Make one, for example by logging in to the desktop or in Seahorse (Passwords and Keys), or name "
                + "one, as in secret-service:login."
        }

        private func labelled(_ session: ServiceSession) throws(KeychainError) -> [(path: String, label: String)] {
            let request = session.property(
                ServiceName.path,
                ServiceName.service,
                "Collections",
                "The collections could not be listed"
            )
            let paths = try session.perform(request, call)[0].unboxed.texts
            let labels = try session.connection.perform(
                paths.map {
                    session.property($0, ServiceName.collection, "Label", "A collection could not be looked at")
                },
                call,
                limit: ServiceSession.answerLimit
            )
            // One that is going away at this moment has no label; it is listed by its path.
            return zip(paths, labels).map { path, label in
                if case .success(let label) = label { return (path, label[0].unboxed.text) }
                return (path, "")
            }
        }

        private func aliasRequest(_ alias: String, _ session: ServiceSession) -> BusCall {
            session.request(
                ServiceName.path,
                ServiceName.service,
                "ReadAlias",
                [.string(alias)],
                reply: "(o)",
                "The collection could not be found"
            )
        }

        // MARK: Unlocking

        /// A call that reads whether a collection or item is locked.
        func lockedRequest(_ path: String, _ session: ServiceSession) -> BusCall {
            session.property(path, ServiceName.collection, "Locked", "The collection could not be looked at")
        }

        /// Unlocks a collection or an item, with a prompt if it needs one and the call allows it.
        ///
        /// Called for a call that allows no prompt as well: a keyring with an empty password opens without one.
        ///
        /// - Throws: See ``ServicePrompt/run(_:_:)``.
        func unlock(_ path: String, _ session: ServiceSession) throws(KeychainError) {
            guard call.interaction != .neverUnlocking else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "\(title) is locked, and may not be unlocked. Unlock the keyring first, or allow it."
                )
            }
            try ask(request("Unlock", path, "The keyring could not be unlocked", session), .locked(title), session)
        }

        /// Asks the service to lock or unlock an object.
        ///
        /// - Returns: The path of a prompt, `/` if none is needed.
        private func request(
            _ method: String,
            _ path: String,
            _ action: String,
            _ session: ServiceSession
        ) throws(KeychainError) -> String {
            let arguments: [Variant] = [.objectPaths([path])]
            let name = ServiceName.service
            return try session.perform(
                session.request(ServiceName.path, name, method, arguments, reply: "(aoo)", action),
                call
            )[1].text
        }

        /// What messages call the collection.
        private var title: String { name.isEmpty ? "The keyring" : "The collection ‘\(name)’" }

        /// Asks the person what the service wants to ask, if it does.
        ///
        /// - Returns: The result; nil without a question.
        @discardableResult
        private func ask(
            _ prompt: String,
            _ matter: ServicePrompt.Matter,
            _ session: ServiceSession
        ) throws(KeychainError) -> Variant? {
            guard prompt != "/" else { return nil }
            return try ServicePrompt(session: session, call: call, hasDisplay: hasDisplay).run(prompt, matter)
        }

        /// Locks the collection.
        ///
        /// - Throws: `unsupported` if the service does not lock it.
        func lock(_ session: ServiceSession) throws(KeychainError) {
            let path = try path(session)
            if try keepsNoDates(session) {
                throw KeychainError(
                    .unsupported,
                    "pass_secret_service gives out what is locked all the same. To have the passphrase of the key asked "
                        + "for again, run: gpgconf --kill gpg-agent"
                )
            }
            // KWallet refuses to lock what is locked.
            if try isLocked(path, session) { return }
            let matter = ServicePrompt.Matter(
                state: "\(title) asks before it is locked",
                remedy: "Lock it in the keyring's own window",
                mayAskNothing: true
            )
            try ask(request("Lock", path, "The keyring could not be locked", session), matter, session)
            guard try isLocked(path, session) else {
                throw KeychainError(
                    .unsupported,
                    "\(title) is one that cannot be locked. Name another one, as in secret-service:login."
                )
            }
        }

        private func isLocked(_ path: String, _ session: ServiceSession) throws(KeychainError) -> Bool {
            let request = lockedRequest(path, session)
            return try isLocked(
                session.connection.perform([request], call, limit: ServiceSession.answerLimit)[0],
                session
            )
        }

        // MARK: Creating

        /// Creates the collection; the default one if the name is empty.
        ///
        /// - Throws: `duplicateItem` if there is one of that name, and what ``ServicePrompt/run(_:_:)`` throws: GNOME
        ///   Keyring asks for the new collection's password.
        func create(_ session: ServiceSession) throws(KeychainError) {
            guard !name.hasPrefix("/") else {
                throw KeychainError(
                    .invalidParameter,
                    "The path of a collection is chosen by the service. Give the new one a name, as in "
                        + "secret-service:Work."
                )
            }
            let existing = try session.perform(aliasRequest(alias ?? name, session), call)[0].text
            let namesakes = alias == nil ? try labelled(session).filter { $0.label.hasSameBytes(as: name) } : []
            guard existing == "/", namesakes.isEmpty else {
                throw KeychainError(.duplicateItem, "\(title) exists already. Use it, or choose another name.")
            }
            let label = alias == nil ? name : "Default keyring"
            let answer = try session.perform(
                session.request(
                    ServiceName.path,
                    ServiceName.service,
                    "CreateCollection",
                    [.properties([("org.freedesktop.Secret.Collection.Label", .string(label))]), .string(alias ?? "")],
                    reply: "(oo)",
                    "The collection could not be created"
                ),
                call,
                limit: ServiceSession.writeLimit
            )
            let matter = ServicePrompt.Matter(
                state: "\(title) can only be created with a password that the keyring asks for",
                remedy: "Create it where the desktop can ask, for example in Seahorse (Passwords and Keys)"
            )
            let created = try ask(answer[1].text, matter, session)?.text ?? answer[0].text
            guard created != "/", !created.isEmpty else {
                throw KeychainError(.io, "The service says that it created the collection, and not which. See its log.")
            }
            remember(nil, session)
        }

        /// Unlocks the collection if it is locked.
        ///
        /// - Returns: Its object path.
        /// - Throws: `interactionNotAllowed` or `userCanceled` if it stays locked, `unavailable` if it is not there.
        func unlocked(_ session: ServiceSession) throws(KeychainError) -> String {
            for _ in 0..<3 {
                let path = try path(session)
                let requests = [lockedRequest(path, session)] + (refreshRequest(session).map { [$0] } ?? [])
                let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
                if answers.count > 1, try !refresh(answers[1].get(), path, session) { continue }
                guard try isLocked(answers[0], session) else { return path }
                try unlock(path, session)
            }
            throw stillLocked
        }

        /// Whether the collection is locked, from the answer to ``lockedRequest(_:_:)``.
        ///
        /// - Throws: `unavailable` if the collection is not there, `io` if the answer does not say.
        func isLocked(
            _ answer: Result<Variant, KeychainError>,
            _ session: ServiceSession
        ) throws(KeychainError) -> Bool {
            let flag: Variant
            do {
                flag = try answer.get()[0].unboxed
            } catch {
                guard error.trouble == .noObject else { throw error }
                remember(nil, session)
                throw missing(try advice(session))
            }
            // A false “unlocked” would make nothing of what is there.
            guard flag.type == "b" else { throw .nonsense("The collection could not be looked at") }
            return flag.flag
        }

        /// Sends a call that needs the collection unlocked, and makes sure that it was.
        ///
        /// - Throws: An error whose trouble is `locked` if it was not, whatever the service answered.
        func perform(
            _ request: BusCall,
            _ session: ServiceSession,
            limit: Duration = ServiceSession.answerLimit
        ) throws(KeychainError) -> Variant {
            if session.isGNOMEKeyring { return try session.perform(request, call, limit: limit) }
            let collection = try path(session)
            let requests = [request, lockedRequest(collection, session)]
            let answers = try session.connection.perform(requests, call, limit: limit)
            if try isLocked(answers[1], session) { throw lockedAnswer }
            return try answers[0].get()
        }

        /// Makes sure that a collection is unlocked whose service may answer as if it were.
        ///
        /// - Throws: An error whose trouble is `locked` if it is locked.
        func requireUnlocked(_ session: ServiceSession) throws(KeychainError) {
            guard !session.isGNOMEKeyring else { return }
            let request = lockedRequest(try path(session), session)
            let answers = try session.connection.perform([request], call, limit: ServiceSession.answerLimit)
            if try isLocked(answers[0], session) { throw lockedAnswer }
        }

        /// Whether the service is one without dates, `pass_secret_service`: it has no other mark.
        ///
        /// It stores through `gpg` and never looks whether that worked, hangs for good when it is to read more than a
        /// pipe takes, and gives out what is locked.
        func keepsNoDates(_ session: ServiceSession) throws(KeychainError) -> Bool {
            if session.isGNOMEKeyring { return false }
            if let known = session.dateless.withLock({ $0 }) { return known }
            let collection = try path(session)
            let requests = ["Created", "Modified"].map {
                session.property(collection, ServiceName.collection, $0, "The collection could not be looked at")
            }
            let answers = try session.connection.perform(requests, call, limit: ServiceSession.answerLimit)
            let dates = try answers.map { (answer) throws(KeychainError) -> UInt64? in
                do throws(KeychainError) {
                    return try answer.get()[0].unboxed.unsigned
                } catch {
                    // A service that does not know the property, or does not tell when it is locked, is another one. A
                    // collection that is gone is found out by what comes next.
                    guard [.other, .locked, .noObject].contains(error.trouble) else { throw error }
                    return nil
                }
            }
            let isDateless = dates.allSatisfy { $0 == 0 }
            session.dateless.withLock { $0 = isDateless }
            return isDateless
        }

        /// The error of services that say of themselves that they are locked.
        private var lockedAnswer: KeychainError {
            KeychainError(
                .interactionNotAllowed,
                "The keyring is locked. Unlock it and try again.",
                underlying: .init(domain: BusTrouble.lockedDomain, code: 0, message: "the collection is locked")
            )
        }

        /// The error for a collection that is locked again as soon as it was unlocked.
        var stillLocked: KeychainError {
            KeychainError(.interactionNotAllowed, "The keyring is locked. Unlock it and try again.")
        }
    }
#endif
