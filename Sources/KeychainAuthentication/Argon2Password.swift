// SPDX-License-Identifier: MIT
#if File
    public import FoundationEssentials
    public import KeychainAPI
    package import KeychainSodium
    import Synchronization

    /// An application password: Argon2id makes a key of it, and XChaCha20-Poly1305 seals each value with that key.
    ///
    /// A key is made once for each salt, about a tenth of a second of work and 64 MiB of memory. Password and keys are kept
    /// in guarded memory as long as the object lives. What an object seals has the salt of what it opened before, so that
    /// reading many items takes one derivation. docs/ApplicationPassword.md has the form of a sealed value.
    ///
    /// A new item is sealed with whatever password is given: whether it is the one of the other items is only seen when
    /// it is read.
    public final class Argon2Password: ApplicationPassword {
        private let source: Source
        private let cost: DerivationCost
        private let keys = Mutex(Keys())
        /// Lets one call at a time ask and derive; the others find its key.
        private let derivation = CallLock()

        private enum Source: Sendable {
            case given(SecureBytes)
            case asked(any PassphrasePrompt)
        }

        private struct Keys {
            /// What sealing takes: the salt of the first key that was made or needed.
            var sealing: Derivation?
            var password: SecureBytes?
            var made: [Derivation: SecureBytes] = [:]
        }

        /// Uses a password.
        ///
        /// - Parameter password: The password, at least one byte; 12 characters or more withstand guessing for long.
        /// - Throws: `invalidParameter` for an empty password.
        public convenience init(_ password: some SecDataConvertible) throws(KeychainError) {
            let bytes = password.secureRepresentation
            try Self.refuseEmpty(bytes)
            self.init(.given(bytes), .interactive)
        }

        /// Asks for the password when it is first needed, and then not again.
        ///
        /// One that was wrong is asked for again by the next call.
        ///
        /// - Parameter prompt: Asks; the location that it is given is the text "items with an application password".
        public convenience init(asking prompt: any PassphrasePrompt) {
            self.init(.asked(prompt), .interactive)
        }

        package convenience init(_ password: SecureBytes, cost: DerivationCost) {
            self.init(.given(password), cost)
        }

        private init(_ source: Source, _ cost: DerivationCost) {
            self.source = source
            self.cost = cost
        }

        /// Makes the key that sealing takes, about a tenth of a second of work the first time.
        public func prepare(_ call: CallContext) throws(KeychainError) {
            _ = try sealingKey(call)
        }

        /// Seals a value for one item.
        public func seal(_ value: SecureBytes, for item: UUID, _ call: CallContext) throws(KeychainError) -> SecureBytes
        {
            let (derivation, key) = try sealingKey(call)
            return SealedValue.seal(value, for: item, derivation, key)
        }

        /// Opens a value that was sealed for the item.
        public func open(_ sealed: SecureBytes, for item: UUID, _ call: CallContext) throws(KeychainError)
            -> SecureBytes
        {
            let sealed = try SealedValue(sealed)
            let key = try key(for: sealed.derivation, call)
            do throws(KeychainError) {
                let value = try sealed.opened(for: item, key)
                keys.withLock {
                    if $0.sealing == nil, sealed.derivation.cost == cost { $0.sealing = sealed.derivation }
                }
                return value
            } catch {
                // Who mistyped is asked again.
                if case .asked = source { keys.withLock { $0 = Keys() } }
                throw error
            }
        }

        private func sealingKey(_ call: CallContext) throws(KeychainError) -> (Derivation, SecureBytes) {
            let derivation = keys.withLock { keys in
                let derivation = keys.sealing ?? Derivation(cost: cost, salt: Sodium.random(Sodium.saltSize))
                keys.sealing = derivation
                return derivation
            }
            return (derivation, try key(for: derivation, call))
        }

        private func key(for wanted: Derivation, _ call: CallContext) throws(KeychainError) -> SecureBytes {
            if let key = keys.withLock({ $0.made[wanted] }) { return key }
            try Sodium.prepare()
            return try derivation.withLock(call) { () throws(KeychainError) in
                if let key = keys.withLock({ $0.made[wanted] }) { return key }
                let password = try password(call)
                try call.check()
                let key = try Sodium.derive(passphrase: password, salt: wanted.salt, cost: wanted.cost)
                keys.withLock { keys in
                    // A store with a salt for each item must not fill the memory that can be locked.
                    if keys.made.count >= Self.keyLimit { keys.made = keys.made.filter { $0.key == keys.sealing } }
                    keys.made[wanted] = key
                }
                try call.check()
                return key
            }
        }

        private static let keyLimit = 64

        private func password(_ call: CallContext) throws(KeychainError) -> SecureBytes {
            switch source {
            case .given(let password): return password
            case .asked(let prompt):
                if let password = keys.withLock({ $0.password }) { return password }
                guard call.interaction.allowsPrompts else {
                    throw KeychainError(
                        .interactionNotAllowed,
                        "The item's application password has to be asked for. Allow interaction, or give the password."
                    )
                }
                let password = try prompt.passphrase(for: Self.promptedLocation, isNew: false)
                try Self.refuseEmpty(password)
                keys.withLock { $0.password = password }
                return password
            }
        }

        private static let promptedLocation = "items with an application password"

        private static func refuseEmpty(_ password: SecureBytes) throws(KeychainError) {
            guard !password.isEmpty else {
                throw KeychainError(.invalidParameter, "An application password is not empty. Give one.")
            }
        }
    }
#endif
