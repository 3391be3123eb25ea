// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    import KeychainAPI
    import KeychainX509

    extension CommandRun {
        /// Writes keys, certificates or an identity to a file.
        func exportCryptography(
            to path: String,
            _ format: ItemFile.Format,
            _ settings: Settings
        ) async throws(KeychainError) -> ExitCode {
            let selector = try Selector(parsed)
            let itemClass = try exportedClass(selector, format)
            let isEncrypted = try passphraseSource != nil
            let store = try open(settings, creation: .never)
            func passphrase() throws(KeychainError) -> SecureBytes {
                try filePassphrase(path, isNew: true, settings)
            }
            let bytes: SecureBytes
            let count: Int
            switch itemClass {
            case .certificate:
                let certificates = try await exported(selector.query(of: SecCertificate.self), store) {
                    (_, value) throws(KeychainError) in try Certificate(derRepresentation: value)
                }
                if certificates.isEmpty { return .notFound }
                count = certificates.count
                bytes =
                    format == .pem
                    ? try Self.bundle(certificates)
                    : SecureBytes(try only(certificates).derRepresentation)
            case .key:
                let keys = try await exported(selector.query(of: SecKey.self), store) {
                    (info, value) throws(KeychainError) in try CryptoKey(info, value)
                }
                if keys.isEmpty { return .notFound }
                count = keys.count
                let secret = isEncrypted && keys.contains(where: \.isPrivate) ? try passphrase() : nil
                bytes =
                    format == .pem
                    ? SecureBytes(joining: try keys.map { (key) throws(KeychainError) in try key.pem(secret) })
                    : try only(keys).der(secret)
            case .identity, .genericPassword, .internetPassword:
                guard let (identity, label, chain) = try await exportedIdentity(selector, store) else {
                    return .notFound
                }
                count = 2 + chain.count
                if format == .pkcs12 {
                    bytes = try PKCS12.export(
                        identity,
                        passphrase: passphrase(),
                        chain: chain,
                        label: label
                    )
                } else {
                    let certificates = try Self.bundle([identity.certificate] + chain)
                    let key = try identity.privateKey.pem(isEncrypted ? passphrase() : nil)
                    bytes = SecureBytes(joining: [certificates, key])
                }
            }
            try bytes.withBytes { (bytes) throws(KeychainError) in
                if path == "-" { try io.write(bytes) } else { try FileOutput.create(path, with: bytes) }
            }
            try reportExport(of: count, to: path)
            return .done
        }

        private func exportedClass(
            _ selector: Selector,
            _ format: ItemFile.Format
        ) throws(KeychainError) -> ItemClass {
            switch (selector.itemClass, format) {
            case (.identity?, .pem), (.identity?, .pkcs12): return .identity
            case (nil, .pkcs12) where selector.reference == nil: return .identity
            case (.certificate?, .pem), (.certificate?, .der): return .certificate
            case (.key?, .pem), (.key?, .der): return .key
            case (nil, _):
                throw KeychainError(
                    .invalidParameter,
                    "Say what is exported: add --class certificate, --class key or --class identity."
                )
            case (_, .pkcs12):
                throw KeychainError(.invalidParameter, "A PKCS#12 file holds an identity: --class identity.")
            default:
                throw KeychainError(
                    .invalidParameter,
                    "Items of this class are not exported in this form: certificates and keys in PEM or DER, identities in "
                        + "PEM or PKCS#12."
                )
            }
        }

        private static func bundle(_ certificates: [Certificate]) throws(KeychainError) -> SecureBytes {
            let texts = try certificates.map { (certificate) throws(KeychainError) in try certificate.pemRepresentation
            }
            return SecureBytes(Data(texts.joined().utf8))
        }

        /// What a query finds that may leave this device.
        private func exported<Item: SecItem, Value>(
            _ query: SecItemQuery<Item>,
            _ store: OpenStore,
            _ value: (SecItemInfo<Item>, SecureBytes) throws(KeychainError) -> Value
        ) async throws(KeychainError) -> [Value] {
            let items = try await store.keychain.items(query)
            let leaving = items.filter { !$0.info.accessPolicy.accessibility.isThisDeviceOnly }
            if leaving.count < items.count { note(Self.leftOut(items.count - leaving.count)) }
            return try leaving.map { (item) throws(KeychainError) in try value(item.info, item.value) }
        }

        private func only<Value>(_ values: [Value]) throws(KeychainError) -> Value {
            guard values.count == 1 else {
                throw KeychainError(
                    .ambiguous,
                    "\(values.count) items match, and DER holds one. Name one by --ref or --label, or choose --format pem."
                )
            }
            return values[0]
        }

        /// The identity that a selector names, with the certificates above it that are in the store.
        private func exportedIdentity(
            _ selector: Selector,
            _ store: OpenStore
        ) async throws(KeychainError) -> (DigitalIdentity, String?, [Certificate])? {
            let query = selector.query(of: SecIdentity.self)
            let infos = try await store.keychain.infoAll(for: query)
            guard infos.count < 2 else {
                throw KeychainError(.ambiguous, "\(infos.count) identities match. Name one by --label or --ref.")
            }
            guard let info = infos.first, let identity: DigitalIdentity = try await store.keychain.retrieve(query)
            else { return nil }
            var keyQuery = SecItemQuery<SecKey>()
            keyQuery.keyClass = .private
            keyQuery.applicationLabel = info.publicKeyHash
            keyQuery.synchronizable = .any
            let keys = try await store.keychain.infoAll(for: keyQuery)
            guard !info.accessPolicy.accessibility.isThisDeviceOnly,
                keys.allSatisfy({ !$0.accessPolicy.accessibility.isThisDeviceOnly })
            else {
                note(Self.leftOut(1))
                return nil
            }
            let chain = CertificateChains(try await store.keychain.certificates()).above(identity.certificate)
            return (identity, info.label, chain)
        }
    }

    extension CryptoKey {
        fileprivate func pem(_ passphrase: SecureBytes?) throws(KeychainError) -> SecureBytes {
            guard isPrivate, let passphrase else { return try pemRepresentation }
            return try encryptedPEMRepresentation(passphrase: passphrase)
        }

        fileprivate func der(_ passphrase: SecureBytes?) throws(KeychainError) -> SecureBytes {
            guard isPrivate, let passphrase else { return try derRepresentation }
            return try encryptedDERRepresentation(passphrase: passphrase)
        }
    }
#endif
