// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem

    /// Finds the passphrase or key of a file, and wraps master keys with new ones.
    struct KeyFinder: Sendable {
        let place: FilePlace
        let options: StoreOptions
        let environment: [String: String]
        /// What deriving a key from a new passphrase costs.
        let cost: DerivationCost

        /// A master key, and how it was found.
        struct Found: Sendable {
            let master: SecureBytes
            /// The number of the slot that had it.
            let slot: Int
            /// What opened the slot.
            let source: KeySource
        }

        /// The master key of a file.
        ///
        /// - Throws: `authenticationFailed`, `interactionNotAllowed`, and why the source cannot be read.
        func masterKey(of header: FileHeader, _ call: CallContext) throws(KeychainError) -> Found {
            if let source = try namedSource() { return try masterKey(of: header, source, call) }
            var obstacle: KeychainError?
            for (_, slot) in try header.keySlots() {
                guard let source = try? KeySource(parsing: slot.hint), isWithinReach(source) else { continue }
                do throws(KeychainError) {
                    return try masterKey(of: header, source, call)
                } catch {
                    obstacle = obstacle ?? error
                }
            }
            if let obstacle, options.prompt == nil || !call.interaction.allowsPrompts { throw obstacle }
            guard try header.keySlots().contains(where: { $0.slot.kind == .passphrase }) else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The keychain file ‘\(place.path)’ is unlocked with a key, and none was given. Set KEYCHAIN_KEY (or "
                        + "--key) to keyfile:PATH, or to store:URL for a key that another store keeps."
                )
            }
            guard options.prompt != nil else { throw unnamed }
            return try masterKey(of: header, .prompt, call)
        }

        /// The slots that a source opens, none if it is not one of the file's.
        ///
        /// - Throws: Why the source cannot be read.
        func slots(
            of header: FileHeader,
            openedBy source: KeySource,
            _ call: CallContext
        ) throws(KeychainError) -> Set<Int> {
            if case .store(let url) = source {
                let stored = try StoredKey(url, self, call)
                return try header.slots { (slot) throws(KeychainError) in
                    try stored.masterKey(of: slot, storeID: header.storeID) != nil
                }
            }
            let material = try material(source, isNew: false, call)
            return try header.slots { (slot) throws(KeychainError) in
                try slot.masterKey(material, storeID: header.storeID) != nil
            }
        }

        /// Makes a slot for a master key.
        ///
        /// - Parameters:
        ///   - source: Where the new passphrase or key comes from, nil for the one that the options name.
        ///   - master: The master key.
        ///   - storeID: The store that the slot is bound to.
        ///   - call: Deadline, cancellation and interaction policy.
        /// - Throws: Why the source cannot be read, or the other store cannot keep a key.
        func slot(
            _ source: KeySource? = nil,
            for master: SecureBytes,
            storeID: [UInt8],
            _ call: CallContext
        ) throws(KeychainError) -> KeySlot {
            let source = if let source { source } else { try chosenSource() }
            let salt = Sodium.random(Sodium.saltSize)
            if case .store(let url) = source {
                let key = Sodium.randomKey()
                let stored = try StoredKey(url, self, call)
                try stored.put(key, storeID: storeID, salt: salt)
                return try KeySlot(
                    master: master,
                    material: .key(key),
                    storeID: storeID,
                    cost: cost,
                    salt: salt,
                    hint: source.text ?? ""
                )
            }
            let hint: String = if case .credential = source { source.text ?? "" } else { "" }
            let material = try material(source, isNew: true, call)
            if let weakness = material.weakness { options.weaknessNotice?(weakness) }
            return try KeySlot(
                master: master,
                material: material,
                storeID: storeID,
                cost: cost,
                salt: salt,
                hint: hint
            )
        }

        /// The passphrase or key for a new file, read as far as that can be done without making anything.
        func settledSource(_ call: CallContext) throws(KeychainError) -> KeySource {
            try settled(chosenSource(), call)
        }

        /// A source of a new passphrase or key, read as far as that can be done without making anything.
        func settled(_ source: KeySource, _ call: CallContext) throws(KeychainError) -> KeySource {
            if case .store = source { return source }
            let material = try material(source, isNew: true, call)
            if case .credential = source { return source }
            return .material(material)
        }

        private func masterKey(
            of header: FileHeader,
            _ source: KeySource,
            _ call: CallContext
        ) throws(KeychainError) -> Found {
            guard case .store(let url) = source else {
                let (slot, master) = try header.masterKey(material(source, isNew: false, call))
                return Found(master: master, slot: slot, source: source)
            }
            let stored = try StoredKey(url, self, call)
            for (number, slot) in try header.keySlots() {
                if let master = try stored.masterKey(of: slot, storeID: header.storeID) {
                    return Found(master: master, slot: number, source: source)
                }
            }
            throw KeychainError(
                .authenticationFailed,
                "The store \(url) has no key for the keychain file ‘\(place.path)’. Unlock it with another one, and add "
                    + "this one with: keychainctl key add store:\(url)"
            )
        }

        private func material(
            _ source: KeySource,
            isNew: Bool,
            _ call: CallContext
        ) throws(KeychainError) -> KeyMaterial {
            guard source != .prompt || call.interaction.allowsPrompts else {
                throw KeychainError(
                    .interactionNotAllowed,
                    "The keychain file ‘\(place.path)’ needs its passphrase, and nothing may be asked. Set KEYCHAIN_KEY "
                        + "(or --key), for example to env:NAME, or allow the prompt."
                )
            }
            return try source.material(
                prompt: options.prompt,
                location: place.location,
                isNew: isNew,
                permissions: options.permissions,
                environment: environment,
                call: call
            )
        }

        private func isWithinReach(_ source: KeySource) -> Bool {
            switch source {
            case .credential: environment["CREDENTIALS_DIRECTORY"] != nil
            case .store: options.registry != nil
            default: false
            }
        }

        private func chosenSource() throws(KeychainError) -> KeySource {
            if let source = try namedSource() { return source }
            guard options.prompt != nil else { throw unnamed }
            return .prompt
        }

        private func namedSource() throws(KeychainError) -> KeySource? {
            if let given = options.keySource { return given }
            guard let text = try environment.variable("KEYCHAIN_KEY"), !text.isEmpty else { return nil }
            return try KeySource(parsing: text)
        }

        private var unnamed: KeychainError {
            KeychainError(
                .interactionNotAllowed,
                "The keychain file ‘\(place.path)’ needs its passphrase or key. Set KEYCHAIN_KEY (or --key), for "
                    + "example to env:NAME, file:PATH or keyfile:PATH."
            )
        }
    }

    /// The keys of keychain files that another store keeps.
    private struct StoredKey {
        private let keychain: Keychain
        private let label: String

        init(_ url: StoreURL, _ finder: KeyFinder, _ call: CallContext) throws(KeychainError) {
            guard let registry = finder.options.registry else {
                throw KeychainError(
                    .unsupported,
                    "The key is in another store, \(url), and no registry was given to open it. Open the file with "
                        + "DriverRegistry.open, or set StoreOptions.registry."
                )
            }
            let options = StoreOptions(
                prompt: finder.options.prompt,
                permissions: finder.options.permissions,
                timeout: call.remaining,
                detectsRollback: finder.options.detectsRollback,
                registry: Self.withoutFiles(registry)
            )
            let driver = try registry.open(url, options: options)
            guard driver.location != finder.place.location else {
                throw KeychainError(.invalidParameter, "A keychain file cannot keep the key that unlocks it.")
            }
            keychain = Keychain(driver: driver, timeout: call.remaining, interaction: call.interaction)
            label = "Key of the keychain file \(finder.place.name)"
        }

        /// The drivers for a file that keeps the key of another one: no third file, so that files whose heads name each
        /// other do not lead in a circle.
        private static func withoutFiles(_ registry: DriverRegistry) -> DriverRegistry {
            var registry = registry
            let refusal = KeychainError(
                .unsupported,
                "The key of a keychain file may be in another keychain file, but not the key of that one in a third."
            )
            registry.register(
                DriverRegistration(
                    identifier: .file,
                    summary: "",
                    priority: nil,
                    probe: { _ in .unavailable(refusal.message) },
                    open: { (_, _) throws(KeychainError) in throw refusal }
                )
            )
            return registry
        }

        /// Stores a key, and makes sure that it is there: the file will depend on it.
        func put(_ key: SecureBytes, storeID: [UInt8], salt: [UInt8]) throws(KeychainError) {
            guard keychain.capabilities.contains(.persistent) else {
                throw KeychainError(
                    .invalidParameter,
                    "What \(keychain.location) keeps is gone when the program ends, and the keychain file with it. Name a "
                        + "store that lasts, for example store:secret-service:."
                )
            }
            var query = query(storeID, salt)
            query.label = label
            try keychain.store(key, query: query, ifExists: .fail)
            guard try self.key(storeID: storeID, salt: salt) == key else {
                throw KeychainError(.io, "The store \(keychain.location) did not keep the key. Nothing was changed.")
            }
        }

        /// The master key, nil if the store has no key that opens a slot.
        func masterKey(of slot: KeySlot, storeID: [UInt8]) throws(KeychainError) -> SecureBytes? {
            guard slot.kind == .key, let key = try key(storeID: storeID, salt: slot.salt) else { return nil }
            return try slot.masterKey(.key(key), storeID: storeID)
        }

        /// A key, nil if it is not there.
        private func key(storeID: [UInt8], salt: [UInt8]) throws(KeychainError) -> SecureBytes? {
            try keychain.retrieve(query(storeID, salt))
        }

        private func query(_ storeID: [UInt8], _ salt: [UInt8]) -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>()
            query.service = "swift-keychain file key"
            query.account = "\(storeID.hexadecimal)-\(salt.hexadecimal)"
            return query
        }
    }

    extension Sequence where Element == UInt8 {
        /// The bytes as hexadecimal digits.
        var hexadecimal: String {
            reduce(into: "") { $0 += String($1 >> 4, radix: 16) + String($1 & 15, radix: 16) }
        }
    }
#endif
