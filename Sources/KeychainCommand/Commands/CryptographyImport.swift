// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    import KeychainAPI
    import KeychainX509

    extension CommandRun {
        /// Stores the keys and certificates of a file.
        func importCryptography(
            _ input: ImportInput,
            _ format: ItemFile.Format?,
            _ settings: Settings
        ) async throws(KeychainError) -> ExitCode {
            let ifExists = parsed.value(CommandTable.ifExists.name) == nil ? nil : try ifExists
            let bytes = try input.all(limit: 16 << 20)
            let file = try ItemFile(bytes, format: format) { () throws(KeychainError) in
                try filePassphrase(input.path, isNew: false, settings)
            }
            let target = try open(settings, creation: .ifMissing)
            let (label, tag) = (parsed.value("label"), parsed.value(SelectorOptions.tag))
            let bar = progressBar
            defer { bar.clear() }
            try await announcingCreation(of: target) { () async throws(KeychainError) in
                let keychain = target.keychain
                guard target.driver.capabilities.contains(.transactions) else {
                    let call = CallContext(.store, timeout: settings.remaining)
                    return try await CallExecutor.run(call) { () throws(KeychainError) in
                        try store(file, label, tag, ifExists, keychain, call, bar)
                    }
                }
                do {
                    try await keychain.transaction { try store(file, label, tag, ifExists, $0, nil, bar) }
                } catch let error as KeychainError {
                    throw error
                } catch {
                    throw KeychainError(.internal, "Nothing was imported. Please report it.")
                }
            }
            bar.clear()
            if !file.passedOver.isEmpty {
                note("passed over what is neither a key nor a certificate: \(file.passedOver.joined(separator: ", "))")
            }
            let counts = [(file.keys.count, "key"), (file.certificates.count, "certificate")].filter { $0.0 > 0 }
            let words = counts.map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
            let count = file.keys.count + file.certificates.count
            try reportImport(["imported": count], "imported \(words.joined(separator: " and "))")
            return .done
        }

        /// Stores what a file holds.
        ///
        /// - Parameter call: Ends it between two items; nil in a transaction, of which nothing stays if it fails.
        private func store(
            _ file: ItemFile,
            _ label: String?,
            _ tag: String?,
            _ ifExists: IfExists?,
            _ keychain: Keychain,
            _ call: CallContext?,
            _ bar: ProgressBar
        ) throws(KeychainError) {
            let total = file.keys.count + file.certificates.count
            var count = 0 { didSet { bar.show("Storing", count, of: total) } }
            do throws(KeychainError) {
                for part in file.keys {
                    // A cancellation reaches this call, and none of those that it makes.
                    try call?.check()
                    var query = SecItemQuery<SecKey>()
                    query.label = label ?? part.label
                    query.applicationTag = tag.map { Data($0.utf8) }
                    // Under one tag, a key that is there already is this very key.
                    try keychain.store(part.key, query: query, ifExists: ifExists ?? .replaceValue)
                    count += 1
                }
                for part in file.certificates {
                    try call?.check()
                    var query = SecItemQuery<SecCertificate>()
                    query.label = (file.isOwn(part.certificate) ? label : nil) ?? part.label
                    try store(part.certificate, query, ifExists, keychain)
                    count += 1
                }
            } catch {
                if count > 0, call != nil {
                    note("\(count) of the file's items were stored before that; \(total - count) were not")
                }
                throw error
            }
        }

        /// Stores a certificate; one of the same issuer and number is lost by that only if the person says so.
        private func store(
            _ certificate: Certificate,
            _ query: SecItemQuery<SecCertificate>,
            _ ifExists: IfExists?,
            _ keychain: Keychain
        ) throws(KeychainError) {
            do throws(KeychainError) {
                try keychain.store(certificate, query: query, ifExists: ifExists ?? .fail)
            } catch {
                guard error.code == .duplicateItem, ifExists == nil else { throw error }
                let same = try keychain.items(certificate.identity).contains { item in
                    item.value.withBytes { $0.elementsEqual(certificate.derRepresentation) }
                }
                guard !same else { return }
                throw error.explained(
                    "There is another certificate of ‘\(TextEscaping.line(certificate.issuer.description))’ with the same "
                        + "serial number, as self-signed ones often are renewed. To replace it, add --if-exists replace-value."
                )
            }
        }
    }
#endif
